"""60,000 requests of every kind: memory and descriptors stay flat, the books exact."""

from __future__ import annotations

import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness.procs import descriptors, eventually
from harness.stack import Account, Stack, chat_body

TOTAL = int(os.environ.get("TOLLGATE_SOAK_REQUESTS", "60000"))
THREADS = 8
# With an arena for each few threads glibc's heaps go on filling their gaps for 100,000 requests and
# more (a run of 180,000 grew by 10 MiB, with one arena by nothing): that would hide a leak.
os.environ["MALLOC_ARENA_MAX"] = "1"
KINDS = ["whole", "stream", "whole", "stream", "large", "refused", "error", "gone"]
KIND_MODELS = {"error": "m-alt", "gone": "gpt-4o"}


class Mix:
    """Whole answers, streams, errors of each side, large bodies, clients that leave."""

    def __init__(self, stack: Stack, account: Account) -> None:
        self.stack = stack
        self.account = account
        self.seen: Counter[str] = Counter()
        self.lock = threading.Lock()

    def one(self, number: int) -> None:
        kind = KINDS[number % len(KINDS)]
        result = getattr(self, kind)()
        with self.lock:
            self.seen[f"{kind} {result}"] += 1

    def whole(self) -> int:
        return self.account.chat().status

    def stream(self) -> bool:
        return self.account.stream().done

    def large(self) -> int:
        # Every tenth lies in a file.
        size = (1 << 20) + 100 if self.seen.total() % 10 == 0 else 1 << 16
        return self.account.chat(text="x" * size).status

    def refused(self) -> int:
        headers = [("Authorization", "Bearer sk-tg" + "A" * 43)]
        return self.account.post(chat_body(), headers).status

    def error(self) -> int:
        return self.account.chat(KIND_MODELS["error"]).status

    def gone(self) -> None:
        exchange = self.account.open_stream(KIND_MODELS["gone"])
        exchange.read_until(b"data:")
        exchange.close()

    def run(self, count: int) -> None:
        self.stack.simulator.reset()  # what it remembers would grow
        self.stack.simulator.behave(KIND_MODELS["error"], "bad-request")
        self.stack.simulator.behave(KIND_MODELS["gone"], "slow-tokens", ms=5, x=50)
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(self.one, range(count)))


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"no VmRSS of {pid}")


@pytest.mark.books_differ("clients that leave in mid-stream pay what they got")
def test_nothing_grows(stack: Stack) -> None:
    account = stack.account("1000")
    mix = Mix(stack, account)
    pids = [*stack.gateway.workers(), stack.ledger.process.pid]
    # What a process needs once it has: pools filled, statements prepared, arenas of the threads.
    rounds = []
    for _ in range(5):
        mix.run(TOTAL // 5)
        stack.site.wait_clean(120)
        rounds.append({pid: (resident_kib(pid), descriptors(pid)) for pid in pids})
    assert stack.gateway.workers() == pids[:-1], "no worker was replaced"
    expected = {"whole 200", "stream True", "large 200", "refused 401", "error 400", "gone None"}
    assert set(mix.seen) == expected, mix.seen
    for pid in pids:
        memory = [row[pid][0] for row in rounds]
        files = [row[pid][1] for row in rounds]
        print(pid, "KiB", memory, "descriptors", files)
        # A leak of 200 bytes a request never stops.
        assert memory[-1] <= memory[1] + 6144, f"memory grows: {memory}"
        # Idle upstream handles, three descriptors each, go after upstream.pool_age.
        eventually(
            f"descriptors of {pid} are as few as they were ({files})",
            lambda pid=pid, most=max(files[:2]) + 4: descriptors(pid) <= most,
            60,
        )
    eventually("no hold is left", lambda: "tollgate_open_holds 0\n" in metrics(stack), 60)


def metrics(stack: Stack) -> str:
    return stack.fcgi.request("GET", "/metrics").body.decode()
