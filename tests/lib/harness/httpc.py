"""A plain HTTP client for requests through a web server, with the same answers as fcgi.py."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterable

from harness.answer import Answer


class HttpExchange:
    """One HTTP request under way."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.connection = connection
        self.response = connection.getresponse()
        self.body = b""
        self.arrivals: list[float] = []
        self.complete = False

    def read_once(self) -> bool:
        try:
            data = self.response.read1(1 << 16)
        except (http.client.IncompleteRead, ConnectionResetError):
            return False
        if not data:
            # A chunked body that was cut off reads like its end; only its last chunk tells.
            left = getattr(self.response, "chunk_left", None)
            self.complete = self.response.isclosed() or left in (None, 0)
            return False
        self.body += data
        self.arrivals.append(time.monotonic())
        return True

    def read_until(self, needle: bytes) -> None:
        while needle not in self.body:
            assert self.read_once(), f"no {needle!r} in {self.body[-500:]!r}"

    def close(self) -> None:
        self.response.close()
        self.connection.close()

    def finish(self) -> Answer:
        while self.read_once():
            pass
        self.close()
        return self.answer()

    def answer(self) -> Answer:
        headers = list(self.response.getheaders())
        return Answer(self.response.status, headers, self.body, self.arrivals, self.complete)


class HttpClient:
    def __init__(self, port: int) -> None:
        self.port = port

    def open(
        self,
        method: str,
        uri: str,
        headers: list[tuple[str, str]] | None = None,
        body: bytes | Iterable[bytes] = b"",
        *,
        length: str | None = "auto",
    ) -> HttpExchange:
        """length None sends the body chunked."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, uri, skip_accept_encoding=True)
        for name, value in headers or []:
            connection.putheader(name, value)
        pieces = [body] if isinstance(body, bytes) else list(body)
        chunked = length is None
        if chunked:
            connection.putheader("Transfer-Encoding", "chunked")
        elif method != "GET" or any(pieces):
            connection.putheader("Content-Length", str(sum(len(piece) for piece in pieces)))
        connection.endheaders()
        try:
            for piece in pieces:
                if piece:
                    connection.send(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            if chunked:
                connection.send(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before the whole body was sent; the answer is still to be read
        return HttpExchange(connection)

    def connect(self, method: str, uri: str, headers: list[tuple[str, str]]) -> socket.socket:
        """Sends the head of a request as it is given, and returns the socket."""
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        fields = [("Host", f"127.0.0.1:{self.port}"), *headers]
        lines = [f"{method} {uri} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
        sock.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
        return sock

    def raw(
        self, method: str, uri: str, headers: list[tuple[str, str]], body: bytes
    ) -> socket.socket:
        """Sends a request and returns its socket, for clients that do not wait for the answer."""
        sock = self.connect(method, uri, [("Content-Length", str(len(body))), *headers])
        sock.sendall(body)
        return sock

    def request(self, method: str, uri: str, headers=None, body=b"", **options) -> Answer:
        return self.open(method, uri, headers, body, **options).finish()
