"""FR155: calls that end anyhow, on whichever side first; nothing of them stays open."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness.cases import Maker, says
from harness.checks import is_ok
from harness.procs import descriptors, eventually
from harness.rawup import SSE_HEAD, Connection, answer, completion, delta
from harness.stack import Account, Stack, chat_body

CLIENTS = 12
CLOSE_WAIT, FIN_WAIT_2 = "08", "05"
LEAVES = ["at once", "first byte", "a word", "never", "never"]


def half_open(pid: int) -> int:
    """Connections of a worker that one side has closed and the other has not."""
    inodes = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] in (CLOSE_WAIT, FIN_WAIT_2):
            inodes.add(f"socket:[{fields[9]}]")
    count = 0
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            count += str(link.readlink()) in inodes
        except OSError:
            continue
    return count


class Caller:
    """Sends requests to models that end in every way, and leaves at some point, or not."""

    def __init__(self, account: Account, models: list[str]) -> None:
        self.account, self.models = account, models
        self.seen: Counter[str] = Counter()
        self.lock = threading.Lock()

    def call(self, seed: int) -> None:
        rng = random.Random(seed)
        model, leave = rng.choice(self.models), rng.choice(LEAVES)
        body = chat_body(model, stream=rng.random() < 0.8)
        exchange = self.account.open(body)
        try:
            if leave == "first byte":
                exchange.read_once()
            elif leave == "a word":
                exchange.read_once() and exchange.read_once()
            elif leave == "never":
                exchange.finish()
        except (ConnectionResetError, BrokenPipeError):
            pass
        exchange.close()
        with self.lock:
            self.seen[leave] += 1


def upstreams(case: Maker) -> list[str]:
    """Models whose upstreams end first: in the body, before it, in the handshake, elsewhere."""

    def reset(connection: Connection) -> None:
        connection.send(SSE_HEAD + delta("half"))
        connection.reset()

    plain = case(says(SSE_HEAD + delta("one") + delta(" two")))
    no_tls = case(
        url=f"https://127.0.0.1:{plain.upstream.port}/v1", on_accept=lambda c: c.sock.close()
    )
    elsewhere = b"Location: http://127.0.0.1:1/v1/chat/completions\r\n"
    made = [
        plain,
        no_tls,
        case(reset),
        case(on_accept=lambda connection: connection.reset()),
        case(says(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")),
        case(says(answer(completion(), elsewhere, b"307 Temporary Redirect"))),
        case(lambda connection: connection.wait(0.5)),
    ]
    return [one.model for one in made]


@pytest.fixture(scope="module", autouse=True)
def short_lives(stack: Stack) -> Iterator[None]:
    """Idle upstream connections are closed after two seconds, not thirty."""
    with stack.gateway.restarted_with(upstream__pool_age="2s"):
        yield


@pytest.mark.books_differ("halves of answers")
@pytest.mark.parametrize(
    "calls", [300, pytest.param(10_000, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_fr155_random_aborts_leave_nothing_open(stack: Stack, case: Maker, calls: int) -> None:
    account = stack.account("1000")
    stack.simulator.behave("m-ref", "slow-tokens", ms=10, x=20)
    stack.simulator.behave("m-alt", "slow-tokens", ms=100, x=4)
    caller = Caller(account, ["m-ref", "m-ref", "m-alt", *upstreams(case)])
    workers = stack.gateway.workers()
    # Every worker has its links to the stores, and threads for as many as will call at once.
    for exchange in [account.open(chat_body("gpt-4o")) for _ in range(4 * CLIENTS)]:
        is_ok(exchange.finish())
    before = {pid: descriptors(pid) for pid in workers}
    with ThreadPoolExecutor(CLIENTS) as pool:
        for _ in pool.map(caller.call, range(calls)):
            pass
    assert sum(caller.seen.values()) == calls
    is_ok(account.chat("gpt-4o"))
    assert stack.gateway.workers() == workers
    for pid, files in before.items():
        eventually("nothing is half open", lambda p=pid: half_open(p) == 0, 60)
        eventually("descriptors are back", lambda p=pid, n=files: descriptors(p) <= n + 5, 90)
    stack.site.wait_clean()
