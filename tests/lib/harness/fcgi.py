"""FastCGI records, both ways: a client that plays web servers, and a responder to try them with.

The client can do what web servers do to a worker: CONTENT_LENGTH absent, empty or -1, a body in
pieces, an abort record, a half close, a close, a reader that does not read.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable

from harness.answer import Answer

BEGIN, ABORT, END, PARAMS, STDIN, STDOUT, STDERR = 1, 2, 3, 4, 5, 6, 7
HEADER = struct.Struct(">BBHHBx")


def record(kind: int, content: bytes = b"", request: int = 1) -> bytes:
    return HEADER.pack(1, kind, request, len(content), 0) + content


def stream(kind: int, data: bytes) -> bytes:
    pieces = [record(kind, data[at : at + 65535]) for at in range(0, len(data), 65535)]
    return b"".join(pieces)


def pairs(params: dict[str, str]) -> bytes:
    def length(number: int) -> bytes:
        return bytes([number]) if number < 128 else struct.pack(">I", number | 0x80000000)

    out = b""
    for name, value in params.items():
        key, text = name.encode("latin-1"), value.encode("latin-1")
        out += length(len(key)) + length(len(text)) + key + text
    return out


def connect(address: str, receive_buffer: int | None = None) -> socket.socket:
    """address: unix:/path or tcp:host:port, as listen.address writes it."""
    kind, _, where = address.partition(":")
    if kind == "unix":
        sock = socket.socket(socket.AF_UNIX)
        target: str | tuple[str, int] = where
    else:
        host, _, port = where.rpartition(":")
        sock = socket.socket(socket.AF_INET)
        target = (host, int(port))
    if receive_buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    sock.settimeout(60)
    sock.connect(target)
    return sock


class Exchange:
    """One FastCGI request under way."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.raw = b""
        self.stdout = b""
        self.stderr = b""
        self.arrivals: list[float] = []
        self.ended = False
        self.closed = False

    def send_begin(self, params: dict[str, str]) -> None:
        begin = record(BEGIN, struct.pack(">HB5x", 1, 0))
        self.sock.sendall(begin + stream(PARAMS, pairs(params)) + record(PARAMS))

    def send_body(self, pieces: Iterable[bytes], end: bool = True) -> None:
        for piece in pieces:
            self.sock.sendall(stream(STDIN, piece))
        if end:
            self.sock.sendall(record(STDIN))

    def abort(self) -> None:
        self.sock.sendall(record(ABORT))

    def half_close(self) -> None:
        self.sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.sock.close()

    def read_once(self) -> bool:
        """Reads what is there (blocking for the first byte); False at the end of the connection."""
        try:
            data = self.sock.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            self.closed = True
            return False
        self.raw += data
        while len(self.raw) >= 8:
            _, kind, _, length, padding = HEADER.unpack_from(self.raw)
            if len(self.raw) < 8 + length + padding:
                break
            content = self.raw[8 : 8 + length]
            self.raw = self.raw[8 + length + padding :]
            if kind == STDOUT and content:
                self.stdout += content
                self.arrivals.append(time.monotonic())
            elif kind == STDERR:
                self.stderr += content
            elif kind == END:
                self.ended = True
        return True

    def read_until(self, needle: bytes) -> None:
        while needle not in self.stdout:
            assert not self.ended and self.read_once(), f"no {needle!r} in {self.stdout[-500:]!r}"

    def finish(self) -> Answer:
        """Reads to the end of the request, closes, and returns the answer so far."""
        while not self.ended and self.read_once():
            pass
        self.close()
        return self.answer()

    def answer(self) -> Answer:
        head, _, body = self.stdout.partition(b"\r\n\r\n")
        headers = []
        status = 200 if head else 0  # 0: nothing came before the connection ended
        for line in head.decode("latin-1").split("\r\n"):
            name, _, value = line.partition(":")
            if name.lower() == "status":
                status = int(value.split()[0])
            elif name:
                headers.append((name, value.strip()))
        return Answer(status, headers, body, self.arrivals, self.ended)


class FcgiClient:
    """Plays one of the web servers; `style` decides where the path and the length stand."""

    def __init__(self, address: str, style: str = "apache") -> None:
        self.address = address
        self.style = style

    def params(
        self, method: str, uri: str, headers: list[tuple[str, str]], remote: str, length: str | None
    ) -> dict[str, str]:
        path, _, query = uri.partition("?")
        params = {
            "GATEWAY_INTERFACE": "CGI/1.1",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "SERVER_SOFTWARE": "tests",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "REQUEST_METHOD": method,
            "REQUEST_URI": uri,
            "QUERY_STRING": query,
            "REMOTE_ADDR": remote,
            "REMOTE_PORT": "40000",
        }
        params["PATH_INFO" if self.style == "caddy" else "SCRIPT_NAME"] = path
        if length is not None:
            params["CONTENT_LENGTH"] = length
        for name, value in headers:
            key = name.upper().replace("-", "_")
            key = key if key == "CONTENT_TYPE" else "HTTP_" + key
            params[key] = f"{params[key]}, {value}" if key in params else value
        return params

    def open(
        self,
        method: str,
        uri: str,
        headers: list[tuple[str, str]] | None = None,
        body: bytes | Iterable[bytes] = b"",
        *,
        length: str | None = "auto",
        remote: str = "127.0.0.1",
        end_body: bool = True,
        receive_buffer: int | None = None,
    ) -> Exchange:
        pieces = [body] if isinstance(body, bytes) else list(body)
        if length == "auto":
            length = str(sum(len(piece) for piece in pieces))
        exchange = Exchange(connect(self.address, receive_buffer))
        exchange.send_begin(self.params(method, uri, headers or [], remote, length))
        try:
            exchange.send_body([piece for piece in pieces if piece], end_body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the worker refused by the headers alone; its answer is still to be read
        return exchange

    def request(self, method: str, uri: str, headers=None, body=b"", **options) -> Answer:
        return self.open(method, uri, headers, body, **options).finish()
