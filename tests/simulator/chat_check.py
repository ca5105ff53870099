"""What the chat provider refuses beyond dialect.py: asked for by /_sim/settings {"strict": true}.

Made from the types of its SDK. Off by default, since other vendors of the dialect take more.
"""

from __future__ import annotations

import json
import re
from typing import Any

from dialect import Refusal

NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
MEMBERS = {
    "messages", "model", "audio", "frequency_penalty", "function_call", "functions", "logit_bias",
    "logprobs", "max_completion_tokens", "max_tokens", "metadata", "modalities", "n",
    "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key",
    "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed",
    "service_tier", "stop", "store", "stream", "stream_options", "temperature", "tool_choice",
    "tools", "top_logprobs", "top_p", "user", "verbosity", "web_search_options",
}  # fmt: skip
MESSAGE = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "refusal", "audio", "tool_calls", "function_call"},
    "tool": {"role", "content", "tool_call_id"},
    "function": {"role", "content", "name"},
}
PARTS = {
    "text": {"type", "text"},
    "image_url": {"type", "image_url"},
    "input_audio": {"type", "input_audio"},
    "file": {"type", "file"},
    "refusal": {"type", "refusal"},
}
EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh"}


def wrong(where: str, what: str) -> Refusal:
    return Refusal(400, f"{where}: {what}", param=where, code="strict")


def only(where: str, value: dict[str, Any], allowed: set[str]) -> None:
    for name in value:
        if name not in allowed:
            raise wrong(f"{where}.{name}".lstrip("."), "Unknown parameter")


def check_strict(request: dict[str, Any]) -> None:
    only("", request, MEMBERS)
    if request.get("reasoning_effort", "none") not in EFFORTS:
        raise wrong("reasoning_effort", "invalid value")
    stop = request.get("stop")
    if isinstance(stop, list) and not 1 <= len(stop) <= 4:
        raise wrong("stop", "between 1 and 4 sequences")
    if not 0 <= request.get("temperature", 1) <= 2 or not 0 <= request.get("top_p", 1) <= 1:
        raise wrong("temperature", "out of range")
    if len(request.get("safety_identifier", "")) > 64:
        raise wrong("safety_identifier", "too long")
    check_tools(request)
    waiting: list[str] = []
    for index, message in enumerate(request["messages"]):
        waiting = check_message(f"messages.{index}", message, waiting)
    if waiting:
        raise wrong("messages", f"tool_call_ids without a tool message: {waiting}")


def check_tools(request: dict[str, Any]) -> None:
    tools = request.get("tools")
    names = set()
    if tools is not None and not 1 <= len(tools) <= 128:
        raise wrong("tools", "between 1 and 128")
    for index, tool in enumerate(tools or []):
        where = f"tools.{index}"
        if tool.get("type") != "function":
            continue
        only(where, tool, {"type", "function"})
        function = tool["function"]
        only(f"{where}.function", function, {"name", "description", "parameters", "strict"})
        if not NAME.match(function.get("name", "")):
            raise wrong(f"{where}.function.name", "does not match " + NAME.pattern)
        schema = function.get("parameters", {"type": "object"})
        if schema.get("type") != "object":
            raise wrong(f"{where}.function.parameters", "schema must be of type object")
        names.add(function["name"])
    choice = request.get("tool_choice")
    if tools is None and (choice is not None or "parallel_tool_calls" in request):
        raise wrong("tool_choice", "only allowed when tools are specified")
    if isinstance(choice, dict) and choice.get("type") == "function":
        if choice["function"]["name"] not in names:
            raise wrong("tool_choice", "names no tool")


def check_message(where: str, message: dict[str, Any], waiting: list[str]) -> list[str]:
    """Returns the calls that the next messages have to answer."""
    role = message["role"]
    only(where, message, MESSAGE[role])
    content = message.get("content")
    if role == "tool":
        if message.get("tool_call_id") not in waiting:
            raise wrong(where, "a tool message must follow the call that it answers")
        return [call for call in waiting if call != message["tool_call_id"]]
    if waiting:
        raise wrong(where, f"tool_call_ids without a tool message: {waiting}")
    if isinstance(content, list):
        check_parts(f"{where}.content", content, role)
    if role != "assistant":
        return []
    calls = message.get("tool_calls")
    if calls is None:
        if content in (None, "", []):
            raise wrong(f"{where}.content", "required when there are no tool calls")
        return []
    for call in calls:
        only(f"{where}.tool_calls", call, {"id", "type", "function"})
        json.loads(call["function"]["arguments"])
        if not call["id"] or not NAME.match(call["function"]["name"]):
            raise wrong(f"{where}.tool_calls", "id or name")
    return [call["id"] for call in calls]


def check_parts(where: str, parts: list[dict[str, Any]], role: str) -> None:
    if not parts:
        raise wrong(where, "empty")
    for part in parts:
        only(where, part, PARTS[part["type"]])
        if role != "user" and part["type"] not in ("text", "refusal"):
            raise wrong(where, f"a {part['type']} part in a message of role {role}")
        if part["type"] == "image_url":
            only(f"{where}.image_url", part["image_url"], {"url", "detail"})
        if part["type"] == "text" and not part["text"]:
            raise wrong(where, "an empty text")
