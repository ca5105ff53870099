"""The way of an answer's bytes to the socket: framing, compression, cutting into single bytes."""

from __future__ import annotations

import zlib

from wire import Connection, chunk, head


class Sink:
    """One answer on a connection: `start` the head, `send` pieces, `finish` the body."""

    def __init__(self, connection: Connection, seen) -> None:
        self.connection = connection
        self.seen = seen
        self.chunked = False
        self.split = False
        self.split_after: bytes | None = None
        self._gzip = None

    async def start(
        self,
        status: int,
        content_type: str,
        headers: list[tuple[str, str]] | None = None,
        length: int | None = None,
        compress: bool = False,
    ) -> None:
        """Without a length the body is chunked and its pieces are sent as they come."""
        fields = [("Content-Type", content_type)]
        for name in ("x-request-id", "request-id"):
            fields.append((name, f"req_sim_{self.seen.number:06d}"))
        fields += headers or []
        if compress:
            fields.append(("Content-Encoding", "gzip"))
            self._gzip = zlib.compressobj(wbits=31)
            length = None
        if length is None:
            self.chunked = True
            fields.append(("Transfer-Encoding", "chunked"))
        else:
            fields.append(("Content-Length", str(length)))
        self.seen.status = status
        await self.connection.write(head(status, fields))

    async def send(self, data: bytes) -> None:
        """One piece, flushed: a peer that decodes sees all of it."""
        self.seen.sent_bytes += len(data)
        if self._gzip is not None:
            data = self._gzip.compress(data) + self._gzip.flush(zlib.Z_SYNC_FLUSH)
        for piece in self._cut(data):
            await self.connection.write(chunk(piece) if self.chunked else piece)
            if self.split or self.split_after:
                await self.connection.pause(0)

    def _cut(self, data: bytes):
        if self.split:
            for at in range(len(data)):
                yield data[at : at + 1]
        elif self.split_after:
            *parts, rest = data.split(self.split_after)
            for part in parts:
                yield part + self.split_after
            if rest:
                yield rest
        elif data:
            yield data

    async def finish(self) -> None:
        if self._gzip is not None:
            rest = self._gzip.flush()
            await self.connection.write(chunk(rest) if self.chunked else rest)
        if self.chunked:
            await self.connection.write(b"0\r\n\r\n")


class Lines:
    """How events are written as lines: line ends, the space after the colon, several data lines."""

    def __init__(self, scenario: str) -> None:
        self.scenario = scenario
        self.count = 0

    def ending(self) -> bytes:
        if self.scenario in ("crlf", "split-crlf"):
            return b"\r\n"
        if self.scenario == "cr":
            return b"\r"
        if self.scenario == "mixed":
            self.count += 1
            # In this order no CR meets an LF that was meant as another line end.
            return (b"\n", b"\r", b"\r\n")[self.count % 3]
        return b"\n"

    def event(self, data: bytes, event: str | None = None) -> bytes:
        lines: list[bytes] = []
        if self.scenario == "comments":
            lines += [b": UPSTREAM PROCESSING", b""]
        if self.scenario == "fields":
            lines += [b"event:x", b"id: 3", b"retry: 10", b"foo: bar"]
        elif event:
            lines.append(b"event: " + event.encode())
        lines += self._data_lines(data)
        lines.append(b"")
        return b"".join(line + self.ending() for line in lines)

    def _data_lines(self, data: bytes) -> list[bytes]:
        if self.scenario == "nospace":
            return [b"data:" + data]
        if self.scenario == "multiline" and b"," in data:
            at = data.index(b",")
            return [b"data: " + data[: at + 1], b"data: " + data[at + 1 :]]
        return [b"data: " + data]
