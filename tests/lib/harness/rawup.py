"""An upstream that answers with bytes, whatever they are: for peers that break HTTP or TLS.

A script is a function of one connection: it has read the request's head and body and may send,
wait, close or reset. `RawUpstream` keeps count of what came, and ends with the test.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

STOP = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
)
DONE = b"data: [DONE]\n\n"
SSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def delta(text: str) -> bytes:
    value = {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
    }  # fmt: skip
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def usage(prompt: object, completion: object) -> bytes:
    value = {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 0},
    }  # fmt: skip
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def completion(text: str = "fine", **more: object) -> bytes:
    value = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text},
             "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
        **more,
    }  # fmt: skip
    return json.dumps(value).encode()


def answer(body: bytes, headers: bytes = b"", status: bytes = b"200 OK") -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    head = b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\n" + length
    return head + headers + b"\r\n" + body


class Connection:
    def __init__(self, sock: socket.socket, upstream: RawUpstream) -> None:
        self.sock = sock
        self.upstream = upstream
        self.buffer = b""

    def read_request(self) -> bytes | None:
        """The next request's body; None when the peer has closed."""
        while b"\r\n\r\n" not in self.buffer:
            piece = self.sock.recv(65536)
            if not piece:
                return None
            self.buffer += piece
        head, _, rest = self.buffer.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        while len(rest) < length:
            piece = self.sock.recv(65536)
            if not piece:
                return None
            rest += piece
        self.buffer = rest[length:]
        self.upstream.heads.append(head)
        return rest[:length]

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def wait(self, seconds: float) -> None:
        """Until the peer has gone, the test is over, or this long."""
        self.sock.settimeout(seconds)
        try:
            self.sock.recv(1)
        except (TimeoutError, OSError):
            pass
        self.sock.settimeout(30)

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


Script = Callable[[Connection], None]


class RawUpstream:
    """`script` runs for every request; `on_accept` instead of reading one, when given."""

    def __init__(
        self,
        script: Script | None = None,
        on_accept: Script | None = None,
        tls: ssl.SSLContext | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        self.script, self.on_accept, self.tls = script, on_accept, tls
        self.heads: list[bytes] = []
        self.accepted = 0
        self.listener = socket.create_server((address, 0))
        self.port = self.listener.getsockname()[1]
        self.open: list[socket.socket] = []
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    @property
    def base_url(self) -> str:
        scheme = "https" if self.tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}/v1"

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            self.open.append(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            sock.settimeout(30)
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
                self.open.append(sock)
            connection = Connection(sock, self)
            if self.on_accept:
                self.on_accept(connection)
                return
            while self.script and connection.read_request() is not None:
                self.script(connection)
                if sock.fileno() < 0:
                    return
        except OSError:
            pass
        finally:
            sock.close()

    def hang_up(self) -> None:
        """Closes what is open; a thread that reads from it comes to know."""
        for sock in self.open:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def close(self) -> None:
        self.listener.close()
        for sock in self.open:
            try:
                sock.close()
            except OSError:
                pass

    def __enter__(self) -> RawUpstream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Authority:
    """A certificate authority in a hashed folder, as upstream.ca_path wants it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(exist_ok=True)
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=tests",
            "-keyout", "ca.key", "-out", "ca.pem",
        )  # fmt: skip
        self.folder = directory / "trusted"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "ca.pem").write_bytes((directory / "ca.pem").read_bytes())
        self._openssl("rehash", str(self.folder))

    def _openssl(self, *argv: str) -> None:
        subprocess.run(
            ["openssl", *argv], cwd=self.directory, check=True, capture_output=True, timeout=60
        )

    def server(self, name: str = "good", san: str = "IP:127.0.0.1", days: str = "2",
               signed: bool = True) -> ssl.SSLContext:  # fmt: skip
        """A server's context; days "-1" makes a certificate that has expired."""
        key, cert = f"{name}.key", f"{name}.pem"
        subject = ["-subj", f"/CN={name}", "-keyout", key, "-nodes", "-newkey", "rsa:2048"]
        (self.directory / f"{name}.ext").write_text(f"subjectAltName={san}\n")
        if signed:
            self._openssl("req", "-new", *subject, "-out", f"{name}.csr")
            self._openssl(
                "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", days, "-extfile", f"{name}.ext", "-out", cert,
            )  # fmt: skip
        else:
            self._openssl("req", "-x509", *subject, "-days", days, "-addext",
                          f"subjectAltName={san}", "-out", cert)  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.directory / cert, self.directory / key)
        return context
