"""Messages requests and answers: channels that speak it, bodies, and a strict reader of streams."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from harness.answer import Answer
from harness.checks import is_ok
from harness.fcgi import Exchange
from harness.money import M_REF
from harness.stack import Account, Stack

MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
NATIVE = "m-native"  # behind an Anthropic channel
CHAT = "m-ref"  # behind a chat channel
RESPONSES = "m-responses"  # behind a channel that speaks Responses
VERSION = ("anthropic-version", "2023-06-01")

_prepared: set[int] = set()


def prepare(stack: Stack) -> None:
    """Channels of other protocols beside the stack's own; once for each stack."""
    if id(stack) in _prepared:
        return
    _prepared.add(id(stack))
    stack.price(NATIVE, M_REF)
    stack.channel("claude", [NATIVE], "--provider", "anthropic")
    stack.price(RESPONSES, M_REF)
    stack.channel("responses", [RESPONSES], "--provider", "openai-responses")
    stack.wait_model(stack.account(), RESPONSES)
    stack.accounts.pop()


def messages_body(model: str, text: str = "hi", **more: Any) -> bytes:
    value = {"model": model, "max_tokens": 1000, "messages": [user(text)], **more}
    return json.dumps(value, separators=(",", ":")).encode()


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def auth(account: Account, *more: tuple[str, str]) -> list[tuple[str, str]]:
    return [("x-api-key", account.token), VERSION, ("Content-Type", "application/json"), *more]


def post(account: Account, body: bytes, *headers: tuple[str, str], uri: str = MESSAGES) -> Answer:
    return account.post(body, auth(account, *headers), uri=uri)


def ask(account: Account, model: str, text: str = "hi", **more: Any) -> Answer:
    return post(account, messages_body(model, text, **more))


def open_stream(account: Account, model: str, text: str = "hi", **more: Any) -> Exchange:
    body = messages_body(model, text, stream=True, **more)
    return account.open(body, auth(account), uri=MESSAGES)


@dataclass
class Message:
    """A message that came whole, or in a stream, put together block by block."""

    model: str = ""
    id: str = ""
    content: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    pings: int = 0

    @property
    def text(self) -> str:
        return "".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [(b["name"], b["input"]) for b in self.content if b["type"] == "tool_use"]


def whole(answer: Answer) -> Message:
    value = is_ok(answer).json
    assert value["type"] == "message" and value["role"] == "assistant"
    assert answer.header("request-id") == answer.request_id
    kept = ("model", "id", "content", "stop_reason", "usage")
    return Message(**{name: value[name] for name in kept if name in value})


def events(body: bytes) -> list[tuple[str, dict[str, Any]]]:
    """Every frame has one event line that names its data's type, and data."""
    result = []
    assert b"\r" not in body and body.endswith(b"\n\n"), body[-200:]
    for frame in body.decode().removesuffix("\n\n").split("\n\n"):
        name, *lines = frame.split("\n")
        assert name.startswith("event: ") and all(line.startswith("data: ") for line in lines)
        value = json.loads("\n".join(line[6:] for line in lines))
        assert value["type"] == name[7:], frame
        result.append((name[7:], value))
    return result


def streamed(answer: Answer, complete: bool = True) -> Message:
    """The message of a stream whose events come in the order that the SDK asks for."""
    is_ok(answer)
    assert (answer.header("content-type") or "").startswith("text/event-stream")
    made = Message()
    open_block: int | None = None
    ended = False
    for name, value in events(answer.body):
        assert not ended, f"{name} behind the end"
        if name == "ping":
            made.pings += 1
        elif name == "error":
            made.error = value["error"]
            ended = True
        elif name == "message_start":
            assert made.id == "", "two beginnings"
            made.id, made.model = value["message"]["id"], value["message"]["model"]
            made.usage = dict(value["message"].get("usage") or {})
        elif name == "content_block_start":
            assert open_block is None and value["index"] == len(made.content)
            open_block = value["index"]
            made.content.append({**value["content_block"], "json": ""})
        elif name == "content_block_delta":
            assert open_block == value["index"]
            _add(made.content[-1], value["delta"])
        elif name == "content_block_stop":
            assert open_block == value["index"]
            _close(made.content[-1])
            open_block = None
        elif name == "message_delta":
            assert open_block is None
            made.stop_reason = value["delta"]["stop_reason"]
            made.usage.update({k: v for k, v in value.get("usage", {}).items() if v is not None})
        else:
            assert name == "message_stop", name
            ended = True
    if complete:
        assert made.error is None and ended and made.stop_reason is not None, answer.body[-400:]
    return made


def _add(block: dict[str, Any], delta: dict[str, Any]) -> None:
    keys = {
        "text_delta": ("text", "text"),
        "thinking_delta": ("thinking", "thinking"),
        "signature_delta": ("signature", "signature"),
        "input_json_delta": ("json", "partial_json"),
    }
    to, source = keys[delta["type"]]
    block[to] = block.get(to, "") + delta[source]


def _close(block: dict[str, Any]) -> None:
    text = block.pop("json")
    if block["type"] == "tool_use":
        block["input"] = json.loads(text) if text else {}


def refused(answer: Answer, status: int, kind: str) -> str:
    """The answer is an error of the Messages dialect; returns its text."""
    assert answer.status == status, f"{answer.status}: {answer.body[:400]!r}"
    value = answer.json
    assert value["type"] == "error" and value["request_id"] == answer.request_id
    assert answer.header("request-id") == answer.request_id
    assert value["error"]["type"] == kind, value
    assert set(value["error"]) == {"type", "message"}
    return value["error"]["message"]
