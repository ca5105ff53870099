"""Usage of recorded answers, read a second time and billed in exact fractions; nothing of
Tollgate's is used. Each dialect's function gives what LEDGER's sum needs, of the latest non-zero
value of every field."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

QUOTA_PER_USD = 500_000
PARTS = (
    "input", "cache_read", "cache_write_5m", "cache_write_1h", "image", "audio_in", "output",
    "audio_out",
)  # fmt: skip
DIALECTS = {
    "openai-chat": "chat",
    "openai-embeddings": "chat",
    "openai-responses": "responses",
    "anthropic-messages": "messages",
    "gemini": "gemini",
    "bedrock": "converse",
    "cohere": "cohere",
}


def parse(text: str) -> Any:
    """Some texts have an escape that was cut when they were made anonymous."""
    return json.loads(re.sub(r"(?<!\\)((?:\\\\)*)\\u(?![0-9a-fA-F]{4})", r"\1\\\\u", text))


def load(path: Path) -> dict[str, Any]:
    return parse(path.read_text())


def body_of(exchange: dict[str, Any]) -> str:
    answer = exchange["response"]
    return answer if isinstance(answer, str) else json.dumps(answer)


def events(body: str, stream: bool) -> list[dict[str, Any]]:
    if not stream:
        return [parse(body)]
    found = []
    for block in re.split(r"\r?\n\r?\n", body):
        data = "".join(line[5:] for line in block.splitlines() if line.startswith("data:"))
        if data.strip().startswith("{"):
            found.append(parse(data))
    return found


def latest(known: dict[str, Any], said: Any) -> None:
    """Fields of <said> over those that are known, objects inside likewise."""
    for key, value in (said or {}).items():
        if isinstance(value, dict):
            known[key] = known.get(key) or {}
            latest(known[key], value)
        elif value or key not in known:
            known[key] = value


def number(usage: dict[str, Any], *keys: str) -> int:
    for key in keys:
        place: Any = usage
        for name in key.split("."):
            place = place.get(name) if isinstance(place, dict) else None
        if isinstance(place, int):
            return place
    return 0


def chat(all_events: list[dict[str, Any]]) -> tuple[dict[str, int], dict[str, int]]:
    usage: dict[str, Any] = {}
    for event in all_events:
        latest(usage, event.get("usage") or (event.get("x_groq") or {}).get("usage"))
    read = number(usage, "prompt_tokens")
    if not read and not number(usage, "completion_tokens"):
        read = number(usage, "total_tokens")
    hit = ("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens")
    cached = number(usage, *hit, "num_cached_tokens")
    written = number(usage, "prompt_tokens_details.cache_write_tokens")
    audio = number(usage, "prompt_tokens_details.audio_tokens")
    image = number(usage, "prompt_tokens_details.image_tokens")
    audio_out = number(usage, "completion_tokens_details.audio_tokens")
    return {
        "input": read - cached - written - audio - image,
        "cache_read": cached,
        "cache_write_5m": written,
        "audio_in": audio,
        "image": image,
        "output": number(usage, "completion_tokens") - audio_out,
        "audio_out": audio_out,
    }, {}


def responses(all_events: list[dict[str, Any]]) -> tuple[dict[str, int], dict[str, int]]:
    answers = [event.get("response", event) for event in all_events]
    answers = [answer for answer in answers if answer.get("usage")]
    usage = answers[-1]["usage"] if answers else {}
    output = answers[-1].get("output", []) if answers else []
    cached = number(usage, "input_tokens_details.cached_tokens")
    written = number(usage, "input_tokens_details.cache_write_tokens")
    kinds = [item["type"] for item in output if searches(item)]
    return {
        "input": number(usage, "input_tokens") - cached - written,
        "cache_read": cached,
        "cache_write_5m": written,
        "output": number(usage, "output_tokens"),
    }, {
        "web_search": kinds.count("web_search_call"),
        "file_search": kinds.count("file_search_call"),
        "code_interpreter": kinds.count("code_interpreter_call"),
        "image_generation": kinds.count("image_generation_call"),
    }


def searches(item: dict[str, Any]) -> bool:
    action = (item.get("action") or {}).get("type", "search")
    return item["type"] != "web_search_call" or action == "search"


def messages(all_events: list[dict[str, Any]]) -> tuple[dict[str, int], dict[str, int]]:
    usage: dict[str, Any] = {}
    for event in all_events:
        latest(usage, (event.get("message") or {}).get("usage"))
        latest(usage, event.get("usage"))
    long_lived = number(usage, "cache_creation.ephemeral_1h_input_tokens")
    short_lived = number(usage, "cache_creation.ephemeral_5m_input_tokens")
    rest = number(usage, "cache_creation_input_tokens") - long_lived - short_lived
    return {
        "input": number(usage, "input_tokens"),
        "cache_read": number(usage, "cache_read_input_tokens"),
        "cache_write_5m": short_lived + max(0, rest),
        "cache_write_1h": long_lived,
        "output": number(usage, "output_tokens"),
    }, {"web_search": number(usage, "server_tool_use.web_search_requests")}


def gemini(all_events: list[dict[str, Any]]) -> tuple[dict[str, int], dict[str, int]]:
    usage: dict[str, Any] = {}
    grounded = False
    for event in all_events:
        latest(usage, event.get("usageMetadata"))
        for candidate in (event.get("candidates") or [])[:1]:
            grounding = candidate.get("groundingMetadata") or {}
            grounded = grounded or bool(grounding.get("webSearchQueries"))

    def modality(key: str, name: str) -> int:
        details = usage.get(key) or []
        return sum(detail["tokenCount"] for detail in details if detail["modality"] == name)

    cached = number(usage, "cachedContentTokenCount")
    audio = modality("promptTokensDetails", "AUDIO") - modality("cacheTokensDetails", "AUDIO")
    image = modality("promptTokensDetails", "IMAGE") - modality("cacheTokensDetails", "IMAGE")
    audio_out = modality("candidatesTokensDetails", "AUDIO")
    read = number(usage, "promptTokenCount") + number(usage, "toolUsePromptTokenCount")
    written = number(usage, "candidatesTokenCount") + number(usage, "thoughtsTokenCount")
    return {
        "input": read - cached - audio - image,
        "cache_read": cached,
        "audio_in": audio,
        "image": image,
        "output": written - audio_out,
        "audio_out": audio_out,
    }, {"web_search": int(grounded)}


def converse(all_events: list[dict[str, Any]]) -> tuple[dict[str, int], dict[str, int]]:
    usage = all_events[-1].get("usage") or {}
    return {
        "input": number(usage, "inputTokens"),
        "cache_read": number(usage, "cacheReadInputTokens"),
        "cache_write_5m": number(usage, "cacheWriteInputTokens"),
        "output": number(usage, "outputTokens"),
    }, {}


def cohere(all_events: list[dict[str, Any]]) -> tuple[dict[str, int], dict[str, int]]:
    usage = all_events[-1].get("usage") or all_events[-1].get("meta") or {}
    return {
        "input": number(usage, "billed_units.input_tokens", "tokens.input_tokens"),
        "output": number(usage, "billed_units.output_tokens", "tokens.output_tokens"),
    }, {}


READERS = {
    "chat": chat, "responses": responses, "messages": messages, "gemini": gemini,
    "converse": converse, "cohere": cohere,
}  # fmt: skip


def bill(dialect: str, found: list[dict[str, Any]], price: dict[str, Any], ratio: str) -> int:
    """Quota; -1 when nothing was reported."""
    parts, tools = READERS[dialect](found)
    if not any(parts.values()) and not any(tools.values()):
        return -1
    total = sum(
        tokens * Fraction(price[part]) * QUOTA_PER_USD / 1_000_000 for part, tokens in parts.items()
    )
    total += sum(calls * Fraction(price["tools"][tool]) for tool, calls in tools.items()) * (
        QUOTA_PER_USD
    )
    total *= Fraction(ratio)
    rounded = floor(total + Fraction(1, 2))
    return rounded if rounded or not total else 1
