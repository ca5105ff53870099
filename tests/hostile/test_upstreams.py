"""Upstreams that break HTTP or break off (F28 to F35): end, bill, retry, nothing passes through.

Each case is one channel of its own with an upstream that answers with bytes. What it says decides
the answer: the status and code when nothing was delivered, or an error event and the end reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.cases import Maker, says
from harness.checks import is_error, is_ok
from harness.procs import free_port
from harness.rawup import (
    DONE,
    SSE_HEAD,
    STOP,
    Connection,
    answer,
    completion,
    delta,
    usage,
)

pytestmark = pytest.mark.books_differ("these upstreams charge nothing that the simulator knows of")

# 9 prompt and 5 completion tokens at M_REF: 9 x 1.5 + 5 x 7.5.
WHOLE = 51

# --- F28, F29, F33: nobody, silence, resets -------------------------------------------------


def test_f28_refused_and_unknown(stack: Stack, case: Maker) -> None:
    for url in (f"http://127.0.0.1:{free_port()}/v1", "http://no-such-host.invalid/v1"):
        made = case(url=url)
        for result in (made.chat(), made.stream()):
            is_error(result, 502, "server_error", "upstream_unreachable")
        made.is_free()


def test_f29_accepts_and_never_answers(case: Maker) -> None:
    made = case(lambda connection: connection.wait(60))
    result = made.chat()
    is_error(result, 504, "server_error", "upstream_timeout")
    assert made.row(result)["end_reason"] == "timeout"
    made.is_free()


@pytest.mark.parametrize("where", ["accept", "request", "headers"])
def test_f33_resets_before_content_are_tried_again(case: Maker, where: str) -> None:
    def script(connection: Connection) -> None:
        if where == "headers":
            connection.send(SSE_HEAD)
            time.sleep(0.05)
        connection.reset()

    made = case(on_accept=script) if where == "accept" else case(script)
    result = made.stream()
    assert result.status == 502 and made.upstream.accepted >= 2
    made.is_free()


def test_f33_a_reset_in_mid_chunk_ends_with_an_error(case: Maker) -> None:
    def script(connection: Connection) -> None:
        head = SSE_HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked")
        piece = delta("half")
        connection.send(head + b"%x\r\n%s\r\n" % (len(piece), piece) + b"400\r\ndata: {")
        time.sleep(0.1)
        connection.reset()

    made = case(script)
    result = is_ok(made.stream())
    assert result.text == "half" and not result.done
    assert "error" in result.chunks[-1]
    row = made.row(result)
    assert (row["end_reason"], row["usage_source"]) == ("eof", "counted_locally")
    assert made.upstream.accepted == 1, "what was delivered is final"


# --- F30 to F32: hanging, dribbling, ending early -------------------------------------------


def test_f30_silence_after_content(case: Maker) -> None:
    def script(connection: Connection) -> None:
        connection.send(SSE_HEAD + delta("half"))
        connection.wait(60)

    made = case(script)
    result = is_ok(made.stream())
    assert "error" in result.chunks[-1] and not result.done
    row = made.row(result)
    assert row["end_reason"] == "timeout" and row["quota"] > 0
    assert made.upstream.accepted == 1


TRICKLES = {
    "status": b"",
    "headers": b"HTTP/1.1 200 OK\r\n",
    "body": SSE_HEAD,
    "line": SSE_HEAD + delta("half"),
}


def trickling(start: bytes) -> Callable[[Connection], None]:
    """A byte every now and then, for far longer than any limit."""

    def script(connection: Connection) -> None:
        connection.send(start)
        for letter in b"HTTP/1.1 200 OK" * 20:
            time.sleep(0.2)
            connection.send(bytes([letter]))

    return script


def test_f31_a_byte_at_a_time(case: Maker) -> None:
    """Bytes that trickle are no sign of life: the limits count what becomes whole."""
    made = {where: case(trickling(start)) for where, start in TRICKLES.items()}
    with ThreadPoolExecutor(len(made)) as pool:
        asked = {where: pool.submit(one.stream) for where, one in made.items()}
    for where, future in asked.items():
        result = future.result()
        row = made[where].row(result)
        assert row["end_reason"] == "timeout", where
        if where == "line":
            assert "error" in result.chunks[-1] and row["quota"] > 0
            continue
        assert row["quota"] == 0, where
        if result.status == 200:  # a keep-alive had committed it
            assert result.chunks[-1]["error"]["code"] == "upstream_timeout", where
        else:
            assert result.status == 504, where


def test_f31_an_event_that_takes_its_time_is_fine(case: Maker) -> None:
    """Slower than the limit of silence, but large and steady. (First content has its own limit.)"""

    def script(connection: Connection) -> None:
        connection.send(SSE_HEAD + b'data: {"id":"c","object":"chat.completion.chunk","choices":')
        connection.send(b'[{"index":0,"delta":{"content":"')
        for _ in range(15):
            time.sleep(0.3)
            connection.send(b"y" * 4000)
        connection.send(b'"}}]}\n\n' + STOP + usage(9, 5) + DONE)
        connection.sock.close()

    made = case(script, timeouts="connect=2s,first_byte=20s,idle=4s")
    result = is_ok(made.stream())
    assert result.done and result.text == "y" * 60_000
    made.account.wait_spent(WHOLE)


ENDS_EARLY = {
    "length": answer(completion())[:-10],
    "chunk": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    b"\r\n200\r\n{",
    "headers": b"HTTP/1.1 200 OK\r\nContent-Type: appl",
    "no chunk end": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(completion()), completion()),
    "nothing": b"",
}


def test_f32_an_answer_that_ends_early_is_none(case: Maker) -> None:
    for what, data in ENDS_EARLY.items():
        made = case(says(data))
        result = made.chat()
        assert result.status == 502 and "choices" not in result.json, what
        assert made.upstream.accepted >= 2, f"{what}: another attempt was made"
    made.is_free()


def test_f32_a_stream_that_ends_early(case: Maker) -> None:
    made = case(says(SSE_HEAD + delta("one") + delta(" two")))
    result = is_ok(made.stream())
    assert result.text == "one two" and not result.done
    error = result.chunks[-1]["error"]
    assert (error["type"], error["code"]) == ("server_error", "upstream_truncated")
    row = made.row(result)
    assert (row["end_reason"], row["usage_source"]) == ("eof", "counted_locally")


# --- F34, F35: no HTTP ----------------------------------------------------------------------

BODY = completion()
GARBAGE = {
    "noise": b"\x00\x01\x02\x03" * 100,
    "http/0.9": BODY,
    "bad status line": b"HTTP/1.1 abc\r\n\r\n" + BODY,
    "bad chunk size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + BODY,
    "negative chunk size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n" + BODY,
    "huge chunk size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"f" * 40
    + b"\r\n"
    + BODY,
    "zero chunk early": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + BODY,
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + BODY,
    "length with a sign": b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n" + BODY,
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: %d\r\n\r\n" % len(BODY)
    + BODY,
    "length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    b"\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY),
    "a header of 1 MB": answer(BODY, b"X-Long: " + b"x" * (1 << 20) + b"\r\n"),
    "10,000 headers": answer(BODY, b"".join(b"X-%d: x\r\n" % n for n in range(10_000))),
    "a NUL in a header": answer(BODY, b"X-Nul: a\0b\r\n"),
    "a switch of protocols": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + BODY,
}


def test_f34_f35_garbage_is_an_error_and_never_used_again(case: Maker) -> None:
    for what, data in GARBAGE.items():
        made = case(says(data, close=False))
        for result in (made.chat(), made.chat()):
            assert result.status in (502, 504), (what, result.status, result.body)
            assert b"choices" not in result.body, what
        accepted = made.upstream.accepted
        assert accepted == len(made.upstream.heads), f"{what}: a connection was used again"
    made.is_free()


def test_f34_bytes_behind_an_answer_are_not_the_next_one(case: Maker) -> None:
    """A second answer that nobody asked for: the next request gets its own."""
    numbers = iter(range(100))

    def script(connection: Connection) -> None:
        own = answer(completion(f"own {next(numbers)}"))
        connection.send(own + answer(completion("smuggled")))

    made = case(script)
    for _ in range(4):
        assert is_ok(made.chat()).text.startswith("own ")


HEADERS = {
    b"Set-Cookie": b"session=stolen",
    b"Location": b"https://evil.test/",
    b"X-Accel-Redirect": b"/etc/passwd",
    b"X-Sendfile": b"/etc/passwd",
    b"Status": b"302 Found",
    b"Content-Encoding": b"identity",
    b"Content-Disposition": b"attachment",
    b"Access-Control-Allow-Origin": b"*",
    b"Strict-Transport-Security": b"max-age=1",
    b"Via": b"1.1 upstream",
    b"Server": b"upstream",
    b"Content-Length-Hint": b"1",
    b"x-request-id": b"upstream-id",
    b"x-ratelimit-remaining-requests": b"3",
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_s3_only_allowed_headers_pass(case: Maker, stream: bool) -> None:
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in HEADERS.items())
    lines += b"openai-processing-ms: 17\r\nopenai-version: 2020-10-01\r\n folded: x\r\n"
    if stream:
        head = SSE_HEAD[:-2] + lines + b"\r\n"
        made = case(says(head + delta("fine") + STOP + usage(9, 5) + DONE))
    else:
        made = case(says(answer(BODY, lines)))
    result = is_ok(made.stream() if stream else made.chat())
    names = {name.lower() for name, _ in result.headers}
    assert names <= {
        "content-type", "x-request-id", "content-length", "cache-control", "x-accel-buffering",
        "openai-processing-ms", "openai-version",
    }  # fmt: skip
    assert result.header("openai-processing-ms") == "17"
    assert result.request_id != "upstream-id"
    assert "stolen" not in str(result.headers)


def test_fr138_many_headers_are_no_failure(case: Maker) -> None:
    lines = b"".join(b"X-Trace-%d: %s\r\n" % (n, b"t" * 200) for n in range(60))
    lines += b"openai-version: " + b"v" * 4000 + b"\r\nopenai-processing-ms: 1\x0b2\r\n"
    made = case(says(answer(BODY, lines)))
    result = is_ok(made.chat())
    assert sum(len(name) + len(value) + 4 for name, value in result.headers) < 4096
    assert result.header("openai-version") is None
    assert result.header("openai-processing-ms") is None
