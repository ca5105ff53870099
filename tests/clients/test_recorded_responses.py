"""Recorded exchanges of Responses: relayed byte for byte and billed to the token by their own
channel, and the same text, calls and usage for clients of the other protocols. They lie outside
the project (TOLLGATE_RECORDED); without them this is skipped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from harness.checks import is_ok
from harness.messages import events
from harness.money import Price, bill
from harness.stack import Account, Stack, recorded_folder

FOLDER = recorded_folder()
FILES = sorted(FOLDER.glob("openai-responses-*.json")) if FOLDER else []
PRICE = Price("2.37", "11.13", "0.593")
MODEL = "m-recorded-responses"
# What a client may not ask for here; the answers are what they are.
STATE = ("previous_response_id", "conversation", "background")

pytestmark = pytest.mark.skipif(not FILES, reason="no recorded exchanges (TOLLGATE_RECORDED)")


def final(exchange: dict[str, Any]) -> dict[str, Any]:
    """The whole response, or the one that a stream ends with."""
    if not exchange["stream"]:
        return exchange["response"]
    last = json.loads(data_lines(exchange["response"])[-1])
    return last.get("response") or last


def data_lines(text: str) -> list[str]:
    """As they were sent, but for keep-alives and the mark of another protocol's end."""
    lines = [line[5:].strip() for line in text.split("\n") if line.startswith("data:")]
    return [line for line in lines if line.startswith("{") and '"keepalive"' not in line]


def usage_of(exchange: dict[str, Any]) -> dict[str, Any] | None:
    used = final(exchange).get("usage")
    if not used:
        return None
    return {
        "prompt_tokens": used["input_tokens"],
        "prompt_tokens_details": used.get("input_tokens_details") or {},
        "completion_tokens": used["output_tokens"],
    }


@pytest.fixture(scope="module")
def account(stack: Stack) -> Iterator[Account]:
    stack.price(MODEL, PRICE)
    stack.channel("recorded-responses", [MODEL], "--provider", "openai-responses")
    made = stack.account()
    stack.wait_model(made, MODEL)
    yield made


@pytest.mark.books_differ("errors in the middle of a stream are counted locally")
def test_exchanges_are_relayed_as_they_are(stack: Stack, account: Account) -> None:
    for path in FILES:
        exchange = json.loads(path.read_text())
        request = {k: v for k, v in exchange["request"].items() if k not in STATE}
        request["model"] = MODEL
        body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
        stack.simulator.serve_recorded(path.stem, MODEL)
        answer = account.post(body, uri="/v1/responses")
        assert stack.simulator.requests()[-1].body == body, path.stem
        record = stack.site.record(answer.request_id)
        assert record["status"] == answer.status
        if exchange["status"] != 200:
            assert answer.status == exchange["status"], path.stem
            assert answer.error["message"] == exchange["response"]["error"]["message"]
            assert record["quota"] == 0
            continue
        is_ok(answer)
        if exchange["stream"]:
            assert data_lines(answer.body.decode()) == data_lines(exchange["response"]), path.stem
            assert events(answer.body)  # each named: some servers send data alone
        else:
            whole = json.dumps(exchange["response"], ensure_ascii=False, separators=(",", ":"))
            assert answer.body == whole.encode(), path.stem
        used = usage_of(exchange)
        if used is not None and "tool_usage" not in record:
            assert record["quota"] == bill(used, PRICE), path.stem
