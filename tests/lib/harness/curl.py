"""curl as a client for what http.client cannot speak: HTTP/2, with and without TLS."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterable

from harness.answer import Answer


class CurlExchange:
    """One request under way; curl's output is read as it comes."""

    def __init__(self, argv: list[str], body: bytes) -> None:
        with tempfile.TemporaryFile() as given:
            given.write(body)
            given.seek(0)
            self.process = subprocess.Popen(
                argv, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        self.raw = b""
        self.arrivals: list[float] = []

    @property
    def body(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[2]

    def read_once(self) -> bool:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.raw += data
        self.arrivals.append(time.monotonic())
        return bool(data)

    def read_until(self, needle: bytes) -> None:
        while needle not in self.body:
            assert self.read_once(), f"no {needle!r} in {self.raw[-500:]!r}: {self._stderr()}"

    def _stderr(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode(errors="replace")

    def close(self) -> None:
        """The client leaves: its connection goes with it."""
        self.process.kill()
        self.process.communicate()

    def finish(self) -> Answer:
        while self.read_once():
            pass
        code = self.process.wait(60)
        said = self._stderr()
        self.process.communicate()
        assert self.raw, f"curl ended with {code}: {said}"
        return self.answer(code == 0)

    def answer(self, complete: bool) -> Answer:
        head, _, body = self.raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = [(name, text.strip()) for name, _, text in (x.partition(":") for x in lines)]
        return Answer(int(first.split()[1]), headers, body, self.arrivals, complete)


class CurlClient:
    """`options` say how to speak, e.g. --http2-prior-knowledge."""

    def __init__(self, base_url: str, *options: str) -> None:
        self.base_url = base_url
        self.options = options

    def open(
        self,
        method: str,
        uri: str,
        headers: list[tuple[str, str]] | None = None,
        body: bytes | Iterable[bytes] = b"",
        *,
        length: str | None = "auto",
    ) -> CurlExchange:
        """length None sends the body without an announced length."""
        argv = ["curl", "-sS", "-N", "-i", "-m", "60", "--path-as-is", "-X", method, *self.options]
        for name, value in headers or []:
            argv += ["-H", f"{name}: {value}"]
        whole = body if isinstance(body, bytes) else b"".join(body)
        if length is None:
            argv += ["-T", "-"]
        elif whole or method != "GET":
            argv += ["--data-binary", "@-"]
        return CurlExchange([*argv, "-H", "Expect:", self.base_url + uri], whole)

    def request(self, method: str, uri: str, headers=None, body=b"", **options) -> Answer:
        return self.open(method, uri, headers, body, **options).finish()
