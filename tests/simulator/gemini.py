"""The Gemini dialect: access, what it costs, what an answer and an error look like.

The numbers are those of the chat dialect (dialect.py), so that an exchange costs the same in both:
thoughts are beside candidates here, and part of completion_tokens there.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from dialect import IMAGE_TOKENS, OTHER_PART_TOKENS, Answer, Refusal, encode, words
from state import State
from wire import Request

PATH = re.compile(r"/models/([^/]+):(generateContent|streamGenerateContent|countTokens)$")
FINISHES = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP",
            "content_filter": "SAFETY"}  # fmt: skip
STATUSES = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    409: "ABORTED", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL",
    501: "UNIMPLEMENTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}  # fmt: skip


@dataclass
class GeminiRefusal(Refusal):
    """An error answer in this provider's shape."""

    def body(self) -> bytes:
        status = STATUSES.get(self.status, "INVALID_ARGUMENT")
        error: dict[str, Any] = {"code": self.status, "message": self.message, "status": status}
        waits = [value for name, value in self.headers if name == "Retry-After"]
        if waits:
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            error["details"] = [{"@type": kind, "retryDelay": f"{waits[0]}s"}]
        return encode({"error": error})


def in_shape(refusal: Refusal) -> GeminiRefusal:
    """A refusal of the chat dialect as this provider words it."""
    status = {422: 400, 405: 404, 402: 403, 413: 400}.get(refusal.status, refusal.status)
    return GeminiRefusal(status, refusal.message, headers=refusal.headers)


def is_ours(request: Request) -> bool:
    return PATH.search(request.path) is not None


def authorize(state: State, request: Request) -> str:
    """The key stands in its header alone: one in a URL would end up in logs."""
    key = request.header("x-goog-api-key")
    if "key" in request.query:
        raise GeminiRefusal(400, "the key must not stand in the URL")
    if key is None or request.header("authorization") is not None:
        raise GeminiRefusal(403, "Method doesn't allow unregistered callers.")
    if key not in state.keys:
        raise GeminiRefusal(400, "API key not valid. Please pass a valid API key.")
    return key


def asked(request: Request) -> tuple[str, str]:
    """Model and verb of a path; a stream comes as events only."""
    match = PATH.search(request.path)
    assert match is not None
    if match[2] == "streamGenerateContent" and request.query.get("alt") != ["sse"]:
        raise GeminiRefusal(400, "only alt=sse is played here")
    return unquote(match[1]), match[2]


def as_chat(parsed: dict[str, Any], model: str, verb: str) -> dict[str, Any]:
    """What the scenarios look for in a request, under the names of the chat dialect."""
    tools = [
        {"name": function["name"]}
        for tool in parsed.get("tools") or []
        for function in tool.get("functionDeclarations") or []
    ]
    messages = []
    for content in parsed["contents"]:
        kinds = [{"type": "tool_use"} for part in content["parts"] if "functionCall" in part]
        role = "assistant" if content.get("role") == "model" else "user"
        messages.append({"role": role, "content": kinds})
    limit = (parsed.get("generationConfig") or {}).get("maxOutputTokens")
    return {
        "model": model,
        "stream": verb == "streamGenerateContent",
        "tools": tools,
        "messages": messages,
        "max_tokens": limit,
        "prompt": count_prompt(parsed),
    }


# --- counting -------------------------------------------------------------------------------


def count_prompt(request: dict[str, Any]) -> int:
    system = request.get("systemInstruction") or {"parts": []}
    return sum(count_parts(content["parts"]) for content in [system, *request["contents"]])


def count_parts(parts: list[dict[str, Any]]) -> int:
    total = 0
    for part in parts:
        total += words(part.get("text", ""))
        if "functionResponse" in part:
            values = part["functionResponse"]["response"].values()
            total += sum(words(value) for value in values if isinstance(value, str))
        if "inlineData" in part:
            image = part["inlineData"]["mimeType"].startswith("image/")
            total += IMAGE_TOKENS if image else OTHER_PART_TOKENS
    return total


def usage(used: dict[str, Any]) -> dict[str, Any]:
    """The chat dialect's usage in the words of this one."""
    thoughts = used["completion_tokens_details"]["reasoning_tokens"]
    cached = used["prompt_tokens_details"]["cached_tokens"]
    made = {
        "promptTokenCount": used["prompt_tokens"],
        "candidatesTokenCount": used["completion_tokens"] - thoughts,
        "totalTokenCount": used["prompt_tokens"] + used["completion_tokens"],
    }
    made |= {"thoughtsTokenCount": thoughts} if thoughts else {}
    return made | ({"cachedContentTokenCount": cached} if cached else {})


# --- answers --------------------------------------------------------------------------------


def envelope(answer: Answer) -> dict[str, Any]:
    return {"modelVersion": answer.model, "responseId": f"sim{answer.number:06d}"}


def signature(answer: Answer) -> str:
    return f"c2lnbmF0dXJl{answer.number:06d}aa"


def call_part(answer: Answer, call: dict[str, Any]) -> dict[str, Any]:
    """The first call of an answer is signed."""
    function = call["function"]
    made = {"id": call["id"], "name": function["name"], "args": json.loads(function["arguments"])}
    part: dict[str, Any] = {"functionCall": made}
    if call["id"] == answer.tool_calls[0]["id"]:
        part["thoughtSignature"] = signature(answer)
    return part


def candidate(parts: list[dict[str, Any]], finish: str | None) -> dict[str, Any]:
    made: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    return made if finish is None else {**made, "finishReason": FINISHES[finish]}


def whole(answer: Answer, used: dict[str, Any] | None) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if answer.reasoning:
        parts.append({"text": answer.reasoning, "thought": True})
    if answer.text or not answer.tool_calls:
        parts.append({"text": answer.text})
    parts += [call_part(answer, call) for call in answer.tool_calls]
    result = {"candidates": [candidate(parts, answer.finish)], **envelope(answer)}
    return result if used is None else {**result, "usageMetadata": usage(used)}
