"""What the Responses endpoint refuses: the types of the official SDK, and the rules that go with
them. Stricter than the provider in one place: stored state is known of this run alone."""

from __future__ import annotations

import re
from typing import Any

from dialect import Refusal, wrong

NUMBER = (int, float)
CALL_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")

# Top-level members and their types; any of them may be null.
MEMBERS: dict[str, tuple[type, ...]] = {
    "background": (bool,), "context_management": (list,), "conversation": (str, dict),
    "include": (list,), "input": (str, list), "instructions": (str,),
    "max_output_tokens": (int,), "max_tool_calls": (int,), "metadata": (dict,), "model": (str,),
    "moderation": (dict,), "parallel_tool_calls": (bool,), "previous_response_id": (str,),
    "prompt": (dict,), "prompt_cache_key": (str,), "prompt_cache_options": (dict,),
    "prompt_cache_retention": (str,), "reasoning": (dict,), "safety_identifier": (str,),
    "service_tier": (str,), "store": (bool,), "stream": (bool,), "stream_options": (dict,),
    "temperature": NUMBER, "text": (dict,), "tool_choice": (str, dict), "tools": (list,),
    "top_logprobs": (int,), "top_p": NUMBER, "truncation": (str,), "user": (str,),
}  # fmt: skip
INCLUDES = {
    "file_search_call.results", "web_search_call.results", "web_search_call.action.sources",
    "message.input_image.image_url", "computer_call_output.output.image_url",
    "code_interpreter_call.outputs", "reasoning.encrypted_content",
    "message.output_text.logprobs",
}  # fmt: skip
INPUT_PARTS = {"input_text": ("text",), "input_image": (), "input_file": ()}
OUTPUT_PARTS = {"output_text": ("text",), "refusal": ("refusal",)}
TOOLS = {
    "function", "custom", "web_search", "web_search_preview", "file_search", "mcp", "namespace",
    "code_interpreter", "image_generation", "local_shell", "shell", "apply_patch", "tool_search",
    "computer", "computer_use_preview",
}  # fmt: skip
EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh", "max"}


def missing(where: str) -> Refusal:
    message = f"Missing required parameter: '{where}'."
    return Refusal(400, message, param=where, code="missing_required_parameter")


def invalid(where: str, value: Any) -> Refusal:
    return Refusal(400, f"Invalid value: {value!r}.", param=where, code="invalid_value")


def check_request(request: dict[str, Any]) -> None:
    check_members(request)
    if "model" not in request:
        raise missing("model")
    if request.get("input") is None and not request.get("prompt"):
        raise missing("input")
    if (request.get("max_output_tokens") or 16) < 16:
        raise invalid("max_output_tokens", request["max_output_tokens"])
    for index, word in enumerate(request.get("include") or []):
        if word not in INCLUDES:
            raise invalid(f"include[{index}]", word)
    effort = (request.get("reasoning") or {}).get("effort")
    if effort is not None and effort not in EFFORTS:
        raise invalid("reasoning.effort", effort)
    check_format((request.get("text") or {}).get("format"))
    check_tools(request)
    if isinstance(request.get("input"), list):
        check_items(request["input"], bool(request.get("previous_response_id")))


def check_members(request: dict[str, Any]) -> None:
    for name, value in request.items():
        if name not in MEMBERS:
            message = f"Unknown parameter: '{name}'."
            raise Refusal(400, message, param=name, code="unknown_parameter")
        kinds = MEMBERS[name]
        if value is None:
            continue
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise wrong(name, f"Invalid type for '{name}'.")


def check_format(form: dict[str, Any] | None) -> None:
    if form is None:
        return
    if form.get("type") not in ("text", "json_object", "json_schema"):
        raise invalid("text.format.type", form.get("type"))
    if form["type"] == "json_schema":
        for name in ("name", "schema"):
            if name not in form:
                raise missing(f"text.format.{name}")
    elif set(form) - {"type"}:
        raise invalid("text.format", form)


def check_tools(request: dict[str, Any]) -> None:
    names = set()
    for index, tool in enumerate(request.get("tools") or []):
        where = f"tools[{index}]"
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind not in TOOLS:
            raise invalid(f"{where}.type", kind)
        if kind not in ("function", "custom"):
            continue
        if not NAME.match(str(tool.get("name", ""))):
            raise missing(f"{where}.name")
        names.add((kind, tool["name"]))
        if kind == "function":
            if set(tool) - {"type", "name", "description", "parameters", "strict",
                            "defer_loading", "output_schema", "allowed_callers"}:  # fmt: skip
                raise invalid(where, tool)
            check_schema(where, tool)
    choice = request.get("tool_choice")
    if choice is None:
        return
    if not request.get("tools"):
        raise Refusal(400, "Tool choices are only allowed with tools.", param="tool_choice")
    if isinstance(choice, str):
        if choice not in ("auto", "none", "required"):
            raise invalid("tool_choice", choice)
        return
    allowed = choice.get("tools", []) if choice.get("type") == "allowed_tools" else [choice]
    for one in allowed:
        named = one.get("type") in ("function", "custom")
        if named and (one["type"], one.get("name")) not in names:
            raise invalid("tool_choice", choice)


def check_schema(where: str, tool: dict[str, Any]) -> None:
    """Strict is the rule, and a strict schema is closed and requires everything."""
    schema = tool.get("parameters")
    if schema is None:
        return
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise invalid(f"{where}.parameters", schema)
    if tool.get("strict") is False:
        return
    if tool.get("strict") is None:
        return  # the provider tries, and does without
    if schema.get("additionalProperties") is not False or set(schema.get("required", [])) != set(
        schema.get("properties", {})
    ):
        raise Refusal(400, f"Invalid schema for function '{tool['name']}'.", param=where,
                      code="invalid_function_parameters")  # fmt: skip


# --- items ----------------------------------------------------------------------------------


def check_items(items: list[Any], continues: bool) -> None:
    calls: dict[str, str] = {}
    answered: set[str] = set()
    for index, item in enumerate(items):
        where = f"input[{index}]"
        if not isinstance(item, dict):
            raise wrong(where, "expected an object")
        kind = item.get("type", "message")
        if kind == "message":
            check_message(where, item)
        elif kind in ("function_call", "custom_tool_call"):
            check_call(where, item)
            calls[item["call_id"]] = kind
        elif kind in ("function_call_output", "custom_tool_call_output"):
            made = calls.get(item.get("call_id", ""))
            if made is None and not continues:
                message = f"No tool call found for function call output {item.get('call_id')}."
                raise Refusal(400, message, param="input")
            if made is not None and kind != made + "_output":
                raise invalid(f"{where}.type", kind)
            check_output(where, item)
            answered.add(item["call_id"])
        elif kind == "reasoning":
            check_reasoning(where, item, items[index + 1 :])
        elif kind not in ("item_reference", "compaction", "web_search_call", "mcp_call"):
            raise invalid(f"{where}.type", kind)
    if set(calls) - answered:
        name = sorted(set(calls) - answered)[0]
        raise Refusal(400, f"No tool output found for function call {name}.", param="input")


def check_message(where: str, item: dict[str, Any]) -> None:
    if set(item) - {"type", "role", "content", "id", "status", "phase"}:
        raise invalid(where, item)
    role = item.get("role")
    if role not in ("user", "assistant", "system", "developer"):
        raise invalid(f"{where}.role", role)
    content = item.get("content")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise wrong(f"{where}.content", "expected a string or an array")
    allowed = OUTPUT_PARTS if role == "assistant" else INPUT_PARTS
    for number, part in enumerate(content):
        check_part(f"{where}.content[{number}]", part, allowed)


def check_part(where: str, part: Any, allowed: dict[str, tuple[str, ...]]) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in allowed:
        message = f"Invalid value: {kind!r}. Supported values are: {sorted(allowed)}."
        raise Refusal(400, message, param=where, code="invalid_value")
    for name in allowed[kind]:
        if not isinstance(part.get(name), str):
            raise missing(f"{where}.{name}")
    if kind == "input_image" and not (part.get("image_url") or part.get("file_id")):
        raise missing(f"{where}.image_url")
    if kind == "input_file" and not any(
        part.get(name) for name in ("file_data", "file_id", "file_url")
    ):
        raise missing(f"{where}.file_id")


def check_call(where: str, item: dict[str, Any]) -> None:
    if not CALL_ID.match(str(item.get("call_id", ""))):
        raise invalid(f"{where}.call_id", item.get("call_id"))
    if not NAME.match(str(item.get("name", ""))):
        raise invalid(f"{where}.name", item.get("name"))
    key = "arguments" if item["type"] == "function_call" else "input"
    if not isinstance(item.get(key), str):
        raise missing(f"{where}.{key}")


def check_output(where: str, item: dict[str, Any]) -> None:
    given = item.get("output")
    if isinstance(given, list):
        for number, part in enumerate(given):
            check_part(f"{where}.output[{number}]", part, INPUT_PARTS)
    elif not isinstance(given, str):
        raise missing(f"{where}.output")


def check_reasoning(where: str, item: dict[str, Any], behind: list[Any]) -> None:
    if not isinstance(item.get("summary"), list):
        raise missing(f"{where}.summary")
    if str(item.get("encrypted_content") or "").startswith("gw1."):
        raise Refusal(400, "The encrypted content could not be verified.", param=where,
                      code="invalid_encrypted_content")  # fmt: skip
    following = behind[0] if behind and isinstance(behind[0], dict) else {}
    own = following.get("role") == "assistant" or "call_id" in following
    if not own and following.get("type") != "reasoning":
        message = "Item of type 'reasoning' was provided without its required following item."
        raise Refusal(400, message, param=where)
