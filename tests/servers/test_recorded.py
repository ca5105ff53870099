"""Real exchanges with providers, served again by the simulator, relayed through each web server.

The upstream gets the client's bytes but for include_usage, the client gets the recorded bytes but
for the withheld usage chunk and comments, the bill equals hand arithmetic, errors included. The
exchanges lie outside the project (TOLLGATE_RECORDED, else ../shared/recorded beside it); without
them this is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from harness.checks import is_ok, only_inserted, spliced
from harness.money import Price, bill
from harness.stack import Account, Stack, recorded_exchanges, recorded_folder

FOLDER = recorded_folder()
EXCHANGES = recorded_exchanges()
# Fractions that no float holds, so that only the exact sum rounds to the right quota.
PRICE = Price("2.37", "11.13", "0.593")

pytestmark = [
    pytest.mark.skipif(not EXCHANGES, reason="no recorded exchanges (TOLLGATE_RECORDED)"),
    pytest.mark.books_differ("errors in the middle of a stream are counted locally"),
]


def load(name: str) -> dict[str, Any]:
    assert FOLDER is not None
    return json.loads((FOLDER / f"{name}.json").read_text())


def events(text: str) -> list[bytes]:
    """The recorded events that carry data, as bytes; comments are consumed by a relay."""
    found = []
    for event in text.encode().split(b"\n\n"):
        lines = [line for line in event.split(b"\n") if line and not line.startswith(b":")]
        if any(line.startswith(b"data:") for line in lines):
            found.append(b"\n".join(lines))
    return found


def data_of(event: bytes) -> Any:
    data = b"\n".join(line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:"))
    return data if data == b"[DONE]" else json.loads(data)


def is_usage_only(event: bytes) -> bool:
    value = data_of(event)
    return isinstance(value, dict) and value.get("choices") == [] and bool(value.get("usage"))


def usage_of(exchange: dict[str, Any]) -> dict[str, Any] | None:
    response = exchange["response"]
    if isinstance(response, dict):
        return response.get("usage")
    used = None
    for event in events(response):
        value = data_of(event)
        if isinstance(value, dict) and value.get("usage"):
            used = value["usage"]
    return used


@pytest.fixture(scope="session")
def models(stack: Stack) -> Iterator[set[str]]:
    """Every recorded model has a channel and a price; wait_model is the test's own."""
    names = {load(name)["request"]["model"] for name in EXCHANGES}
    for name in sorted(names):
        stack.price(name, PRICE)
    stack.channel("recorded", sorted(names - {"gpt-4o"}))
    yield names


@pytest.fixture
def ready(stack: Stack, via: Account, models: set[str]) -> Account:
    stack.wait_model(via, sorted(models)[-1])
    return via


@pytest.mark.parametrize("name", EXCHANGES)
def test_recorded(stack: Stack, ready: Account, name: str) -> None:
    exchange = load(name)
    request = exchange["request"]
    body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    asked = bool((request.get("stream_options") or {}).get("include_usage"))
    stack.simulator.serve_recorded(name, request["model"])
    answer = ready.post(body)

    up = stack.simulator.requests()[0]
    if exchange["stream"] and not asked:
        assert up.json == spliced(body, usage=True)
        assert only_inserted(body, up.body)
    else:
        assert up.body == body

    if exchange["status"] != 200:
        same_error(answer, exchange)
        expected = 0
    elif exchange["stream"]:
        same_stream(answer, exchange, asked)
        expected = bill(usage_of(exchange), PRICE)
    else:
        is_ok(answer)
        whole = json.dumps(exchange["response"], ensure_ascii=False, separators=(",", ":"))
        assert answer.body == whole.encode()
        expected = bill(usage_of(exchange), PRICE)

    record = stack.site.record(answer.request_id)
    if usage_of(exchange) is None and exchange["status"] == 200:
        assert record["usage_source"] == "counted_locally"
        assert record["quota"] > 0
        ready.wait_spent(record["quota"])
    else:
        assert record["quota"] == expected
        ready.wait_spent(expected)
    assert record["status"] == answer.status


def same_stream(answer, exchange: dict[str, Any], asked: bool) -> None:
    is_ok(answer)
    wanted = [e for e in events(exchange["response"]) if asked or not is_usage_only(e)]
    got = events(answer.body.decode())
    last = data_of(wanted[-1])
    if isinstance(last, dict) and "error" in last:
        # The provider's error after content: its words reach the client, and nothing looks whole.
        assert got[: len(wanted) - 1] == wanted[:-1]
        assert data_of(got[-1])["error"]["message"] == last["error"]["message"]
        assert b"[DONE]" not in answer.body
        return
    assert got == wanted
    assert answer.body == b"".join(event + b"\n\n" for event in wanted)


def same_error(answer, exchange: dict[str, Any]) -> None:
    assert answer.status == exchange["status"], answer.body
    recorded = exchange["response"]["error"]
    assert answer.error["message"] == recorded["message"]
    for name in ("type", "code", "param"):
        if isinstance(recorded.get(name), str):
            assert answer.error[name] == recorded[name], name
