"""The Anthropic Messages dialect: access, what it costs, what an answer and an error look like.

The numbers are those of the chat dialect (dialect.py), so that an exchange costs the same in both:
input_tokens is what a chat answer's prompt_tokens is without its cached and written parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dialect import IMAGE_TOKENS, OTHER_PART_TOKENS, Answer, Refusal, encode, words
from state import State
from wire import Request

VERSIONS = {"2023-06-01", "2026-10-21"}
STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
ERROR_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
    403: "permission_error", 404: "not_found_error", 413: "request_too_large",
    429: "rate_limit_error", 500: "api_error", 503: "overloaded_error", 504: "timeout_error",
    529: "overloaded_error",
}  # fmt: skip


@dataclass
class MessagesRefusal(Refusal):
    """An error answer in this provider's shape."""

    def body(self) -> bytes:
        kind = ERROR_TYPES.get(self.status, "invalid_request_error")
        error = {"type": kind, "message": self.message}
        return encode({"type": "error", "error": error, "request_id": "req_sim"})


def in_shape(refusal: Refusal) -> MessagesRefusal:
    """A refusal of the chat dialect as this provider words it."""
    status = {422: 400, 405: 404, 503: 529}.get(refusal.status, refusal.status)
    return MessagesRefusal(status, refusal.message, headers=refusal.headers)


def authorize(state: State, request: Request) -> str:
    """The key of the one credential: x-api-key, or a bearer as newer SDKs send it."""
    bearer, key = request.header("authorization"), request.header("x-api-key")
    if (bearer is None) == (key is None) or request.header_count("x-api-key") > 1:
        raise MessagesRefusal(401, "one x-api-key or Authorization header is required")
    key = key or (bearer or "").removeprefix("Bearer ")
    if key not in state.keys:
        raise MessagesRefusal(401, "invalid x-api-key")
    if request.header_count("anthropic-version") != 1:
        raise MessagesRefusal(400, "anthropic-version: header is required")
    if request.header("anthropic-version") not in VERSIONS:
        raise MessagesRefusal(400, "anthropic-version: this is no known version")
    return key


# --- counting -------------------------------------------------------------------------------


def count_prompt(request: dict[str, Any]) -> int:
    total = count_content(request.get("system") or "")
    return total + sum(count_content(message["content"]) for message in request["messages"])


def count_content(content: Any) -> int:
    if isinstance(content, str):
        return words(content)
    total = 0
    for block in content or []:
        kind = block["type"]
        if kind == "text":
            total += words(block["text"])
        elif kind == "tool_result":
            total += count_content(block.get("content"))
        elif kind == "image":
            total += IMAGE_TOKENS
        elif kind == "document":
            total += OTHER_PART_TOKENS
    return total


def usage(used: dict[str, Any]) -> dict[str, Any]:
    """The chat dialect's usage in the words of this one."""
    details = used["prompt_tokens_details"]
    read, written = details["cached_tokens"], details.get("cache_write_tokens", 0)
    return {
        "input_tokens": used["prompt_tokens"] - read - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": used["completion_tokens"],
        "service_tier": "standard",
    }


# --- answers --------------------------------------------------------------------------------


def envelope(answer: Answer) -> dict[str, Any]:
    return {
        "id": f"msg_sim{answer.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
    }


def signature(answer: Answer) -> str:
    return f"c2lnbmF0dXJlLXNpbQ{answer.number:06d}=="


def whole(answer: Answer, used: dict[str, Any] | None, arguments) -> dict[str, Any]:
    """<arguments> turns the text of a call's arguments into its input."""
    content: list[dict[str, Any]] = []
    if answer.reasoning:
        thought = {"type": "thinking", "thinking": answer.reasoning}
        content.append({**thought, "signature": signature(answer)})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for call in answer.tool_calls:
        made = {"type": "tool_use", "id": call["id"], "name": call["function"]["name"]}
        content.append({**made, "input": arguments(call["function"]["arguments"])})
    result = {**envelope(answer), "content": content}
    result["stop_reason"] = STOP_REASONS[answer.finish]
    result["stop_sequence"] = None
    if used is not None:
        result["usage"] = usage(used)
    return result
