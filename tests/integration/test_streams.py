"""Streams: framing of whatever comes (FR50, FR51, FR53, FR55, FR56, FR61), keep-alives."""

from __future__ import annotations

import json

import pytest
from harness.checks import is_ok, whole_stream
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.stack import Account, Stack, chat_body

TEXT = "Hello from the simulator: every word counts."


def usage(prompt: int, completion: int) -> int:
    return bill({"prompt_tokens": prompt, "completion_tokens": completion}, M_REF)


FRAMINGS = ["ok", "crlf", "cr", "mixed", "split-crlf", "split-bytes", "bom", "comments", "nospace",
            "multiline", "fields"]  # fmt: skip


@pytest.mark.parametrize("scenario", FRAMINGS)
def test_line_ends_and_fields(stack: Stack, account: Account, scenario: str) -> None:
    """FR50, FR51, FR53: the same events in every case, framed with LF, no empty one."""
    stack.simulator.behave("m-ref", scenario)
    answer = whole_stream(account.stream())
    assert answer.text == TEXT
    assert all(json.loads(data) for data in answer.event_data[:-1]), "an empty event"
    assert not answer.body.startswith(b"\xef\xbb\xbf")
    assert b"UPSTREAM PROCESSING" not in answer.body, "comments of the upstream are consumed"
    for line in answer.body.split(b"\n"):
        assert not line or line.startswith((b"data: ", b":", b"event:")), line
    contents = [
        choice["delta"].get("content")
        for chunk in answer.chunks
        for choice in chunk["choices"]
        if choice["delta"].get("content")
    ]
    assert len(contents) == 7
    account.wait_spent(usage(1, 7))


def test_the_stream_comes_down_as_it_came_up(stack: Stack, account: Account) -> None:
    """Same protocol: the chunks' bytes are the upstream's own."""
    answer = whole_stream(account.stream())
    for data in answer.event_data[:-1]:
        value = json.loads(data)
        assert list(value)[:5] == ["id", "object", "created", "model", "system_fingerprint"]
    assert answer.header("cache-control") == "no-cache"
    assert answer.header("x-accel-buffering") == "no"


def test_a_huge_event(stack: Stack, account: Account) -> None:
    """FR55: 3 MB in one line, a normal event after it, usage billed."""
    stack.simulator.behave("m-ref", "huge-event", p=5, c=9)
    answer = whole_stream(account.stream())
    text = answer.text
    assert len(text) == (3 << 20) + 4 and text.endswith("A end")
    account.wait_spent(usage(5, 9))


@pytest.mark.books_differ("an answer that the gateway cut off")
def test_an_event_above_the_limit_ends_the_stream_not_the_process(
    stack: Stack, account: Account
) -> None:
    workers = stack.gateway.workers()
    stack.simulator.behave("m-ref", "huge-event", m=40)
    answer = account.stream()
    assert not answer.done
    if answer.status == 200:
        assert any("error" in chunk for chunk in answer.chunks), answer.body[-300:]
    assert stack.gateway.workers() == workers
    stack.simulator.reset()
    whole_stream(account.stream())


ENDS = ["eof-one-newline", "eof-no-newline", "done-no-blank", "no-done"]


@pytest.mark.parametrize("scenario", ENDS)
def test_unterminated_last_events_are_billed(stack: Stack, account: Account, scenario: str) -> None:
    """FR56: usage in a last event without its blank line counts; the client gets every delta."""
    stack.simulator.behave("m-ref", scenario)
    answer = is_ok(account.stream())
    assert answer.text == TEXT
    assert answer.event_data.count(b"[DONE]") <= 1
    account.wait_spent(usage(1, 7))


@pytest.mark.parametrize("scenario", ["gzip", "gzip-always"])
def test_compression(stack: Stack, account: Account, scenario: str) -> None:
    """FR61: asked for identity, or decoded; never handed on to a client that cannot tell."""
    stack.simulator.behave("m-ref", scenario)
    headers = [*account.auth(), ("Accept-Encoding", "gzip, deflate, br, zstd")]
    answer = whole_stream(account.post(chat_body(stream=True), headers))
    assert answer.header("content-encoding") is None
    assert answer.text == TEXT
    account.wait_spent(usage(1, 7))


def test_events_arrive_one_by_one(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "slow-tokens", ms=150, x=4)
    exchange = account.open_stream()
    exchange.read_until(b"word0")
    assert b"word1" not in exchange.stdout
    exchange.read_until(b"word1")
    assert b"word3" not in exchange.stdout
    whole_stream(exchange.finish())


def test_keep_alives_before_the_first_event(stack: Stack, account: Account) -> None:
    """Silence commits the 200 with a comment; the answer follows whole."""
    stack.simulator.behave("m-ref", "slow-headers", ms=4500)
    answer = whole_stream(account.stream())
    assert answer.body.startswith(b":"), answer.body[:80]
    assert answer.text == TEXT


def test_fast_failures_keep_their_status(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "bad-request")
    assert account.stream().status == 400


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_an_error_as_the_first_event_is_a_failed_attempt(
    stack: Stack, account: Account, stream: bool
) -> None:
    stack.simulator.behave("m-ref", "error-first")
    answer = account.chat(stream=stream)
    assert answer.status >= 500, answer.body[:300]
    assert answer.error["type"]
    account.wait_spent(0)
    assert len(stack.simulator.requests()) > 1, "another attempt was due"


@pytest.mark.books_differ("counted locally")
def test_an_error_after_content_is_passed_and_ends_the_stream(
    stack: Stack, account: Account
) -> None:
    stack.simulator.behave("m-ref", "error-mid")
    answer = is_ok(account.stream())
    assert "error" in answer.chunks[-1], answer.body[-300:]
    assert not answer.done, "half an answer never looks whole"
    assert len(stack.simulator.requests()) == 1, "no retry after content"


@pytest.mark.books_differ("counted locally")
@pytest.mark.parametrize("scenario", ["reset-mid", "cut-mid"])
def test_an_upstream_that_breaks_after_content(
    stack: Stack, account: Account, scenario: str
) -> None:
    stack.simulator.behave("m-ref", scenario)
    answer = is_ok(account.stream())
    assert answer.text == "Hello from"
    assert not answer.done
    assert "error" in answer.chunks[-1]
    assert len(stack.simulator.requests()) == 1
    record = stack.site.record(answer.request_id)
    assert record["usage_source"] == "counted_locally"
    assert 0 < record["quota"] < 200
    assert record["end_reason"] in ("eof", "internal", "scanner_error")


@pytest.mark.books_differ("empty answers are free")
def test_an_empty_answer_is_tried_again_and_free(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "empty")
    answer = account.stream()
    assert answer.status >= 500 or not answer.text
    assert len(stack.simulator.requests()) > 1
    stack.site.wait_clean()
    account.wait_spent(0)


@pytest.mark.books_differ("the provider charged an answer that could not be read")
def test_an_event_that_is_no_json(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "bad-json")
    answer = is_ok(account.stream())
    assert answer.text.startswith("Hello from") if answer.done else "error" in answer.chunks[-1]


@pytest.mark.books_differ("either answer is allowed")
def test_json_where_a_stream_was_asked_for(stack: Stack, account: Account) -> None:
    """Some providers ignore `stream`: the answer comes one way or another, billed once."""
    stack.simulator.behave("m-ref", "not-sse", p=4, c=7)
    answer = account.stream()
    if answer.status == 200:
        assert TEXT in answer.text
        account.wait_spent(usage(4, 7))
    else:
        eventually("nothing is charged", lambda: account.spent == 0)
