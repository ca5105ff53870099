"""HTTP/1.1 on asyncio, small and strict: one Connection per accepted socket.

A connection notices at once when its peer closes or half-closes, also while an answer is being
written: that moment is what the tests of cancellation ask for.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

HEAD_LIMIT = 256 * 1024
BODY_LIMIT = 512 * 1024 * 1024


class PeerGone(Exception):
    """The peer closed while something was still to be read from it or written to it."""


class BadRequest(Exception):
    """The bytes are no well-formed HTTP/1.1 request; the text says why."""


@dataclass
class Request:
    method: str
    target: str
    version: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    chunked: bool = False
    arrived_at: float = field(default_factory=time.monotonic)

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)

    def header(self, name: str) -> str | None:
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    def header_count(self, name: str) -> int:
        return sum(1 for key, _ in self.headers if key.lower() == name.lower())


class Connection(asyncio.Protocol):
    """One accepted socket. `serve` is the coroutine that owns it until it is closed."""

    def __init__(self, serve) -> None:
        self._serve = serve
        self._buffer = bytearray()
        self._data = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self.gone = asyncio.Event()
        self.gone_at: float | None = None
        self.transport: asyncio.Transport | None = None
        self.peer = ""
        self.number = 0

    # --- asyncio.Protocol -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=64 * 1024)
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.peer = "%s:%s" % transport.get_extra_info("peername")[:2]
        self.task = asyncio.get_running_loop().create_task(self._serve(self))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._data.set()

    def eof_received(self) -> bool:
        self._mark_gone()
        return True  # keep the sending side: a half-closed peer may still be answered

    def connection_lost(self, exc: Exception | None) -> None:
        self._mark_gone()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _mark_gone(self) -> None:
        if self.gone_at is None:
            self.gone_at = time.monotonic()
        self.gone.set()
        self._data.set()

    # --- reading ----------------------------------------------------------------------------

    async def _more(self) -> None:
        if self.gone.is_set():
            raise PeerGone()
        self._data.clear()
        await self._data.wait()

    async def _line(self) -> bytes:
        while b"\r\n" not in self._buffer:
            if len(self._buffer) > HEAD_LIMIT:
                raise BadRequest("a line without end")
            await self._more()
        end = self._buffer.index(b"\r\n")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line

    async def _exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            await self._more()
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    async def read_request(self) -> Request | None:
        """The next request, or None when the peer closed between two requests."""
        while b"\r\n\r\n" not in self._buffer:
            if len(self._buffer) > HEAD_LIMIT:
                raise BadRequest("request head too large")
            try:
                await self._more()
            except PeerGone:
                if self._buffer:
                    raise BadRequest("the peer closed inside the request head") from None
                return None
        request = self._parse_head()
        await self._read_body(request)
        return request

    def _parse_head(self) -> Request:
        end = self._buffer.index(b"\r\n\r\n")
        head = bytes(self._buffer[:end]).decode("latin-1")
        del self._buffer[: end + 4]
        first, *lines = head.split("\r\n")
        parts = first.split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            # Bytes left over from a body longer than its Content-Length end up here.
            raise BadRequest(f"no request line: {first[:60]!r}")
        headers = []
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise BadRequest(f"no header line: {line[:60]!r}")
            headers.append((name, value.strip()))
        return Request(parts[0], parts[1], parts[2], headers)

    async def _read_body(self, request: Request) -> None:
        coding = request.header("transfer-encoding")
        length = request.header("content-length")
        if request.header_count("content-length") > 1:
            raise BadRequest("more than one Content-Length")
        if coding and length is not None:
            raise BadRequest("Content-Length and Transfer-Encoding together")
        if (request.header("expect") or "").lower() == "100-continue":
            await self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            if coding:
                if coding.lower() != "chunked":
                    raise BadRequest(f"Transfer-Encoding {coding}")
                request.chunked = True
                request.body = await self._read_chunks()
            elif length is not None:
                if not length.isdigit() or int(length) > BODY_LIMIT:
                    raise BadRequest(f"Content-Length {length}")
                request.body = await self._exactly(int(length))
        except PeerGone:
            raise BadRequest(f"body shorter than its Content-Length of {length}") from None

    async def _read_chunks(self) -> bytes:
        body = bytearray()
        while True:
            size_text = (await self._line()).split(b";")[0]
            try:
                size = int(size_text, 16)
            except ValueError:
                raise BadRequest(f"chunk size {size_text[:20]!r}") from None
            if size == 0:
                while await self._line():
                    pass
                return bytes(body)
            body += await self._exactly(size)
            if await self._line():
                raise BadRequest("a chunk longer than its size")

    # --- writing ----------------------------------------------------------------------------

    async def write(self, data: bytes) -> None:
        """Queues data and waits while the peer does not read. Raises PeerGone."""
        assert self.transport is not None
        if self.gone.is_set() or self.transport.is_closing():
            raise PeerGone()
        self.transport.write(data)
        await self._writable.wait()
        if self.gone.is_set():
            raise PeerGone()

    async def pause(self, seconds: float) -> None:
        """Waits, but not longer than the peer stays. Raises PeerGone."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        try:
            await asyncio.wait_for(self.gone.wait(), seconds)
        except asyncio.TimeoutError:
            return
        raise PeerGone()

    async def until(self, signal: asyncio.Semaphore) -> None:
        """Waits for one release, but not longer than the peer stays. Raises PeerGone."""
        waits = [asyncio.ensure_future(signal.acquire()), asyncio.ensure_future(self.gone.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if self.gone.is_set():
            raise PeerGone()

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()

    def reset(self) -> None:
        """Ends the connection with a TCP reset instead of an orderly close."""
        assert self.transport is not None
        sock = self.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required",
    403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
    411: "Length Required", 413: "Content Too Large", 415: "Unsupported Media Type",
    422: "Unprocessable Content", 429: "Too Many Requests", 500: "Internal Server Error",
    502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    529: "Overloaded",
}  # fmt: skip


def head(status: int, headers: list[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
