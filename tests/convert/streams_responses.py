"""Random upstream streams of Responses, in the order in which OpenAI sends their events."""

from __future__ import annotations

import random
from typing import Any

from streams import TEXTS, arguments, cut

Event = dict[str, Any]
Items = list[list[Event]]


def response(status: str, **more: Any) -> Event:
    made = {"id": "resp_r", "object": "response", "created_at": 1700000000, "status": status}
    return {"response": {**made, "model": "gpt-r", "output": [], **more}}


def at(kind: str, index: int, **more: Any) -> Event:
    return {"type": f"response.{kind}", "item_id": f"item_{index}", "output_index": index, **more}


def added(index: int, item: Event) -> Event:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: Event) -> Event:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def message(index: int, rng: random.Random) -> list[Event]:
    item = {"id": f"item_{index}", "type": "message", "role": "assistant", "content": []}
    refuses = rng.random() < 0.15
    pieces = [rng.choice([text for text in TEXTS if text]) for _ in range(rng.randint(1, 3))]
    kind = "refusal" if refuses else "output_text"
    key = "refusal" if refuses else "text"
    part = {"type": kind, key: "".join(pieces)}
    place = {"content_index": 0}
    return [
        added(index, {**item, "status": "in_progress"}),
        at("content_part.added", index, **place, part={"type": kind, key: ""}),
        *(at(f"{kind}.delta", index, **place, delta=piece) for piece in pieces),
        at(f"{kind}.done", index, **place, **{key: part[key]}),
        at("content_part.done", index, **place, part=part),
        done(index, {**item, "status": "completed", "content": [part]}),
    ]


def reasoning(index: int, rng: random.Random) -> list[Event]:
    item: Event = {"id": f"item_{index}", "type": "reasoning", "summary": []}
    events = [added(index, item)]
    summary = []
    for number in range(rng.randint(0, 2)):
        pieces = [rng.choice(TEXTS) for _ in range(rng.randint(1, 2))]
        part = {"type": "summary_text", "text": "".join(pieces)}
        place = {"summary_index": number}
        events.append(at("reasoning_summary_part.added", index, **place, part={**part, "text": ""}))
        events += [
            at("reasoning_summary_text.delta", index, **place, delta=piece) for piece in pieces
        ]
        events.append(at("reasoning_summary_text.done", index, **place, text=part["text"]))
        events.append(at("reasoning_summary_part.done", index, **place, part=part))
        summary.append(part)
    item = {**item, "summary": summary}
    if rng.random() < 0.7:
        item["encrypted_content"] = rng.choice(["ENC", "gw1.cla.U0lH", "gw1.none."])
    return [*events, done(index, item)]


def call(index: int, rng: random.Random) -> list[Event]:
    custom = rng.random() < 0.25
    text = "raw {text" if custom else arguments(rng) or "{}"
    key = "input" if custom else "arguments"
    word = "custom_tool_call_input" if custom else "function_call_arguments"
    item = {
        "id": f"item_{index}",
        "type": "custom_tool_call" if custom else "function_call",
        "call_id": f"call_{index}",
        "name": rng.choice(["a", "b_c"]),
    }
    pieces = [] if rng.random() < 0.2 else cut(text, rng)
    return [
        added(index, {**item, "status": "in_progress", key: ""}),
        *(at(f"{word}.delta", index, delta=piece) for piece in pieces),
        at(f"{word}.done", index, **{key: text}),
        done(index, {**item, "status": "completed", key: text}),
    ]


def searched(index: int, rng: random.Random) -> list[Event]:
    item = {"id": f"item_{index}", "type": "web_search_call", "status": "completed"}
    return [added(index, item), at("web_search_call.completed", index), done(index, item)]


def usage(rng: random.Random) -> Event:
    read, cached = rng.randint(0, 50), rng.randint(0, 20)
    generated, thought = 7 + rng.randint(0, 9), rng.randint(0, 7)
    return {
        "input_tokens": read + cached,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": generated,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": read + cached + generated,
    }


def last(rng: random.Random) -> Event:
    kind = rng.random()
    more = {"usage": usage(rng)} if rng.random() < 0.8 else {"usage": None}
    if kind < 0.75:
        return {"type": "response.completed", **response("completed", **more)}
    if kind < 0.9:
        reason = {"reason": rng.choice(["max_output_tokens", "content_filter"])}
        return {
            "type": "response.incomplete",
            **response("incomplete", incomplete_details=reason, **more),
        }
    code = rng.choice(["server_error", "rate_limit_exceeded", "invalid_prompt"])
    error = {"code": code, "message": "Something broke."}
    if kind < 0.95:
        return {"type": "response.failed", **response("failed", error=error)}
    return {"type": "error", "param": None, **error}


def responses(rng: random.Random) -> list[Event]:
    events: list[Event] = [{"type": "response.created", **response("in_progress")}]
    if rng.random() < 0.8:
        events.append({"type": "response.in_progress", **response("in_progress")})
    makers = [message, message, reasoning, call, searched]
    for index in range(rng.randint(0, 4)):
        events += rng.choice(makers)(index, rng)
        if rng.random() < 0.1:
            events.append({"type": "keepalive"})
    events.append(last(rng))
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]
