"""What upstreams say (F36 to F41): events, JSON, compression, redirects, waits; bill and retry."""

from __future__ import annotations

import gzip
import json
import time
import zlib

import pytest
from harness.cases import Maker, says
from harness.checks import is_error, is_ok
from harness.procs import eventually
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
from harness.stack import Stack, chat_body

pytestmark = pytest.mark.books_differ("these upstreams charge nothing that the simulator knows of")

BODY = completion()
WHOLE = 51  # 9 prompt and 5 completion tokens at M_REF: 9 x 1.5 + 5 x 7.5

# --- F36, F37: events and JSON --------------------------------------------------------------


def test_f36_cut_utf8_and_comments_and_what_follows_done(case: Maker) -> None:
    text = "naïve – 漢字 😀"
    data = delta(text)
    cut = data.index("漢".encode()) + 1

    def script(connection: Connection) -> None:
        connection.send(SSE_HEAD + b": comment\n" * 10_000 + data[:cut])
        time.sleep(0.1)
        connection.send(data[cut:] + STOP + usage(1000, 1000) + usage(9, 5) + DONE)
        connection.send(delta("never") + b'data: {"error":{"message":"never"}}\n\n')
        connection.sock.close()

    made = case(script)
    result = is_ok(made.stream())
    assert result.text == text and result.done and b"never" not in result.body
    made.account.wait_spent(WHOLE)


def test_f36_an_event_without_end_is_bounded(stack: Stack, case: Maker) -> None:
    def script(connection: Connection) -> None:
        connection.send(SSE_HEAD + delta("half") + b"data: ")
        try:
            for _ in range(100):
                connection.send(b"x" * (1 << 20))
        except OSError:
            connection.upstream.heads.append(b"cut")

    made = case(script)
    result = is_ok(made.stream())
    assert "error" in result.chunks[-1] and len(result.body) < 10_000
    assert made.row(result)["end_reason"] == "scanner_error"
    eventually("the upstream is let go", lambda: b"cut" in made.upstream.heads)


DEEP = b'{"choices":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
BAD_JSON = {
    "deep": DEEP,
    "digits": b'{"choices":[],"x":' + b"9" * 1_000_000 + b"}",
    "duplicate keys": completion().replace(b'"id": "c"', b'"id": "c", "id": "d"'),
    "NaN": completion().replace(b'"created": 1', b'"created": NaN'),
    "cut": completion()[:-3],
    "empty": b"",
    "html": b"<html>no</html>",
}


def test_f37_an_answer_that_is_no_json(case: Maker) -> None:
    for what, body in BAD_JSON.items():
        made = case(says(answer(body)))
        result = made.chat()
        assert result.status == 502, (what, result.body[:300])
    made.is_free()


def test_f37_half_a_pair_of_surrogates_passes(case: Maker) -> None:
    """Streams cut text between two escapes; who puts the halves together is the client."""
    body = completion().replace(b"fine", b"\\ud83d")
    made = case(says(answer(body)))
    assert is_ok(made.chat()).body == body
    halves = [delta("X").replace(b"X", half) for half in (b"\\ud83d", b"\\ude00")]
    made = case(says(SSE_HEAD + halves[0] + halves[1] + STOP + usage(9, 5) + DONE))
    result = is_ok(made.stream())
    assert result.done and b"\\ud83d" in result.body and b"\\ude00" in result.body


NUMBERS = {
    "negative": (-5, -7),
    "2^63": (2**63, 2**63),
    "2^63 - 1": (2**63 - 1, 2**63 - 1),
    "10^17": (10**17, 10**17),
    "fraction": (1.5, 2.5),
    "text": ("9", "5"),
    "null": (None, None),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_f37_absurd_usage_never_costs_nonsense(stack: Stack, case: Maker, stream: bool) -> None:
    asked = []
    for what, (prompt, output) in NUMBERS.items():
        counts = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": 0}
        events = SSE_HEAD + delta("fine") + STOP + usage(prompt, output) + DONE
        made = case(says(events if stream else answer(completion(usage=counts))))
        made.account = stack.account()  # the one before has nothing left, perhaps
        asked.append((what, made, made.stream() if stream else made.chat()))
    stack.site.wait_clean()
    for what, made, result in asked:
        assert result.status in (200, 502), what
        if result.status == 200:
            assert 0 <= made.row(result)["quota"], what
            assert made.account.spent <= 10_000_000_000, f"{what} is clamped"


# --- F38: compression -----------------------------------------------------------------------


def encoded(body: bytes, coding: bytes, kind: bytes = b"application/json") -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nContent-Encoding: " + coding
        + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )  # fmt: skip


@pytest.mark.parametrize("coding", [b"gzip", b"deflate", b"x-gzip"])
def test_f38_compressed_answers_are_unpacked_here(case: Maker, coding: bytes) -> None:
    pack = zlib.compress if coding == b"deflate" else gzip.compress
    made = case(says(encoded(pack(BODY), coding)))
    result = is_ok(made.chat())
    assert result.header("content-encoding") is None
    assert json.loads(result.body)["choices"] and result.header("content-length") == str(
        len(result.body)
    )
    events = delta("fine") + STOP + usage(9, 5) + DONE
    made = case(says(encoded(pack(events), coding, b"text/event-stream")))
    result = is_ok(made.stream())
    assert result.text == "fine" and result.header("content-encoding") is None


@pytest.mark.parametrize("coding, body", [(b"gzip", BODY), (b"br", BODY), (b"gzip", b"\x1f\x8b")])
def test_f38_a_wrong_label(case: Maker, coding: bytes, body: bytes) -> None:
    made = case(says(encoded(body, coding)))
    result = made.chat()
    assert result.status == 502 and result.header("content-encoding") is None
    made.is_free()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_f38_a_bomb(case: Maker, stream: bool) -> None:
    filler = b" " * (64 << 20) if not stream else b": filler\n" * (8 << 20)
    bomb = gzip.compress(filler, 9)
    kind = b"text/event-stream" if stream else b"application/json"
    made = case(says(encoded(bomb, b"gzip", kind)))
    result = made.stream() if stream else made.chat()
    assert result.status == 502
    made.is_free()


# --- F39, F40 -------------------------------------------------------------------------------


def test_f39_interim_answers_are_skipped(case: Maker) -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    made = case(says(interim + answer(BODY)))
    assert is_ok(made.chat()).text == "fine"


@pytest.mark.parametrize("status", [b"204 No Content", b"301 Moved", b"307 Temporary", b"304 No"])
def test_f39_no_content_and_redirects(case: Maker, status: bytes) -> None:
    with RawUpstream(says(answer(completion("internal")))) as inside:
        location = b"Location: http://127.0.0.1:%d/v1/chat/completions\r\n" % inside.port
        made = case(says(answer(BODY, location, status)))
        result = made.chat()
        assert result.status >= 500 and b"choices" not in result.body
        assert result.header("location") is None
        assert inside.accepted == 0
    made.is_free()


WAITS = {
    b"0": None, b"-1": None, b"1000000000": "300", b"garbage": None,
    b"Wed, 21 Oct 2015 07:28:00 GMT": None, b"Sun, 06 Nov 2094 08:49:37 GMT": "300",
    b"12.5": "13", b"99999999999999999999999999": "300", b"": None, b"1e9": None, b"7, 8": None,
}  # fmt: skip


def test_f40_retry_after_is_bounded(stack: Stack, case: Maker) -> None:
    body = b'{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}'
    # One attempt only: what is looked at is what the client is told.
    with stack.gateway.with_settings(retry__attempts=1):
        for value, expected in WAITS.items():
            head = b"Retry-After: " + value + b"\r\n"
            made = case(says(answer(body, head, b"429 Too Many Requests")))
            result = made.chat()
            is_error(result, 429, "requests", "rate_limit_exceeded")
            assert result.header("retry-after") == expected, value
    made.is_free()


def test_f41_an_answer_that_comes_too_late_is_not_billed_twice(case: Maker) -> None:
    first: list[int] = []

    def script(connection: Connection) -> None:
        if not first:
            first.append(1)
            time.sleep(1.6)  # the limit is 1 s
        connection.send(answer(BODY))

    made = case(script)
    result = is_ok(made.chat())
    assert made.upstream.accepted == 2
    assert made.row(result)["quota"] == WHOLE
    made.account.wait_spent(WHOLE)


def test_a_body_is_sent_once_per_attempt(case: Maker) -> None:
    """A kept connection that dies under a request: the body never goes out doubled or empty."""
    bodies: list[bytes] = []

    def on_accept(connection: Connection) -> None:
        body = connection.read_request()
        bodies.append(body or b"")
        connection.send(answer(BODY))
        body = connection.read_request()
        if body is not None:
            bodies.append(body)
            connection.reset()

    made = case(on_accept=on_accept)
    sent = chat_body(made.model, "once")
    for _ in range(5):
        assert made.account.post(sent).status in (200, 502)
    assert set(bodies) == {sent}
