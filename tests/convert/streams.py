"""Random upstream streams of every protocol: legal ones, and the odd ones that servers send."""

from __future__ import annotations

import json
import random
from typing import Any

Event = dict[str, Any]
TEXTS = ["Hel", "lo", " ", "\n", "ä€𝄞", '"q"', "\\", "", "a" * 40]
FINISHES = ["stop", "length", "tool_calls", "content_filter", None]


def cut(text: str, rng: random.Random) -> list[str]:
    pieces, at = [], 0
    while at < len(text):
        length = rng.randint(1, max(1, len(text) // 2))
        pieces.append(text[at : at + length])
        at += length
    return pieces or [""]


def arguments(rng: random.Random) -> str:
    value = {rng.choice("abc"): rng.choice([1, "x{y", [1, {"k": "]"}], None, 'q"'])}
    return rng.choice(["", "{}", json.dumps(value), json.dumps({"n": value})])


# --- Chat -----------------------------------------------------------------------------------------


def chunk(delta: Event, finish: str | None = None) -> Event:
    return {
        "id": "chatcmpl-r",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "gpt-r",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def calls(rng: random.Random) -> list[Event]:
    """Deltas of one to three calls, whose fragments may come interleaved."""
    lanes = []
    for index in range(rng.randint(1, 3)):
        head = {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": rng.choice(["a", "b_c"]), "arguments": ""},
        }
        pieces = cut(arguments(rng), rng)
        lanes.append([head, *({"index": index, "function": {"arguments": p}} for p in pieces)])
    deltas = []
    while any(lanes):
        lane = rng.choice([lane for lane in lanes if lane]) if rng.random() < 0.3 else next(
            lane for lane in lanes if lane
        )
        deltas.append({"tool_calls": [lane.pop(0)]})
    return deltas


def chat(rng: random.Random) -> list[Event]:
    deltas: list[Event] = [{"role": "assistant", "content": ""}]
    for _ in range(rng.randint(0, 6)):
        kind = rng.random()
        if kind < 0.45:
            deltas.append({"content": rng.choice(TEXTS)})
        elif kind < 0.7:
            deltas.append({"reasoning_content": rng.choice(TEXTS)})
        elif kind < 0.75:
            deltas.append({"refusal": rng.choice(TEXTS)})
        elif kind < 0.8:
            deltas.append({"reasoning_details": [detail(rng)]})
        else:
            deltas.append({})
    if rng.random() < 0.5:
        at = rng.randint(1, len(deltas))
        deltas[at:at] = calls(rng)
    events = [chunk(delta) for delta in deltas]
    finish = rng.choice(FINISHES)
    if finish is not None:
        events.append(chunk({}, finish))
    if rng.random() < 0.8:
        events.append(usage_chunk(rng))
    return events


def detail(rng: random.Random) -> Event:
    return rng.choice(
        [
            {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0, "text": "t",
             "signature": "SIG"},
            {"type": "reasoning.encrypted", "format": "anthropic-claude-v1", "index": 0,
             "data": "RED"},
            {"type": "reasoning.encrypted", "format": "google-gemini-v1", "index": 0, "data": "G"},
            {"type": "reasoning.encrypted", "format": "openai-responses-v1", "index": 0,
             "id": "rs_1", "data": "E"},
        ]
    )  # fmt: skip


def usage_chunk(rng: random.Random) -> Event:
    read, cached = rng.randint(0, 50), rng.randint(0, 20)
    return {
        **chunk({}),
        "choices": [],
        "usage": {
            "prompt_tokens": read + cached,
            "completion_tokens": 7 + rng.randint(0, 9),
            "total_tokens": 0,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": rng.randint(0, 7)},
        },
    }


# --- Messages -------------------------------------------------------------------------------------


def block(index: int, rng: random.Random) -> list[Event]:
    def start(content: Event) -> Event:
        return {"type": "content_block_start", "index": index, "content_block": content}

    def delta(kind: str, key: str, text: str) -> Event:
        return {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": kind, key: text},
        }

    kind = rng.choice(["text", "thinking", "tool_use", "redacted_thinking", "server_tool_use"])
    events = []
    if kind == "text":
        events.append(start({"type": "text", "text": rng.choice(["", "", "pre"])}))
        events += [delta("text_delta", "text", rng.choice(TEXTS)) for _ in range(rng.randint(0, 3))]
    elif kind == "thinking":
        events.append(start({"type": "thinking", "thinking": "", "signature": ""}))
        for _ in range(rng.randint(0, 3)):
            events.append(delta("thinking_delta", "thinking", rng.choice(TEXTS)))
        if rng.random() < 0.8:
            signature = rng.choice(["SIG", "gw1.none.", "gw1.gem.Rw"])
            events.append(delta("signature_delta", "signature", signature))
    elif kind == "tool_use":
        content = {"type": kind, "id": f"toolu_{index}", "name": "f", "input": {}}
        events.append(start(content))
        events += [delta("input_json_delta", "partial_json", p) for p in cut(arguments(rng), rng)]
    else:
        events.append(start({"type": kind, "id": "srv_1", "name": "web_search", "data": "RED"}))
    return [*events, {"type": "content_block_stop", "index": index}]


def messages(rng: random.Random) -> list[Event]:
    message = {
        "id": "msg_r",
        "type": "message",
        "role": "assistant",
        "model": "claude-r",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": rng.randint(0, 99), "output_tokens": 1},
    }
    events: list[Event] = [{"type": "message_start", "message": message}]
    for index in range(rng.randint(0, 4)):
        events += block(index, rng)
        if rng.random() < 0.2:
            events.append({"type": "ping"})
    reason = rng.choice(["end_turn", "max_tokens", "tool_use", "stop_sequence", "refusal"])
    stop: Event = {"stop_reason": reason, "stop_sequence": "##" if reason[0] == "s" else None}
    if reason == "refusal":
        stop["stop_details"] = {"type": "refusal", "explanation": "No."}
    usage = {"output_tokens": rng.randint(0, 99), "cache_read_input_tokens": rng.choice([None, 3])}
    events.append({"type": "message_delta", "delta": stop, "usage": usage})
    return [*events, {"type": "message_stop"}]


# --- Gemini ---------------------------------------------------------------------------------------

REASONS = ["STOP", "STOP", "MAX_TOKENS", "SAFETY", "OTHER", "MALFORMED_FUNCTION_CALL", "X_NEW"]


def signature(rng: random.Random) -> Event:
    return {"thoughtSignature": rng.choice(["U0lH", "c2lnLTE="])} if rng.random() < 0.3 else {}


def part(rng: random.Random) -> Event:
    kind = rng.random()
    if kind < 0.45:
        return {"text": rng.choice(TEXTS), **signature(rng)}
    if kind < 0.65:
        return {"text": rng.choice(TEXTS), "thought": True, **signature(rng)}
    if kind < 0.9:
        call: Event = {"name": rng.choice(["a", "b_c"])}
        if rng.random() < 0.7:
            call["id"] = f"call_{rng.randint(0, 9999)}"
        if rng.random() < 0.8:
            call["args"] = rng.choice([{}, {"q": 1}, {"q": [None, {"k": "}{"}]}, {"ä": '"'}])
        return {"functionCall": call, **signature(rng)}
    return rng.choice(
        [
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
            {"executableCode": {"language": "PYTHON", "code": "1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        ]
    )


def metadata(rng: random.Random) -> Event:
    prompt, tool = rng.randint(0, 50), rng.choice([0, 3])
    made = {"promptTokenCount": prompt, "candidatesTokenCount": rng.randint(0, 9)}
    made |= {"toolUsePromptTokenCount": tool} if tool else {}
    made |= {"cachedContentTokenCount": rng.randint(0, prompt)} if rng.random() < 0.3 else {}
    made |= {"thoughtsTokenCount": rng.randint(0, 30)} if rng.random() < 0.4 else {}
    return made


def gemini(rng: random.Random) -> list[Event]:
    head = {"modelVersion": "gemini-r", "responseId": "gr"}
    if rng.random() < 0.05:
        feedback = {"promptFeedback": {"blockReason": rng.choice(["SAFETY", "OTHER"])}}
        return [{**feedback, "usageMetadata": metadata(rng), **head}]
    events: list[Event] = []
    count = 2 if rng.random() < 0.1 else 1
    for _ in range(rng.randint(1, 6)):
        parts = [part(rng) for _ in range(rng.randint(0, 3))]
        candidate: Event = {"content": {"role": "model", "parts": parts}}
        index = rng.randrange(count)
        if index or rng.random() < 0.7:
            candidate["index"] = index
        events.append({"candidates": [candidate], **head})
        if rng.random() < 0.3:
            events[-1]["usageMetadata"] = metadata(rng)
    for index in range(count):
        last: Event = {"finishReason": rng.choice(REASONS), "index": index}
        if rng.random() < 0.5:
            last["content"] = {"role": "model", "parts": [{"text": "", **signature(rng)}]}
        events.append({"candidates": [last], "usageMetadata": metadata(rng), **head})
    if rng.random() < 0.02:
        events.append({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}})
    return events
