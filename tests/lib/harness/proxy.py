"""Between a client and a server on Unix sockets: answers vanish after the server has acted."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path


class SwallowingProxy:
    """`swallow(n)`: the next n answers are lost and their connections closed. `cut`: nobody gets
    through at all."""

    def __init__(self, path: Path, server: Path) -> None:
        self.path = path
        self.server = server
        self.swallowed = 0
        self.cut = False
        self.left = 0
        self.lock = threading.Lock()
        self.open: set[socket.socket] = set()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(200)

    def __enter__(self) -> SwallowingProxy:
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()
        for sock in list(self.open):
            self.shut(sock)
        self.path.unlink(missing_ok=True)

    def swallow(self, count: int) -> None:
        with self.lock:
            self.left += count

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(str(self.server))
            except OSError:
                client.close()
                continue
            self.open |= {client, server}
            for pair in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def is_lost(self) -> bool:
        with self.lock:
            if self.left == 0:
                return False
            self.left -= 1
            self.swallowed += 1
            return True

    def carry(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self.cut or (answers and self.is_lost()):
                    break
                target.sendall(data)
        self.shut(source)
        self.shut(target)

    def shut(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
        self.open.discard(sock)
