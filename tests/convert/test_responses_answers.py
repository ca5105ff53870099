"""Whole answers of Responses, and what a folded stream makes of the same."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import streams
import streams_responses
import test_answers
import tool

RESPONSES: tool.Case = {
    "id": "resp_n1",
    "object": "response",
    "created_at": 1700000000,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "model": "m",
    "output": [
        {"id": "rs_n1_0", "type": "reasoning",
         "summary": [{"type": "summary_text", "text": "Plan."}],
         "encrypted_content": "gw1.cla.U0lHQw"},
        {"id": "msg_n1_1", "type": "message", "status": "completed", "role": "assistant",
         "content": [{"type": "output_text", "text": "Checking.", "annotations": [],
                      "logprobs": []}]},
        {"id": "fc_n1_2", "type": "function_call", "status": "completed", "call_id": "call_A",
         "name": "weather", "arguments": '{"city":"Rome"}'},
        {"id": "fc_n1_3", "type": "function_call", "status": "completed", "call_id": "call_B",
         "name": "now", "arguments": "{}"},
    ],
    "parallel_tool_calls": True,
    "temperature": None,
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "usage": {
        "input_tokens": 912,
        "input_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 100},
        "output_tokens": 40,
        "output_tokens_details": {"reasoning_tokens": 33},
        "total_tokens": 952,
    },
}  # fmt: skip


def test_one_answer_in_three_dialects() -> None:
    assert tool.answer("responses", "chat", test_answers.CHAT)["body"] == RESPONSES
    assert tool.answer("responses", "messages", test_answers.MESSAGES)["body"] == RESPONSES
    native = json.loads(json.dumps(RESPONSES))
    native["output"][0]["encrypted_content"] = "ENC"
    chat = tool.answer("chat", "responses", native)["body"]
    wanted = json.loads(json.dumps(test_answers.CHAT))
    wanted["choices"][0]["message"]["reasoning_details"] = [
        {"type": "reasoning.encrypted", "format": "openai-responses-v1", "index": 0,
         "id": "rs_n1_0", "data": "ENC"}
    ]  # fmt: skip
    assert chat == wanted


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "x"}}, 429,
         "rate_limit_exceeded"),
        ({"status": "failed", "error": {"code": "invalid_prompt", "message": "x"}}, 400,
         "invalid_prompt"),
        ({"status": "failed", "error": {"code": "x_new", "message": "x"}}, 500, "x_new"),
        ({"status": "cancelled"}, 499, "cancelled"),
        ({"status": "queued"}, 0, "upstream_invalid"),
        ({"output": None}, 0, "upstream_invalid"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_an_error(more: tool.Case, status: int, code: str) -> None:
    for client in ("chat", "messages"):
        error = tool.answer(client, "responses", {**RESPONSES, **more})["error"]
        assert (error["status"], error["code"]) == (status, code)


@pytest.mark.parametrize(
    ("finish", "status", "reason"),
    [
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        ("length", "incomplete", "max_output_tokens"),
        ("content_filter", "incomplete", "content_filter"),
    ],
)
def test_why_it_ended(finish: str, status: str, reason: str | None) -> None:
    message = {"role": "assistant", "content": "a"}
    chat = {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    made = tool.answer("responses", "chat", chat)["body"]
    assert made["status"] == status and made["usage"] is None
    assert (made["incomplete_details"] or {}).get("reason") == reason
    back = tool.answer("chat", "responses", made)["body"]["choices"][0]
    assert back["finish_reason"] == (finish if finish != "tool_calls" else "stop")


def test_empty_refused_cited_and_custom() -> None:
    chat = {"id": "x", "choices": [{"message": {"content": None}, "finish_reason": "stop"}]}
    assert tool.answer("responses", "chat", chat)["body"]["output"] == []
    cited = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
    made = {
        **RESPONSES,
        "output": [
            {"type": "message", "content": [
                {"type": "output_text", "text": "a", "annotations": [cited],
                 "logprobs": [{"token": "a"}]}]},
            {"type": "message", "content": [{"type": "output_text", "text": "b"},
                                            {"type": "refusal", "refusal": "No."}]},
            {"type": "custom_tool_call", "call_id": "c", "name": "sh", "input": "ls"},
            {"type": "web_search_call", "id": "ws"},
        ],
    }  # fmt: skip
    said = tool.answer("chat", "responses", made)
    choice = said["body"]["choices"][0]
    assert choice["message"]["content"] == "a\n\nb" and choice["message"]["refusal"] == "No."
    assert choice["message"]["annotations"][0]["url_citation"]["url"] == "u"
    assert choice["message"]["tool_calls"] == [
        {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    ]
    assert choice["logprobs"]["content"] == [{"token": "a"}]
    assert choice["finish_reason"] == "tool_calls"
    assert "BLOCK_DROPPED/w response" in tool.codes(said)


# --- fold(stream(x)) == answer(x) -----------------------------------------------------------------


def random_chat(rng: random.Random) -> tool.Case:
    answer = test_answers.random_answer(rng)
    message = answer["choices"][0]["message"]
    if rng.random() < 0.3:
        message["reasoning_details"] = [
            {"type": "reasoning.encrypted", "format": "openai-responses-v1", "index": 0,
             "id": "rs_1", "data": "E"}
        ]  # fmt: skip
    if rng.random() < 0.2:
        message["refusal"] = "No."
    return answer


def as_stream(answer: tool.Case) -> list[tool.Case]:
    message = answer["choices"][0]["message"]
    events = test_answers.as_stream(answer)
    at = 2 if message.get("reasoning_content") else 1
    if message.get("reasoning_details"):
        delta = {"reasoning_details": message["reasoning_details"]}
        events.insert(at, streams.chunk(delta))
        at += 1
    if message.get("refusal"):
        at += len(message.get("content") or "")
        events.insert(at, streams.chunk({"refusal": message["refusal"]}))
    return events


def test_a_folded_stream_is_the_response() -> None:
    rng = random.Random(2026)
    answers = [random_chat(rng) for _ in range(300)]
    way = {"client": "responses", "upstream": "chat"}
    whole = tool.convert([{"do": "answer", **way, "body": body} for body in answers])
    folded = tool.convert(
        [{"do": "stream", **way, "end": "done", "events": as_stream(body)} for body in answers]
    )
    for body, one, other in zip(answers, whole, folded, strict=True):
        assert other["events"][-1]["response"] == one["body"], json.dumps(body)


def fold_chat(events: list[tool.Case]) -> tool.Case:
    """What a client of Chat has gathered at the end."""
    message: dict[str, Any] = {"role": "assistant", "content": "", "refusal": ""}
    calls: list[tool.Case] = []
    made: tool.Case = {}
    for event in events:
        made["usage"] = event.get("usage") or made.get("usage")
        for choice in event["choices"]:
            delta = choice["delta"]
            made["finish_reason"] = choice["finish_reason"] or made.get("finish_reason")
            for key in ("content", "refusal", "reasoning_content"):
                if delta.get(key):
                    message[key] = message.get(key, "") + delta[key]
            if "reasoning_details" in delta:
                message.setdefault("reasoning_details", []).extend(delta["reasoning_details"])
            for call in delta.get("tool_calls", []):
                if call["index"] == len(calls):
                    calls.append({key: call[key] for key in ("id", "type", "function")})
                else:
                    function = calls[call["index"]]["function"]
                    function["arguments"] += call["function"]["arguments"]
    if calls:
        message["tool_calls"] = calls
    return {**made, "message": message}


def shown(body: tool.Case) -> tool.Case:
    """The same of a whole answer."""
    choice = body["choices"][0]
    message = {**choice["message"]}
    for key in ("content", "refusal"):
        message[key] = message[key] or ""
    for call in message.get("tool_calls", []):
        if call["type"] == "custom":
            custom = call.pop("custom")
            text = json.dumps({"input": custom["input"]}, separators=(",", ":"))
            call.update(type="function", function={"name": custom["name"], "arguments": text})
    return {
        "usage": body.get("usage"),
        "finish_reason": choice["finish_reason"],
        "message": message,
    }


def test_a_folded_stream_is_the_completion() -> None:
    rng = random.Random(2027)
    runs = [streams_responses.responses(rng) for _ in range(400)]
    runs = [events for events in runs if "response" in events[-1]]
    runs = [events for events in runs if events[-1]["response"]["status"] != "failed"]
    for events in runs:
        items = [event["item"] for event in events if event["type"].endswith("output_item.done")]
        events[-1]["response"]["output"] = items
    way = {"client": "chat", "upstream": "responses"}
    whole = tool.convert(
        [{"do": "answer", **way, "body": events[-1]["response"]} for events in runs]
    )
    folded = tool.convert([{"do": "stream", **way, "events": events} for events in runs])
    assert len(runs) > 300
    for events, one, other in zip(runs, whole, folded, strict=True):
        wanted, got = shown(one["body"]), fold_chat(other["events"])
        # Between empty summary parts a stream has said its blank line already.
        for made in (wanted, got):
            text = made["message"].pop("reasoning_content", "")
            made["reasoning"] = "".join(text.split("\n\n"))
        assert got == wanted, json.dumps(events)


# --- field reports --------------------------------------------------------------------------------


def test_fr75_a_call_in_a_response_is_why_it_stopped() -> None:
    item = {"id": "fc", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    whole = {**RESPONSES, "output": [item]}
    assert tool.answer("messages", "responses", whole)["body"]["stop_reason"] == "tool_use"
    events = [
        {"type": "response.created", "response": {**RESPONSES, "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    said = tool.stream("messages", "responses", events)["events"]
    assert said[-2]["delta"]["stop_reason"] == "tool_use"


def test_fr83_every_event_of_a_text_stream() -> None:
    chunks = [streams.chunk({"content": "ok"}), streams.chunk({}, "stop")]
    events = tool.stream("responses", "chat", chunks, "done")["events"]
    assert [event["type"].removeprefix("response.") for event in events] == [
        "created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
        "output_text.done", "content_part.done", "output_item.done", "completed",
    ]  # fmt: skip
    assert [event["sequence_number"] for event in events] == list(range(9))
    ids = {event["item_id"] for event in events if "item_id" in event}
    assert ids == {event["item"]["id"] for event in events if "item" in event} and len(ids) == 1
    assert events[5]["text"] == events[6]["part"]["text"] == "ok"
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    chunks.insert(1, streams.chunk({"tool_calls": [call]}))
    events = tool.stream("responses", "chat", chunks, "done")["events"]
    added = [event for event in events if event["type"] == "response.output_item.added"]
    assert [event["output_index"] for event in added] == [0, 1]


def test_fr85_numbers_of_a_call_keep_their_text() -> None:
    text = '{"id":30000000000000001,"b":9223372036854775807,"c":0.1,"d":1.0,"e":1E400,"f":-0}'
    call = {"index": 0, "id": "a", "type": "function",
            "function": {"name": "f", "arguments": text}}  # fmt: skip
    chat = {"id": "x", "choices": [{"message": {"content": None, "tool_calls": [call]}}]}
    made = tool.answer("responses", "chat", chat)["body"]
    assert made["output"][0]["arguments"] == text
    back = tool.answer("chat", "responses", made)["body"]
    assert back["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == text


def test_fr90_items_without_ids_and_types() -> None:
    said = [{"type": "output_text", "text": "earlier"}]
    items = [{"type": "message", "role": "assistant", "content": said},
             {"role": "user", "content": "next"}]  # fmt: skip
    body = tool.request("responses", "chat", {"model": "m-ref", "input": items})["body"]
    assert body["messages"] == [
        {"role": "assistant", "content": "earlier"},
        {"role": "user", "content": "next"},
    ]
    body = tool.request("responses", "chat", {"model": "m-ref", "input": "next"})["body"]
    assert body["messages"] == [{"role": "user", "content": "next"}]


def test_fr91_reasoning_alone_makes_no_message() -> None:
    items = [
        {"role": "user", "content": "q"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z0FB"},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "a"}]},
        {"role": "user", "content": "q2"},
    ]  # fmt: skip
    body = tool.request("responses", "chat", {"model": "m-ref", "input": items})["body"]
    assert [(message["role"], message["content"]) for message in body["messages"]] == [
        ("user", "q"), ("assistant", "a"), ("user", "q2"),
    ]  # fmt: skip
