"""Gateway and ledger under valgrind, from their start to their end: no error, no definite leak."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.checks import is_error, is_ok, whole_stream
from harness.money import M_REF
from harness.procs import Process
from harness.stack import Stack

SUPPRESSIONS = Path(__file__).with_name("valgrind.supp")
FOUND = 97


def under_valgrind(process: Process, directory: Path) -> None:
    process.argv = [
        "valgrind",
        "--quiet",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite",
        "--show-leak-kinds=definite",
        "--trace-children=yes",
        "--num-callers=30",
        f"--error-exitcode={FOUND}",
        f"--suppressions={SUPPRESSIONS}",
        f"--log-file={directory}/valgrind-{process.name}-%p",
        *process.argv,
    ]


@pytest.fixture
def watched() -> Iterator[Stack]:
    stack = Stack.create()
    try:
        # Valgrind runs one thread at a time, many times slower: leases and waits are longer.
        stack.site.settings |= {"hold.lease": "60s", "hold.renew": "5s", "pool.workers": 1}
        stack.start_stores()
        stack.site.init()
        stack.price("m-ref", M_REF)
        stack.channel("main", ["m-ref"])
        for process in (stack.ledger.process, stack.gateway.process):
            under_valgrind(process, stack.directory)
        stack.ledger.process.start("tollgate-ledger: ready", 120)
        stack.gateway.process.start("tollgate-fcgi: ready, listening on", 120)
        yield stack
    finally:
        stack.kill()
        shutil.rmtree(stack.directory, ignore_errors=True)


def reports(stack: Stack) -> str:
    texts = [path.read_text() for path in sorted(stack.directory.glob("valgrind-*"))]
    assert len(texts) >= 3, "master, worker and ledger were watched"
    return "\n".join(text for text in texts if text.strip())


def test_a_life_from_start_to_drain(watched: Stack) -> None:
    stack = watched
    account = stack.account()
    stack.wait_model(account, "m-ref")
    is_ok(account.chat())
    whole_stream(account.stream())
    stack.simulator.behave("m-ref", "fail")
    assert account.chat().status == 500
    stack.simulator.behave("m-ref", "error-mid")
    assert not account.stream().done
    stack.simulator.behave("m-ref", "ok")
    is_ok(account.chat(text="z" * (2 << 20)))
    wrong = [("Authorization", "Bearer sk-tg" + "A" * 43), ("Content-Type", "application/json")]
    is_error(account.post(b"{}", wrong), 401, "invalid_request_error", "invalid_api_key")
    is_error(account.chat("none-such"), 404, "invalid_request_error", "model_not_found")
    stack.simulator.behave("m-ref", "hang-after")
    gone = account.open_stream()
    gone.read_until(b"from")
    gone.close()
    stack.simulator.wait(len(stack.simulator.requests()), finished=True, timeout=60)
    stack.gateway.reload()
    stack.simulator.behave("m-ref", "slow-tokens", ms=200, x=10)
    running = account.open_stream()
    running.read_until(b"word0")
    stack.gateway.process.signal(15)
    whole_stream(running.finish())
    gateway = stack.gateway.process.wait(180)
    stack.site.wait_clean(120)
    ledger = stack.ledger.process.stop(180)
    assert reports(stack) == ""
    assert (gateway, ledger) == (0, 0)
