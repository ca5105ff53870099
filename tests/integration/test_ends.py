"""How requests end: the reasons in the record, errors behind a keep-alive."""

from __future__ import annotations

import pytest
from harness.checks import is_ok
from harness.money import M_REF
from harness.stack import Account, Stack

pytestmark = pytest.mark.books_differ("half answers: what is charged is tested beside the rules")

# name: (scenario, streamed, the reason that is recorded). client_gone and timeout are in
# test_leaving; ping_fail and internal need faults that only the unit tests can make.
ENDS = {
    "whole": ("ok", False, "none"),
    "stream": ("ok", True, "done"),
    "no-done": ("no-done", True, "eof"),
    "cut": ("cut-mid", True, "eof"),
    "reset": ("reset-mid", True, "eof"),
    "error-event": ("error-mid", True, "handler_stop"),
    "no-json": ("bad-json", True, "scanner_error"),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_reason_is_recorded(stack: Stack, account: Account, name: str) -> None:
    scenario, stream, reason = ENDS[name]
    stack.simulator.behave("m-ref", scenario)
    answer = account.chat(stream=stream)
    assert stack.site.record(answer.request_id)["end_reason"] == reason


def test_an_error_behind_a_keep_alive_is_an_event(stack: Stack, account: Account) -> None:
    """The 200 is out; whatever fails after it is told in the stream, which never looks whole."""
    model = stack.new_model(M_REF)
    stack.channel(f"late-{model}", [model], "--timeouts", "connect=1s,first_byte=4s,idle=4s")
    stack.wait_model(account, model)
    stack.simulator.behave(model, "hang-before")
    answer = is_ok(account.stream(model))
    assert answer.body.startswith(b":"), answer.body[:80]
    assert answer.chunks[-1]["error"]["code"] == "upstream_timeout"
    assert answer.chunks[-1]["error"]["type"] and not answer.done
    record = stack.site.record(answer.request_id)
    assert (record["end_reason"], record["quota"]) == ("timeout", 0)
    account.wait_spent(0)


def test_the_clients_fault_behind_a_keep_alive_is_an_event(
    stack: Stack, account: Account
) -> None:
    """An upstream that thinks for seconds before it refuses: 400 came too late for the status."""
    stack.simulator.behave("m-ref", "bad-request", ms=4500)
    answer = is_ok(account.stream())
    assert answer.body.startswith(b":"), answer.body[:80]
    assert answer.chunks[-1]["error"]["type"] == "invalid_request_error"
    assert not answer.done and len(stack.simulator.requests()) == 1
    account.wait_spent(0)
