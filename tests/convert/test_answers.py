"""Whole answers: one answer in two dialects, and what a folded stream makes of the same."""

from __future__ import annotations

import json
import random
from typing import Any

import streams
import tool

MESSAGES = {
    "id": "msg_n1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "Plan.", "signature": "SIGC"},
        {"type": "text", "text": "Checking."},
        {"type": "tool_use", "id": "call_A", "name": "weather", "input": {"city": "Rome"}},
        {"type": "tool_use", "id": "call_B", "name": "now", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 12,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 800,
        "output_tokens": 40,
        "output_tokens_details": {"thinking_tokens": 33},
    },
}
CHAT = {
    "id": "chatcmpl-n1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Checking.",
                "refusal": None,
                "reasoning_content": "Plan.",
                "reasoning_details": [
                    {
                        "type": "reasoning.text",
                        "format": "anthropic-claude-v1",
                        "index": 0,
                        "text": "Plan.",
                        "signature": "SIGC",
                    }
                ],
                "tool_calls": [
                    {
                        "id": "call_A",
                        "type": "function",
                        "function": {"name": "weather", "arguments": '{"city":"Rome"}'},
                    },
                    {
                        "id": "call_B",
                        "type": "function",
                        "function": {"name": "now", "arguments": "{}"},
                    },
                ],
            },
            "logprobs": None,
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {
        "prompt_tokens": 912,
        "completion_tokens": 40,
        "total_tokens": 952,
        "prompt_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 33},
    },
}


def test_one_answer_in_two_dialects() -> None:
    assert tool.answer("chat", "messages", MESSAGES)["body"] == CHAT
    assert tool.answer("messages", "chat", CHAT)["body"] == MESSAGES


def test_an_error_inside_a_200_is_an_error() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    said = tool.answer("chat", "messages", body)
    assert (said["error"]["status"], said["error"]["code"]) == (503, "overloaded")
    said = tool.answer("messages", "chat", {"error": {"message": "x", "type": "server_error"}})
    assert said["error"]["status"] == 500


def test_what_is_no_answer_is_the_upstreams_fault() -> None:
    for client, upstream in (("chat", "messages"), ("messages", "chat")):
        said = tool.answer(client, upstream, {"id": "x"})
        assert (said["error"]["class"], said["error"]["code"]) == ("transport", "upstream_invalid")


def test_broken_arguments_are_kept() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}{'}}
    body = {"id": "x", "choices": [{"message": {"content": None, "tool_calls": [call]}}]}
    said = tool.answer("messages", "chat", body)
    assert said["body"]["content"][0]["input"] == {"_raw_arguments": '{"a":1}{'}
    assert said["body"]["stop_reason"] == "tool_use"


PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "first "}, {"text": "this"}]},
    {"type": "text", "text": "He"},
    {"type": "text", "text": "llo"},
    {"type": "reference", "reference_ids": [1]},
]


def test_content_in_parts_is_thinking_and_text() -> None:
    said = tool.answer("messages", "chat", {"id": "x", "choices": [{"message": {
        "content": PARTS}, "finish_reason": "stop"}]})  # fmt: skip
    thinking, text = said["body"]["content"]
    assert (thinking["thinking"], text) == ("first this", {"type": "text", "text": "Hello"})
    chunks = [{"id": "x", "choices": [{"index": 0, "delta": {"content": [part]}}]}
              for part in PARTS]  # fmt: skip
    chunks.append({"id": "x", "choices": [{"delta": {"content": ""}, "finish_reason": "stop"}]})
    said = tool.stream("messages", "chat", chunks, "done")
    thinking, text = tool.fold_messages(said["events"])["content"]
    assert (thinking["thinking"], text) == ("first this", {"type": "text", "text": "Hello"})


FOUND = {"type": "web_search_result_location", "url": "https://a.example", "title": "A",
         "cited_text": "a", "encrypted_index": "E"}  # fmt: skip
QUOTED = {"type": "char_location", "cited_text": "b", "document_index": 0}


def test_what_a_search_found_is_an_annotation() -> None:
    blocks = [
        {"type": "text", "text": "h\u00e9 "},
        {"type": "text", "text": "\u2603!", "citations": [FOUND, QUOTED]},
    ]
    body = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks,
            "stop_reason": "end_turn", "usage": {}}  # fmt: skip
    said = tool.answer("chat", "messages", body)
    message = said["body"]["choices"][0]["message"]
    citation = {"start_index": 3, "end_index": 5, "title": "A", "url": "https://a.example"}
    assert message["annotations"] == [{"type": "url_citation", "url_citation": citation}]
    assert "CITATION_DROPPED/i response" in tool.codes(said)
    said = tool.answer("messages", "chat", {"id": "x", "choices": [{"message": message}]})
    (text,) = said["body"]["content"]
    assert text["citations"] == [{**FOUND, "cited_text": "", "encrypted_index": ""}]


def test_citations_elsewhere_are_noted_as_lost() -> None:
    noted = "CITATION_DROPPED/i "
    user = {"role": "user", "content": "hi"}
    block = {"type": "text", "text": "a", "citations": [FOUND]}
    turn = {"role": "assistant", "content": [block]}
    said = tool.request("messages", "chat", {"max_tokens": 9, "messages": [user, turn, user]})
    assert noted + "messages[1]" in tool.codes(said)
    url = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}
    turn = {"role": "assistant", "content": "a", "annotations": [url]}
    said = tool.request("chat", "messages", {"messages": [user, turn, user]})
    assert noted + "messages[1]" in tool.codes(said)
    chunks = [streams.chunk({"content": "a", "annotations": [url]}), streams.chunk({}, "stop")]
    assert noted + "response" in tool.codes(tool.stream("messages", "chat", chunks, "done"))


# --- fold(stream(x)) == answer(x) -----------------------------------------------------------------


def as_stream(answer: tool.Case) -> list[tool.Case]:
    """The chunks of a stream that say what <answer> says, in its order."""
    message = answer["choices"][0]["message"]
    deltas = [{"role": "assistant", "content": ""}]
    if message.get("reasoning_content"):
        deltas.append({"reasoning_content": message["reasoning_content"]})
    if message.get("content"):
        deltas += [{"content": piece} for piece in message["content"]]
    for index, call in enumerate(message.get("tool_calls") or []):
        deltas.append({"tool_calls": [{"index": index, **call}]})
    events = [streams.chunk(delta) for delta in deltas]
    events.append(streams.chunk({}, answer["choices"][0]["finish_reason"]))
    return [*events, {**streams.chunk({}), "choices": [], "usage": answer["usage"]}]


def random_answer(rng: random.Random) -> tool.Case:
    message: tool.Case = {"role": "assistant", "content": rng.choice([None, "a", "ä𝄞 b"])}
    if rng.random() < 0.5:
        message["reasoning_content"] = rng.choice(["think", "on\ntwo lines"])
    calls = [
        {
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": "f", "arguments": rng.choice(["{}", '{"a":[1,"}"]}', ""])},
        }
        for index in range(rng.randint(0, 3))
    ]
    if calls:
        message["tool_calls"] = calls
    usage = {"prompt_tokens": rng.randint(0, 99), "completion_tokens": rng.randint(0, 99)}
    finish = "tool_calls" if calls else rng.choice(["stop", "length", "content_filter"])
    return {
        "id": "chatcmpl-r",
        "model": "gpt-r",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    }


def test_a_folded_stream_is_the_answer() -> None:
    rng = random.Random(2026)
    answers = [random_answer(rng) for _ in range(300)]
    way = {"client": "messages", "upstream": "chat"}
    whole = tool.convert([{"do": "answer", **way, "body": body} for body in answers])
    folded = tool.convert(
        [{"do": "stream", **way, "end": "done", "events": as_stream(body)} for body in answers]
    )
    for body, one, other in zip(answers, whole, folded, strict=True):
        assert tool.fold_messages(other["events"]) == one["body"], json.dumps(body)
