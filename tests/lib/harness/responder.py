"""A FastCGI responder of the tests' own: shows what a web server hands on, and streams slowly.

python3 responder.py SOCKET        answers with JSON: the parameters and the length of the body
?stream=N&gap=S                    N server-sent events, S seconds apart; says when the peer left
?stream=N&by=NAME                  each after the first when there is a file SOCKET.NAME.number
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness.fcgi import BEGIN, END, HEADER, PARAMS, STDIN, STDOUT, record, stream  # noqa: E402


def exactly(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = sock.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def unpack(data: bytes) -> dict[str, str]:
    params, at = {}, 0
    while at < len(data):
        sizes = []
        for _ in range(2):
            wide = data[at] & 0x80
            sizes.append(struct.unpack_from(">I", data, at)[0] & 0x7FFFFFFF if wide else data[at])
            at += 4 if wide else 1
        name = data[at : at + sizes[0]].decode("latin-1")
        params[name] = data[at + sizes[0] : at + sum(sizes)].decode("latin-1")
        at += sum(sizes)
    return params


def read_request(sock: socket.socket) -> tuple[dict[str, str], bytes, int]:
    params, body, flags = b"", b"", 0
    while True:
        _, kind, _, length, padding = HEADER.unpack(exactly(sock, 8))
        content = exactly(sock, length + padding)[:length]
        if kind == BEGIN:
            flags = content[2]
        elif kind == PARAMS:
            params += content
        elif kind == STDIN:
            body += content
            if not content:
                return unpack(params), body, flags


def gone(sock: socket.socket, seconds: float) -> bool:
    ready, _, _ = select.select([sock], [], [], seconds)
    return bool(ready)


def pause(sock: socket.socket, query: dict[str, list[str]], number: int) -> bool:
    """What lies between this event and the next; false when the peer left."""
    if "by" not in query:
        gap = float(query.get("gap", ["0"])[0])
        return not (gap and gone(sock, gap))
    while not Path(f"{sys.argv[1]}.{query['by'][0]}.{number + 1}").exists():
        if gone(sock, 0.02):
            return False
    return True


def serve(sock: socket.socket) -> None:
    with sock:
        params, body, flags = read_request(sock)
        query = parse_qs(params.get("QUERY_STRING", ""))
        if "stream" not in query:
            text = json.dumps({"params": params, "body": len(body), "keep": flags & 1}).encode()
            head = b"Status: 200 OK\r\nContent-Type: application/json\r\n\r\n"
            sock.sendall(stream(STDOUT, head + text) + record(STDOUT) + record(END, bytes(8)))
            return
        head = b"Status: 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        sock.sendall(record(STDOUT, head))
        for number in range(int(query["stream"][0])):
            try:
                sock.sendall(record(STDOUT, b"data: %d\n\n" % number))
            except OSError:
                print(f"left after {number}", flush=True)
                return
            if not pause(sock, query, number):
                print(f"left after {number}", flush=True)
                return
        sock.sendall(record(STDOUT) + record(END, bytes(8)))


def guarded(sock: socket.socket) -> None:
    try:
        serve(sock)
    except (EOFError, OSError):
        return


def main() -> None:
    path = sys.argv[1]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o666)
    listener.listen(64)
    print("responder: ready", time.time(), flush=True)
    while True:
        threading.Thread(target=guarded, args=(listener.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    main()
