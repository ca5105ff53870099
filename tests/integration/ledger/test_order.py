"""The order at the end of a request: the books first, then the last bytes."""

from __future__ import annotations

import select
import signal

import pytest
from harness.another import another_gateway
from harness.checks import is_ok, whole_stream
from harness.stack import Account, Stack, chat_body

QUIET_S = 1.0


@pytest.mark.complains("redis", "ledger", "shard", "hold")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_nobody_has_an_answer_that_is_not_settled(
    stack: Stack, account: Account, stream: bool
) -> None:
    """Redis stands still while the bill is told: the end of the answer waits for it."""
    changes = {"listen__address": f"unix:{stack.directory}/order.sock"}
    with another_gateway(stack, "node-order", **changes, ledger__settle_timeout="10s") as client:
        account.client = client
        stack.simulator.behave("m-ref", "slow-headers", ms=500)
        exchange = account.open(chat_body(stream=stream))
        stack.simulator.wait(1)
        stack.redis.process.signal(signal.SIGSTOP)
        try:
            stack.simulator.wait(1, finished=True)
            while select.select([exchange.sock], [], [], QUIET_S)[0]:
                assert exchange.read_once()
            assert not exchange.ended and b"[DONE]" not in exchange.stdout
            assert stream or exchange.stdout == b"", "a whole answer is one piece"
        finally:
            stack.redis.process.signal(signal.SIGCONT)
        answer = exchange.finish()
        whole_stream(answer) if stream else is_ok(answer)
    account.wait_spent(stack.charged_by_simulator())
