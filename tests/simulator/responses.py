"""The OpenAI Responses dialect: what it costs, what an answer and an error look like.

The numbers are those of the chat dialect (dialect.py), so that an exchange costs the same in both.
"""

from __future__ import annotations

from typing import Any

from dialect import IMAGE_TOKENS, OTHER_PART_TOKENS, Answer, words

INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
ERROR = {"code": "server_error", "message": "The server had an error"}


# --- counting -------------------------------------------------------------------------------


def count_content(content: Any) -> int:
    if isinstance(content, str):
        return words(content)
    total = 0
    for part in content or []:
        if "text" in part:
            total += words(part["text"])
        else:
            total += IMAGE_TOKENS if part["type"] == "input_image" else OTHER_PART_TOKENS
    return total


def count_prompt(request: dict[str, Any]) -> int:
    total = words(request.get("instructions") or "")
    given = request.get("input") or []
    if isinstance(given, str):
        return total + words(given)
    for item in given:
        total += count_content(item.get("content") if "content" in item else item.get("output"))
    return total


def usage(used: dict[str, Any]) -> dict[str, Any]:
    """The chat dialect's usage in the words of this one."""
    details = used["prompt_tokens_details"]
    return {
        "input_tokens": used["prompt_tokens"],
        "input_tokens_details": {
            "cached_tokens": details["cached_tokens"],
            "cache_write_tokens": details.get("cache_write_tokens", 0),
        },
        "output_tokens": used["completion_tokens"],
        "output_tokens_details": {
            "reasoning_tokens": used["completion_tokens_details"]["reasoning_tokens"]
        },
        "total_tokens": used["total_tokens"],
    }


# --- answers --------------------------------------------------------------------------------


def custom_names(parsed: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in parsed.get("tools") or [] if tool["type"] == "custom"}


def envelope(answer: Answer, parsed: dict[str, Any], status: str) -> dict[str, Any]:
    return {
        "id": f"resp_sim{answer.number:06d}",
        "object": "response",
        "created_at": 1_700_000_000 + answer.number,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": parsed.get("instructions"),
        "metadata": parsed.get("metadata") or {},
        "model": answer.model,
        "output": [],
        "parallel_tool_calls": parsed.get("parallel_tool_calls", True),
        "previous_response_id": parsed.get("previous_response_id"),
        "store": parsed.get("store", True),
        "temperature": parsed.get("temperature", 1.0),
        "tool_choice": parsed.get("tool_choice", "auto"),
        "tools": parsed.get("tools") or [],
        "top_p": parsed.get("top_p", 1.0),
    }


def output(answer: Answer, parsed: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of a whole answer, in the order of their output_index."""
    items: list[dict[str, Any]] = []
    sealed = "reasoning.encrypted_content" in (parsed.get("include") or [])
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        item = {"id": f"rs_sim{answer.number:06d}", "type": "reasoning", "summary": summary}
        items.append({**item, "encrypted_content": "c2VhbGVk"} if sealed else item)
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        item = {"id": f"msg_sim{answer.number:06d}", "type": "message", "status": "completed"}
        items.append({**item, "role": "assistant", "content": [part]})
    for index, call in enumerate(answer.tool_calls):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        custom = name in custom_names(parsed)
        items.append(
            {
                "id": f"{'ctc' if custom else 'fc'}_sim{answer.number:06d}_{index}",
                "type": "custom_tool_call" if custom else "function_call",
                "status": "completed",
                "call_id": call["id"],
                "name": name,
                "input" if custom else "arguments": arguments,
            }
        )
    return items


def whole(answer: Answer, parsed: dict[str, Any], used: dict[str, Any] | None) -> dict[str, Any]:
    reason = INCOMPLETE.get(answer.finish)
    result = envelope(answer, parsed, "incomplete" if reason else "completed")
    result["output"] = output(answer, parsed)
    if reason:
        result["incomplete_details"] = {"reason": reason}
    result["usage"] = usage(used) if used is not None else None
    return result


def compacted(number: int, used: dict[str, Any]) -> dict[str, Any]:
    item = {"id": f"cmp_sim{number:06d}", "type": "compaction", "encrypted_content": "c2VhbGVk"}
    made = {"id": f"resp_sim{number:06d}", "object": "response.compaction"}
    return {**made, "created_at": 1_700_000_000, "output": [item], "usage": usage(used)}
