"""What the Anthropic provider refuses: the types of its SDK, and the rules of its documents.

Stricter than the provider in one place: two messages of one role in a row are refused, so that
what a converter sends is in its final form.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from messages import MessagesRefusal

ID = re.compile(r"^[a-zA-Z0-9_-]+$")
NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
PICTURES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
BETA_FIELDS = {"context_management": "context-management", "mcp_servers": "mcp-client"}
NUMBER = (int, float)

# Top-level members and their types.
MEMBERS: dict[str, tuple[type, ...]] = {
    "model": (str,), "max_tokens": (int,), "messages": (list,), "system": (str, list),
    "stream": (bool,), "temperature": NUMBER, "top_p": NUMBER, "top_k": (int,),
    "stop_sequences": (list,), "metadata": (dict,), "tools": (list,), "tool_choice": (dict,),
    "thinking": (dict,), "service_tier": (str,), "output_config": (dict,), "container": (str, dict),
    "cache_control": (dict,), "inference_geo": (str,), "context_management": (dict,),
    "mcp_servers": (list,), "speed": (str,),
}  # fmt: skip

USER_BLOCKS = {"text", "image", "document", "tool_result", "search_result"}
ASSISTANT_BLOCKS = {
    "text", "thinking", "redacted_thinking", "tool_use", "server_tool_use",
    "web_search_tool_result", "code_execution_tool_result",
}  # fmt: skip
RESULT_BLOCKS = {"text", "image", "document", "search_result"}


def wrong(where: str, what: str) -> MessagesRefusal:
    return MessagesRefusal(400, f"{where}: {what}")


def check_request(request: dict[str, Any], header, counting: bool = False) -> None:
    """<header> gives the value of a request header by its name."""
    check_members(request, header("anthropic-beta"))
    if header("anthropic-version") == "2026-10-21":
        for name in ("temperature", "top_p", "top_k"):
            if name in request:
                raise wrong(name, "Extra inputs are not permitted")
    for name in ("model", "messages") + (() if counting else ("max_tokens",)):
        if name not in request:
            raise wrong(name, "Field required")
    if not counting and request["max_tokens"] < 1:
        raise wrong("max_tokens", "Input should be greater than or equal to 1")
    check_sampling(request)
    if isinstance(request.get("system"), list):
        for index, block in enumerate(request["system"]):
            check_block(f"system.{index}", block, {"text"})
    check_tools(request)
    check_thinking(request)
    check_turns(request["messages"])


def check_members(request: dict[str, Any], beta: str | None) -> None:
    for name, value in request.items():
        if name not in MEMBERS:
            raise wrong(name, "Extra inputs are not permitted")
        kinds = MEMBERS[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise wrong(name, "Input should be a valid " + kinds[0].__name__)
        if name in BETA_FIELDS and BETA_FIELDS[name] not in (beta or ""):
            raise wrong(name, "Extra inputs are not permitted")


def check_sampling(request: dict[str, Any]) -> None:
    for name in ("temperature", "top_p"):
        if not 0 <= request.get(name, 0) <= 1:
            raise wrong(name, "range: 0..1")
    for index, text in enumerate(request.get("stop_sequences", [])):
        if not isinstance(text, str) or not text.strip():
            raise wrong(f"stop_sequences.{index}", "each stop sequence must contain non-whitespace")
    user = request.get("metadata", {}).get("user_id")
    if set(request.get("metadata", {})) - {"user_id"} or (user is not None and len(user) > 256):
        raise wrong("metadata", "only user_id, of at most 256 characters")


def check_tools(request: dict[str, Any]) -> None:
    names = set()
    for index, tool in enumerate(request.get("tools", [])):
        where = f"tools.{index}"
        if not isinstance(tool, dict) or not NAME.match(str(tool.get("name", ""))):
            raise wrong(f"{where}.name", "String should match pattern " + NAME.pattern)
        if tool["name"] in names:
            raise wrong("tools", "Tool names must be unique.")
        names.add(tool["name"])
        if tool.get("type", "custom") == "custom":
            schema = tool.get("input_schema")
            if not isinstance(schema, dict) or schema.get("type") != "object":
                raise wrong(f"{where}.input_schema.type", "Input should be 'object'")
    choice = request.get("tool_choice")
    if choice is None:
        return
    if choice.get("type") not in ("auto", "any", "tool", "none"):
        raise wrong("tool_choice.type", "unknown")
    if not names:
        raise wrong("tool_choice", "tool_choice may only be specified while providing tools")
    if choice["type"] == "tool" and choice.get("name") not in names:
        raise wrong("tool_choice", f"Tool '{choice.get('name')}' not found in provided tools")
    if choice["type"] == "none" and "disable_parallel_tool_use" in choice:
        raise wrong("tool_choice.none.disable_parallel_tool_use", "Extra inputs are not permitted")


def check_thinking(request: dict[str, Any]) -> None:
    thinking = request.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type")
    if kind not in ("enabled", "disabled", "adaptive"):
        raise wrong("thinking.type", "unknown")
    if kind == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or budget < 1024:
            raise wrong("thinking.enabled.budget_tokens", "should be at least 1024")
        if budget >= request.get("max_tokens", budget + 1):
            raise wrong("max_tokens", "must be greater than `thinking.budget_tokens`")
    if kind == "disabled":
        return
    if request.get("temperature", 1) != 1:
        raise wrong("temperature", "may only be set to 1 when thinking is enabled")
    if "top_k" in request:
        raise wrong("top_k", "must be unset when thinking is enabled")
    if request.get("tool_choice", {}).get("type") in ("any", "tool"):
        raise wrong("tool_choice", "Thinking may not be enabled when tool_choice forces tool use.")


# --- messages -------------------------------------------------------------------------------


def check_turns(messages: list[Any]) -> None:
    if not messages:
        raise wrong("messages", "at least one message is required")
    waiting: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        if not isinstance(message, dict) or set(message) - {"role", "content"}:
            raise wrong(where, "Extra inputs are not permitted")
        role = message.get("role")
        if role != ("user", "assistant")[index % 2]:
            raise wrong(where, "roles must alternate between user and assistant, user first")
        blocks = blocks_of(where, message)
        check_results(where, blocks, waiting)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(waiting)) != len(waiting):
            raise wrong(where, "`tool_use` ids must be unique")
    if waiting:
        raise wrong(where, "`tool_use` ids were found without `tool_result` blocks after them")
    if messages[-1]["role"] == "assistant" and blocks and blocks[-1]["type"] == "text":
        if blocks[-1]["text"] != blocks[-1]["text"].rstrip():
            raise wrong("messages", "final assistant content cannot end with trailing whitespace")


def blocks_of(where: str, message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content:
        raise wrong(f"{where}.content", "all messages must have non-empty content")
    allowed = USER_BLOCKS if message["role"] == "user" else ASSISTANT_BLOCKS
    for index, block in enumerate(content):
        check_block(f"{where}.content.{index}", block, allowed)
    return content


def check_results(where: str, blocks: list[dict[str, Any]], waiting: list[str]) -> None:
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    for block in blocks[: len(results)]:
        if block["type"] != "tool_result":
            raise wrong(where, "`tool_result` blocks must come first in the content")
    if sorted(results) != sorted(waiting):
        raise wrong(where, "`tool_use` ids and the `tool_result` blocks right after differ")


def check_block(where: str, block: Any, allowed: set[str]) -> None:
    if not isinstance(block, dict) or block.get("type") not in allowed:
        raise wrong(where, f"Input tag should be one of {sorted(allowed)}")
    kind = block["type"]
    if kind == "text" and (not isinstance(block.get("text"), str) or not block["text"]):
        raise wrong(where, "text content blocks must be non-empty")
    if kind == "thinking" and not (
        isinstance(block.get("thinking"), str) and block.get("signature")
    ):
        raise wrong(where, "a thinking block needs its text and its signature")
    if kind == "tool_use":
        if not ID.match(str(block.get("id", ""))) or not NAME.match(str(block.get("name", ""))):
            raise wrong(where, "id or name does not match its pattern")
        if not isinstance(block.get("input"), dict):
            raise wrong(f"{where}.input", "Input should be a valid dictionary")
    if kind == "tool_result":
        check_result(where, block)
    if kind in ("image", "document"):
        check_source(where, block.get("source"), kind)


def check_result(where: str, block: dict[str, Any]) -> None:
    if not ID.match(str(block.get("tool_use_id", ""))):
        raise wrong(f"{where}.tool_use_id", "String should match pattern " + ID.pattern)
    if set(block) - {"type", "tool_use_id", "content", "is_error", "cache_control"}:
        raise wrong(where, "Extra inputs are not permitted")
    content = block.get("content", "")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise wrong(f"{where}.content", "Input should be a valid list")
    for index, part in enumerate(content):
        check_block(f"{where}.content.{index}", part, RESULT_BLOCKS)


def check_source(where: str, source: Any, kind: str) -> None:
    if not isinstance(source, dict):
        raise wrong(f"{where}.source", "Field required")
    if source.get("type") == "base64":
        if kind == "image" and source.get("media_type") not in PICTURES:
            raise wrong(f"{where}.source.media_type", "unknown media type")
        try:
            base64.b64decode(source.get("data", ""), validate=True)
        except (binascii.Error, ValueError):
            raise wrong(f"{where}.source.data", "invalid base64") from None
    elif source.get("type") == "url":
        if not str(source.get("url", "")).startswith("https://"):
            raise wrong(f"{where}.source.url", "Only HTTPS URLs are supported.")
    elif source.get("type") not in ("text", "content", "file"):
        raise wrong(f"{where}.source", "unknown type")
