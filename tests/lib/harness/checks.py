"""Assertions that several suites make."""

from __future__ import annotations

import json
import re

from harness.answer import Answer

UUID7 = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")


def is_error(answer: Answer, status: int, kind: str, code: str | None) -> dict:
    """The answer is an error of the chat dialect with these words; returns the error object."""
    assert answer.status == status, f"{answer.status}: {answer.body[:400]!r}"
    assert (answer.header("content-type") or "").startswith("application/json")
    error = answer.error
    assert (error["type"], error["code"]) == (kind, code), error
    assert isinstance(error["message"], str) and error["message"]
    assert "param" in error
    assert UUID7.match(answer.request_id), answer.request_id
    return error


def is_ok(answer: Answer) -> Answer:
    assert answer.status == 200, f"{answer.status}: {answer.body[:600]!r}"
    assert UUID7.match(answer.request_id), answer.request_id
    return answer


def whole_stream(answer: Answer) -> Answer:
    """A stream that says [DONE] once, at its end, framed with LF."""
    is_ok(answer)
    assert (answer.header("content-type") or "").startswith("text/event-stream")
    assert answer.header("content-length") is None
    assert answer.event_data.count(b"[DONE]") == 1 and answer.done, answer.body[-300:]
    assert b"\r" not in answer.body
    return answer


def spliced(client: bytes, model: str | None = None, usage: bool = False) -> bytes | dict:
    """What the upstream must get for the client's bytes; only model and include_usage may differ.

    Returned as a parsed value when include_usage had to be added (where it goes is Tollgate's
    choice), else as the very bytes.
    """
    if model is not None:
        old = json.loads(client)["model"]
        pattern = re.compile(rb'("model"\s*:\s*)' + re.escape(json.dumps(old).encode()))
        client, count = pattern.subn(lambda m: m[1] + json.dumps(model).encode(), client)
        assert count == 1, "the test's body must name its model once"
    if not usage:
        return client
    value = json.loads(client)
    value["stream_options"] = {**(value.get("stream_options") or {}), "include_usage": True}
    return value


def only_inserted(client: bytes, upstream: bytes) -> bool:
    """The upstream's bytes are the client's with one piece put in, nothing else moved."""
    more = len(upstream) - len(client)
    same = 0
    while same < len(client) and client[same] == upstream[same]:
        same += 1
    return more > 0 and upstream[same + more :] == client[same:]
