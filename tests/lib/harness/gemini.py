"""Gemini requests and answers: channels that speak it, bodies, and a strict reader of streams."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from harness.answer import Answer
from harness.checks import is_ok
from harness.fcgi import Exchange
from harness.money import M_REF
from harness.stack import Account, Stack

NATIVE = "gemini-3-native"  # behind a Gemini channel
CHAT = "m-ref"  # behind a chat channel
CLAUDE = "m-claude-g"  # behind an Anthropic channel
RESPONSES = "m-responses-g"  # behind a channel that speaks Responses
GENERATE, STREAM, COUNT = "generateContent", "streamGenerateContent", "countTokens"

_prepared: set[int] = set()


def prepare(stack: Stack) -> None:
    """Channels of the other protocols beside the stack's own; once for each stack."""
    if id(stack) in _prepared:
        return
    _prepared.add(id(stack))
    for name, model, provider in (
        ("google", NATIVE, "gemini"),
        ("claude-g", CLAUDE, "anthropic"),
        ("responses-g", RESPONSES, "openai-responses"),
    ):
        stack.price(model, M_REF)
        stack.channel(name, [model], "--provider", provider)
    stack.wait_model(stack.account(), RESPONSES)
    stack.accounts.pop()


def uri(model: str, verb: str = GENERATE, query: str | None = None) -> str:
    if query is None:
        query = "alt=sse" if verb == STREAM else ""
    return f"/v1beta/models/{quote(model)}:{verb}" + (f"?{query}" if query else "")


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text} for text in texts]}


def gemini_body(text: str = "hi", **more: Any) -> bytes:
    return json.dumps({"contents": [user(text)], **more}, separators=(",", ":")).encode()


def auth(account: Account) -> list[tuple[str, str]]:
    return [("x-goog-api-key", account.token), ("Content-Type", "application/json")]


def post(account: Account, model: str, body: bytes, verb: str = GENERATE, **options) -> Answer:
    return account.post(body, auth(account), uri=uri(model, verb, **options))


def open_stream(account: Account, model: str, text: str = "hi", **more: Any) -> Exchange:
    return account.open(gemini_body(text, **more), auth(account), uri=uri(model, STREAM))


@dataclass
class Content:
    """An answer that came whole, or in a stream, put together part by part."""

    model: str = ""
    id: str = ""
    parts: list[dict[str, Any]] = field(default_factory=list)
    finish: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        return "".join(p["text"] for p in self.parts if "text" in p and not p.get("thought"))

    @property
    def calls(self) -> list[tuple[str, Any]]:
        made = [part["functionCall"] for part in self.parts if "functionCall" in part]
        return [(call["name"], call["args"]) for call in made]

    @property
    def turn(self) -> dict[str, Any]:
        """What a client sends back as history."""
        kept = [part for part in self.parts if part.get("text") != "" or len(part) > 1]
        return {"role": "model", "parts": kept}

    def add(self, chunk: dict[str, Any]) -> None:
        self.model, self.id = chunk["modelVersion"], chunk["responseId"]
        self.usage = chunk.get("usageMetadata", self.usage)
        for candidate in chunk["candidates"]:
            assert candidate["index"] == 0
            self.parts += candidate.get("content", {}).get("parts", [])
            self.finish = candidate.get("finishReason", self.finish)


def whole(answer: Answer) -> Content:
    made = Content()
    made.add(is_ok(answer).json)
    assert made.finish is not None
    return made


def gather(chunks: list[dict[str, Any]], complete: bool) -> Content:
    made = Content()
    for index, chunk in enumerate(chunks):
        assert made.error is None and made.finish is None, "something behind the end"
        if "error" in chunk:
            made.error = chunk["error"]
        else:
            made.add(chunk)
            assert chunk["candidates"][0]["content"]["parts"], f"chunk {index} without parts"
    if complete:
        assert made.error is None and made.finish is not None, chunks[-2:]
    return made


def streamed(answer: Answer, complete: bool = True) -> Content:
    """Nothing but data lines, each with one blank line behind."""
    is_ok(answer)
    assert (answer.header("content-type") or "").startswith("text/event-stream")
    frames = answer.body.decode().lstrip("\n").removesuffix("\n\n").split("\n\n")
    assert answer.body.endswith(b"\n\n") and all(f.lstrip("\n")[:6] == "data: " for f in frames)
    return gather([json.loads(frame.lstrip("\n")[6:]) for frame in frames], complete)


def listed(answer: Answer, complete: bool = True) -> Content:
    """The same stream as one JSON array."""
    is_ok(answer)
    assert (answer.header("content-type") or "").startswith("application/json")
    return gather(json.loads(answer.body), complete)


def refused(answer: Answer, status: int, word: str) -> str:
    """The answer is an error of Google's dialect; returns its text."""
    assert answer.status == status, f"{answer.status}: {answer.body[:400]!r}"
    error = answer.json["error"]
    assert (error["code"], error["status"]) == (status, word), error
    return error["message"]
