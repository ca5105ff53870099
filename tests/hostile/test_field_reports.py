"""Reports from the field: half answers, long silence, foreign events, images, payments.

What a report asks of a part that Tollgate does not have is answered by what holds instead: it
fetches no image, takes no payment notice and serves no Responses requests.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.answer import Answer
from harness.cases import Case, Maker, says
from harness.checks import is_ok, whole_stream
from harness.messages import auth, events, messages_body, refused, streamed, user
from harness.rawup import (
    DONE,
    SSE_HEAD,
    STOP,
    Connection,
    RawUpstream,
    answer,
    completion,
    delta,
    usage,
)
from harness.stack import Account, Stack

pytestmark = pytest.mark.books_differ("these upstreams charge nothing that the simulator knows of")

PATIENT = "connect=2s,first_byte=60s,idle=60s"
CLIENTS = pytest.mark.parametrize("client", ["chat", "messages"])


def ask_stream(case: Case, client: str) -> Answer:
    if client == "chat":
        return case.stream()
    account, body = case.account, messages_body(case.model, stream=True)
    return account.post(body, auth(account), uri="/v1/messages")


def event(name: str, **more: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **more})}\n\n".encode()


# --- half answers ---------------------------------------------------------------------------


@CLIENTS
def test_fr58_an_upstream_that_dies_never_looks_whole(case: Maker, client: str) -> None:
    made = case(says(SSE_HEAD + delta("") + delta("Hal")))
    result = is_ok(ask_stream(made, client))
    if client == "chat":
        error = result.chunks[-1]["error"]
        assert error["type"] == "server_error" and error["code"] and error["message"]
        assert not result.done and result.text == "Hal"
        assert all(c["finish_reason"] is None for x in result.chunks[:-1] for c in x["choices"])
    else:
        message = streamed(result, complete=False)
        assert message.error and message.error["type"] == "api_error"
        assert message.text == "Hal" and message.stop_reason is None
    row = made.row(result)
    assert (row["end_reason"], row["usage_source"]) == ("eof", "counted_locally")


@CLIENTS
def test_fr58_a_reason_to_finish_is_an_end_even_without_done(case: Maker, client: str) -> None:
    made = case(says(SSE_HEAD + delta("whole") + STOP + usage(9, 5)))
    result = is_ok(ask_stream(made, client))
    if client == "chat":
        assert whole_stream(result).text == "whole"
    else:
        assert streamed(result).text == "whole"
    made.account.wait_spent(51)


CUT_CALL = (
    event(
        "message_start",
        message={
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 1},
        },
    )
    + event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    + event("content_block_delta", index=0, delta={"type": "text_delta", "text": "So"})
    + event("content_block_stop", index=0)
    + event(
        "content_block_start",
        index=1,
        content_block={"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": {}},
    )
    + event(
        "content_block_delta",
        index=1,
        delta={"type": "input_json_delta", "partial_json": '{"path":"/tmp/a","te'},
    )
)  # fmt: skip


@CLIENTS
def test_fr60_half_a_tool_call_stays_half(case: Maker, client: str) -> None:
    made = case(says(SSE_HEAD + CUT_CALL), options=("--provider", "anthropic"))
    result = is_ok(ask_stream(made, client))
    if client == "messages":
        found = events(result.body)
        assert found[-1][0] == "error"
        stopped = [value["index"] for name, value in found if name == "content_block_stop"]
        assert stopped == [0]
        assert not [name for name, _ in found if name in ("message_delta", "message_stop")]
    else:
        assert "error" in result.chunks[-1] and not result.done
        choices = [choice for chunk in result.chunks[:-1] for choice in chunk["choices"]]
        assert all(choice["finish_reason"] is None for choice in choices)
        calls = [call for choice in choices for call in choice["delta"].get("tool_calls", [])]
        text = "".join(call["function"].get("arguments", "") for call in calls)
        assert text == '{"path":"/tmp/a","te'
    assert made.row(result)["end_reason"] == "eof"


# --- long silence ---------------------------------------------------------------------------


def is_ping(client: str, frame: bytes) -> bool:
    if client == "chat":
        return frame.startswith(b":")
    return frame.startswith(b"event: ping\n")


def ask_both(made: dict[str, Case]) -> dict[str, Answer]:
    """A stream for each kind of client, at the same time: these take seconds."""
    with ThreadPoolExecutor(len(made)) as pool:
        asked = {client: pool.submit(ask_stream, one, client) for client, one in made.items()}
    return {client: future.result() for client, future in asked.items()}


def test_fr66_silence_is_filled_with_keep_alives(case: Maker) -> None:
    """Before the first event and between two; none inside an event or behind the last one."""

    def script(connection: Connection) -> None:
        time.sleep(4.5)  # the first keep-alive comes after three seconds here, then every one
        connection.send(SSE_HEAD + delta("one")[:20])
        time.sleep(2.5)
        connection.send(delta("one")[20:] + delta(" two") + STOP + usage(9, 5) + DONE)
        connection.sock.close()

    made = {client: case(script, timeouts=PATIENT) for client in ("chat", "messages")}
    for client, result in ask_both(made).items():
        frames = is_ok(result).body.removesuffix(b"\n\n").split(b"\n\n")
        pings = [number for number, frame in enumerate(frames) if is_ping(client, frame)]
        assert len(pings) >= 3 and pings[0] == 0 and pings[-1] < len(frames) - 3, frames
        if client == "chat":
            assert whole_stream(result).text == "one two"
        else:
            message = streamed(result)
            assert message.text == "one two" and message.pings == len(pings)


LIMITED = answer(
    b'{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}',
    status=b"429 Too Many Requests",
)


def late_once() -> Callable[[Connection], None]:
    waits = [4.5]

    def script(connection: Connection) -> None:
        time.sleep(waits.pop() if waits else 0)
        connection.send(LIMITED)

    return script


def test_fr66_a_refusal_is_a_status_until_a_keep_alive_is_out(case: Maker) -> None:
    at_once = case(says(LIMITED))
    for client in ("chat", "messages"):
        assert ask_stream(at_once, client).status == 429
    made = {client: case(late_once(), timeouts=PATIENT) for client in ("chat", "messages")}
    results = ask_both(made)
    assert is_ok(results["chat"]).body.startswith(b":")
    assert results["chat"].chunks[-1]["error"]["message"] == "slow down"
    assert not results["chat"].done
    message = streamed(results["messages"], complete=False)
    assert message.pings and message.error and message.error["type"] == "rate_limit_error"
    at_once.is_free()


# --- foreign events -------------------------------------------------------------------------

FOREIGN = b'event: codex.rate_limits\ndata: {"type":"codex.rate_limits","limit_reached":false}\n\n'


def test_fr68_events_of_a_vendors_own_are_not_converted(case: Maker) -> None:
    """A chat client of a chat channel gets what the upstream says, byte for byte; a client of
    another protocol gets the events of its own protocol alone."""
    made = case(says(SSE_HEAD + FOREIGN + delta("one") + FOREIGN + STOP + usage(9, 5) + DONE))
    result = is_ok(ask_stream(made, "messages"))
    assert b"codex" not in result.body and streamed(result).text == "one"


def said(kind: str, number: int, **more: object) -> bytes:
    value = {"type": kind, "sequence_number": number, **more}
    return f"event: {kind}\ndata: {json.dumps(value)}\n\n".encode()


def response(status: str, **more: object) -> dict[str, object]:
    return {"id": "resp_3", "object": "response", "status": status, "output": [], **more}


CREATED = said("response.created", 0, response=response("in_progress"))
DELTA = said("response.output_text.delta", 1, item_id="msg_1", output_index=0, content_index=0,
             delta="one")  # fmt: skip


def stream_of(case: Maker, *parts: bytes) -> list[tuple[str, dict]]:
    made = case(says(SSE_HEAD + b"".join(parts)), options=("--provider", "openai-responses"))
    body = json.dumps({"model": made.model, "input": "hi", "stream": True}).encode()
    return events(is_ok(made.account.post(body, uri="/v1/responses")).body)


def test_fr68_events_of_a_vendors_own_are_not_relayed(case: Maker) -> None:
    used = {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}
    last = said("response.completed", 2, response=response("completed", usage=used))
    got = stream_of(case, FOREIGN, CREATED, DELTA, FOREIGN, last)
    assert [name for name, _ in got] == [
        "response.created", "response.output_text.delta", "response.completed",
    ]  # fmt: skip
    assert [value["sequence_number"] for _, value in got] == [0, 1, 2]


def test_fr70_an_error_event_becomes_the_failed_response(case: Maker) -> None:
    why = {"type": "service_unavailable_error", "code": "server_is_overloaded",
           "message": "overloaded", "param": None}  # fmt: skip
    got = stream_of(case, CREATED, DELTA, said("error", 2, error=why))
    name, value = got[-1]
    assert name == "response.failed" and value["sequence_number"] == 2
    failed = value["response"]
    assert (failed["id"], failed["status"]) == ("resp_3", "failed")
    assert failed["error"] == {"code": "server_is_overloaded", "message": "overloaded"}
    assert len(got) == 3


# --- images, payments -----------------------------------------------------------------------


@CLIENTS
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_fr126_images_are_never_fetched(case: Maker, client: str, provider: str) -> None:
    """The upstream takes URLs: whatever a name leads to, it does not lead there from here."""
    whole = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "fine"}], "stop_reason": "end_turn",
        "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 5},
    }  # fmt: skip
    reply = completion() if provider == "openai" else json.dumps(whole).encode()
    bodies: list[bytes] = []

    def on_accept(connection: Connection) -> None:
        while (body := connection.read_request()) is not None:
            bodies.append(body)
            connection.send(answer(reply))

    made = case(on_accept=on_accept, options=("--provider", provider))
    with RawUpstream(says(answer(b"png"))) as image_host:
        url = f"http://127.0.0.1:{image_host.port}/a.png"
        if client == "chat":
            content = [{"type": "image_url", "image_url": {"url": url}}]
            is_ok(made.account.chat(made.model, messages=[user(content)]))
        else:
            content = [{"type": "image", "source": {"type": "url", "url": url}}]
            body = messages_body(made.model, messages=[user(content)])
            is_ok(made.account.post(body, auth(made.account), uri="/v1/messages"))
        assert image_host.accepted == 0
    assert len(bodies) == 1 and url.encode() in bodies[0].replace(b"\\/", b"/")
    made.account.wait_spent(51)


NOTICES = [
    "/api/user/epay/notify", "/api/stripe/webhook", "/api/user/topup", "/webhook", "/notify",
    "/v1/payments/webhook", "/v1/billing/notify", "/payment/callback",
]  # fmt: skip


def test_fr133_a_notice_of_a_payment_credits_nobody(stack: Stack, account: Account) -> None:
    """There is no such route, so none that lacks its secret: credit comes from tollgatectl and the
    console alone, by name (test_matrix has who may), and each once."""
    notice = {"status": "paid", "user": account.name, "amount": 100, "currency": "USD"}
    for uri in NOTICES:
        for headers in ([("Content-Type", "application/json")], account.auth()):
            result = account.post(json.dumps(notice).encode(), headers, uri=uri)
            assert result.status == 404, (uri, result.status)
    account.wait_spent(0)
    assert stack.simulator.requests() == []
