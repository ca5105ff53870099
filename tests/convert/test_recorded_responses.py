"""Recorded answers of Responses in the words of the other protocols: the same text, calls, end and
usage. The exchanges lie outside the project (TOLLGATE_RECORDED)."""

from __future__ import annotations

import json
from typing import Any

import pytest
import test_responses_answers
import tool
from harness.stack import recorded_folder

FOLDER = recorded_folder()
FILES = sorted(FOLDER.glob("openai-responses-*.json")) if FOLDER else []


def exchanges() -> list[tuple[str, list[tool.Case], tool.Case]]:
    """Name, events ([]: no stream) and whole response of what was answered with 200."""
    found = []
    for path in FILES:
        exchange = json.loads(path.read_text())
        if exchange["status"] != 200:
            continue
        if not exchange["stream"]:
            found.append((path.stem, [], exchange["response"]))
            continue
        lines = [line[5:] for line in exchange["response"].split("\n") if line.startswith("data:")]
        events = [json.loads(line) for line in lines if line.strip().startswith("{")]
        found.append((path.stem, events, events[-1]["response"]))
    return found


def said_by(response: tool.Case) -> tuple[str, list[Any], str, int, int]:
    texts, calls = [], []
    for item in response["output"]:
        if item["type"] == "message":
            texts.append("".join(part.get("text", "") for part in item["content"]))
        elif item["type"] == "function_call":
            calls.append((item["call_id"], item["name"], json.loads(item["arguments"] or "{}")))
        elif item["type"] == "custom_tool_call":
            calls.append((item["call_id"], item["name"], {"input": item["input"]}))
    used = response["usage"]
    end = "tool_calls" if calls else "stop"
    text = "\n\n".join(text for text in texts if text)
    return text, calls, end, used["input_tokens"], used["output_tokens"]


def seen_by_chat(message: tool.Case, finish: str, used: tool.Case) -> tuple[Any, ...]:
    calls = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls", [])
    ]
    text = message["content"] or ""
    return text, calls, finish, used["prompt_tokens"], used["completion_tokens"]


def seen_by_messages(message: tool.Case) -> tuple[Any, ...]:
    text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
    calls = [
        (block["id"], block["name"], block["input"])
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    used = message["usage"]
    read = used["input_tokens"] + used["cache_read_input_tokens"]
    read += used["cache_creation_input_tokens"]
    end = {"end_turn": "stop", "tool_use": "tool_calls"}[message["stop_reason"]]
    return text, calls, end, read, used["output_tokens"]


@pytest.mark.skipif(not FILES, reason="no recorded exchanges (TOLLGATE_RECORDED)")
@pytest.mark.parametrize("client", ["chat", "messages"])
def test_recorded_answers_say_the_same(client: str) -> None:
    cases = exchanges()
    way = {"client": client, "upstream": "responses"}
    whole = tool.convert([{"do": "answer", **way, "body": response} for _, _, response in cases])
    streams = [case for case in cases if case[1]]
    folded = tool.convert([{"do": "stream", **way, "events": events} for _, events, _ in streams])
    assert len(whole) > 25 and len(folded) > 15
    for (name, _, response), answer in zip(cases, whole, strict=True):
        if client == "messages":
            assert seen_by_messages(answer["body"]) == said_by(response), name
        else:
            body = test_responses_answers.shown(answer["body"])
            got = seen_by_chat(body["message"], body["finish_reason"], body["usage"])
            assert got == said_by(response), name
    for (name, _, response), answer in zip(streams, folded, strict=True):
        if client == "messages":
            got = seen_by_messages(tool.fold_messages(answer["events"]))
        else:
            body = test_responses_answers.fold_chat(answer["events"])
            got = seen_by_chat(body["message"], body["finish_reason"], body["usage"])
        assert got == said_by(response), name
