"""Processes that the tests start, their logs, and conditions that are waited for."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

# Words that a process may not have written unless the test declared them.
SANITIZER = re.compile(
    r"AddressSanitizer|LeakSanitizer|UndefinedBehaviorSanitizer|ThreadSanitizer|runtime error:"
    r"|Assertion .* failed|Segmentation fault"
)
COMPLAINT = re.compile(r"(?<![\w-])(?:WARNING|ERROR|FATAL|CRITICAL)(?=[\s:\]|])")

SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99",
}


def free_port() -> int:
    """A port that nobody has now. Below the ephemeral range: what any process connects with next
    cannot take it before the server that it is for."""
    while True:
        port = random.randrange(10000, 32000)
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def eventually(
    what: str, condition: Callable[[], T], timeout: float = 10.0, every: float = 0.02
) -> T:
    """The first true value of condition; fails with `what` and the last value at the deadline."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {timeout:g} s: {what} (last: {value!r})")
        time.sleep(every)


def children(pid: int) -> list[int]:
    """The direct children of a process, whichever of its threads made them."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(word) for word in task.read_text().split()]
        except OSError:
            continue
    return found


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


class Process:
    """One program in the foreground, its output in a log file that is kept from start to start."""

    def __init__(self, name: str, argv: list[str], directory: Path, **options) -> None:
        self.name = name
        self.argv = argv
        self.log = directory / f"{name}.log"
        self.env: dict[str, str] = {**os.environ, **SANITIZER_OPTIONS, **options.pop("env", {})}
        self.cwd = options.pop("cwd", None)
        self.harmless: list[str] = options.pop("harmless", [])
        self.popen: subprocess.Popen[bytes] | None = None
        self.log.touch()

    @property
    def pid(self) -> int:
        assert self.popen is not None, f"{self.name} was not started"
        return self.popen.pid

    @property
    def running(self) -> bool:
        return self.popen is not None and self.popen.poll() is None

    def log_size(self) -> int:
        return self.log.stat().st_size

    def log_text(self, start: int = 0) -> str:
        return self.log.read_bytes()[start:].decode(errors="replace")

    def log_contains(self, text: str, start: int = 0) -> bool:
        return text in self.log_text(start)

    def start(self, ready: Callable[[], bool] | str | None = None, timeout: float = 30.0) -> None:
        """Starts and waits until `ready` holds (a string: until the log says it)."""
        assert not self.running, f"{self.name} runs already"
        offset = self.log_size()
        with self.log.open("ab") as log:
            self.popen = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.env,
                cwd=self.cwd,
                start_new_session=True,
            )
        if ready is None:
            return
        condition = ready if callable(ready) else (lambda: self.log_contains(ready, offset))

        def up() -> bool:
            if not self.running:
                code = self.popen.returncode if self.popen else None
                raise AssertionError(f"{self.name} ended with {code}:\n{self.tail(offset)}")
            return condition()

        try:
            eventually(f"{self.name} ready", up, timeout)
        except AssertionError:
            self.kill()
            raise

    def tail(self, start: int = 0, lines: int = 40) -> str:
        return "\n".join(self.log_text(start).splitlines()[-lines:])

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, timeout: float = 30.0) -> int:
        assert self.popen is not None
        return self.popen.wait(timeout)

    def stop(self, timeout: float = 30.0) -> int | None:
        """SIGTERM and the exit code; a process that does not end is killed and that is an error."""
        if not self.running:
            return None if self.popen is None else self.popen.returncode
        self.signal(signal.SIGTERM)
        try:
            return self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end:\n{self.tail()}") from None

    def kill(self) -> None:
        """SIGKILL to the process and to its children (a master's workers)."""
        if not self.running:
            return
        workers = children(self.pid)
        self.signal(signal.SIGKILL)
        self.wait()
        for pid in workers:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def complaints(self, start: int, allowed: list[str]) -> list[str]:
        """Lines since `start` that no process of ours may write, less the declared ones."""
        found = []
        for line in self.log_text(start).splitlines():
            bad = SANITIZER.search(line) or COMPLAINT.search(line[:160])
            if bad and not any(re.search(p, line) for p in [*allowed, *self.harmless]):
                found.append(f"{self.name}: {line}")
        return found
