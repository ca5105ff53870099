"""What went wrong in other gateways between Messages and Chat, each by the number of its report."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
import tool
from harness.gateway import build_tree

USER = {"role": "user", "content": "hi"}
NUMBERS = '{"id":30000000000000001,"b":9223372036854775807,"c":0.1,"d":1.0,"e":1E400}'


def chunk(delta: tool.Case, finish: str | None = None) -> tool.Case:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "model": "u", "choices": [choice]}


def piece(id_: str | None, name: str | None, arguments: str, **more: Any) -> tool.Case:
    made = {"id": id_, "type": "function", **more} if id_ else dict(more)
    return {**made, "function": {**({"name": name} if name else {}), "arguments": arguments}}


def blocks(chunks: list[tool.Case], end: str = "done") -> tuple[list[Any], str]:
    """The blocks of the message that a Messages client sees, in order, and why it stopped."""
    said = tool.stream("messages", "chat", chunks, end)
    assert said["end"] == "done", said
    made: list[Any] = []
    stop = ""
    is_open = False
    for event in said["events"]:
        if event["type"] == "content_block_start":
            assert not is_open and event["index"] == len(made)
            is_open = True
            block = event["content_block"]
            made.append([block["type"], block.get("name", ""), ""])
        elif event["type"] == "content_block_delta":
            assert is_open and event["index"] == len(made) - 1
            made[-1][2] += event["delta"].get("partial_json") or event["delta"].get("text") or ""
        elif event["type"] == "content_block_stop":
            is_open = False
        elif event["type"] == "message_delta":
            stop = event["delta"]["stop_reason"]
    assert not is_open
    return made, stop


def test_fr71_calls_without_an_index_stay_apart() -> None:
    calls = [piece("call_a", "f", '{"n":1}'), piece("call_b", "g", '{"n":2}')]
    made, stop = blocks([chunk({"tool_calls": calls}), chunk({}, "tool_calls")])
    assert made == [["tool_use", "f", '{"n":1}'], ["tool_use", "g", '{"n":2}']]
    assert stop == "tool_use"


def test_fr73_interleaved_calls_come_one_after_the_other() -> None:
    steps = [
        piece("a", "f", "", index=0),
        piece("b", "g", "", index=1),
        piece(None, None, '{"a":', index=0),
        piece(None, None, '{"b":', index=1),
        piece(None, None, "1}", index=0),
        piece(None, None, "2}", index=1),
    ]
    chunks = [chunk({"content": "Hi"}), *(chunk({"tool_calls": [step]}) for step in steps)]
    made, stop = blocks([*chunks, chunk({}, "tool_calls")])
    assert made == [["text", "", "Hi"], ["tool_use", "f", '{"a":1}'], ["tool_use", "g", '{"b":2}']]
    assert stop == "tool_use"


@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
def test_fr75_a_call_is_why_it_stopped(finish: str) -> None:
    call = piece("a", "f", "{}", index=0)
    chunks = [chunk({"content": "Let me look"}), chunk({"tool_calls": [call]}), chunk({}, finish)]
    assert blocks(chunks)[1] == "tool_use"
    message = {"role": "assistant", "content": "Let me look", "tool_calls": [call]}
    whole = {"id": "c", "object": "chat.completion", "model": "u"}
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": finish}]
    assert tool.answer("messages", "chat", whole)["body"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    "reason, finish",
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("pause_turn", "stop"),
        ("model_context_window_exceeded", "length"),
        ("x_new", "stop"),
    ],
)
def test_fr76_no_reason_of_anthropics_reaches_a_chat_client(reason: str, finish: str) -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    content = [call] if reason == "tool_use" else [{"type": "text", "text": "a"}]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "u"}
    whole = {**message, "content": content, "stop_reason": reason, "usage": {"output_tokens": 1}}
    said = tool.answer("chat", "messages", whole)
    assert said["body"]["choices"][0]["finish_reason"] == finish


def test_fr78_a_name_that_is_repeated_is_no_longer_name() -> None:
    thirds = ['{"pa', 'th":', '"x"}']
    repeated = [
        chunk({"tool_calls": [piece("a", "read_file", part, index=0)]}) for part in thirds
    ]
    assert blocks([*repeated, chunk({}, "tool_calls")])[0] == [
        ["tool_use", "read_file", '{"path":"x"}']
    ]


def test_fr80_no_signature_is_made_up() -> None:
    details = [
        {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0, "text": "real",
         "signature": "c2lnLTE="},
    ]  # fmt: skip
    turns = [
        USER,
        {"role": "assistant", "content": "one", "reasoning_content": "real",
         "reasoning_details": details},
        USER,
        {"role": "assistant", "content": "two", "reasoning_content": "of another vendor"},
        USER,
    ]  # fmt: skip
    said = tool.request("chat", "messages", {"model": "m", "messages": turns}, "claude-sonnet-4-5")
    sent = [block for turn in said["body"]["messages"] for block in turn["content"]
            if isinstance(block, dict) and block["type"] == "thinking"]  # fmt: skip
    assert sent == [{"type": "thinking", "thinking": "real", "signature": "c2lnLTE="}]


SIGNED = {"extra_content": {"google": {"thought_signature": "c2lnLTE="}}}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_fr81_geminis_signature_comes_back_on_its_call(streamed: bool) -> None:
    calls = [{**piece("a", "f", "{}"), **SIGNED}, piece("b", "f", "{}")]
    if streamed:
        numbered = [{**call, "index": at} for at, call in enumerate(calls)]
        chunks = [chunk({"tool_calls": numbered}), chunk({}, "tool_calls")]
        message = tool.fold_messages(tool.stream("messages", "chat", chunks, "done")["events"])
    else:
        choice = {"message": {"content": None, "tool_calls": calls}, "finish_reason": "stop"}
        message = tool.answer("messages", "chat", {"id": "x", "choices": [choice]})["body"]
    content, stop = message["content"], message["stop_reason"]
    kinds = [block["type"] for block in content]
    assert (kinds, stop) == (["redacted_thinking", "tool_use", "tool_use"], "tool_use")
    results = [{"type": "tool_result", "tool_use_id": id_, "content": "r"} for id_ in "ab"]
    turns = [USER, {"role": "assistant", "content": content}, {"role": "user", "content": results}]
    for model, wanted in (("gemini-3-pro", [SIGNED, {}]), ("gpt-x", [{}, {}])):
        said = tool.request("messages", "chat", {"max_tokens": 9, "messages": turns}, model)
        sent = said["body"]["messages"][1]["tool_calls"]
        assert [{k: v for k, v in call.items() if k == "extra_content"} for call in sent] == wanted
        assert "c2lnLTE=" not in json.dumps(said["body"]).replace(json.dumps(wanted[0])[1:-1], "")


def raw(case: str) -> str:
    done = subprocess.run(
        [build_tree() / "convert-tool"], input=case + "\n", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_fr85_numbers_keep_their_text() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": NUMBERS}}
    turns = [USER, {"role": "assistant", "content": None, "tool_calls": [call]},
             {"role": "tool", "tool_call_id": "a", "content": "x"}]  # fmt: skip
    case = {"do": "request", "client": "chat", "upstream": "messages", "model": "claude-x"}
    up = raw(json.dumps({**case, "body": {"model": "m", "messages": turns}}))
    assert f'"input":{NUMBERS}' in up.replace(" ", "")
    answer = '{"id":"m","type":"message","role":"assistant","model":"u","content":[{"type":' \
        f'"tool_use","id":"a","name":"f","input":{NUMBERS}' \
        '}],"stop_reason":"tool_use","usage":{"output_tokens":1}}'  # fmt: skip
    task = f'{{"do":"answer","client":"chat","upstream":"messages","body":{answer}}}'
    down = json.loads(raw(task))
    made = down["body"]["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    assert made.replace(" ", "") == NUMBERS


@pytest.mark.parametrize(
    "more, least, most",
    [
        ({"max_tokens": 12000, "reasoning_effort": "high"}, 1024, 11999),
        ({"max_tokens": 1024, "reasoning_effort": "low"}, None, None),
        ({"reasoning_effort": "high"}, 1024, 10**9),
    ],
)
def test_fr88_a_budget_fits_below_the_ceiling(more: tool.Case, least: Any, most: Any) -> None:
    body = {"model": "m", "messages": [USER], "temperature": 0.3, **more}
    sent = tool.request("chat", "messages", body, "claude-sonnet-4-5")["body"]
    if least is None:
        assert sent.get("thinking", {"type": "disabled"})["type"] == "disabled"
        return
    budget = sent["thinking"]["budget_tokens"]
    assert least <= budget <= most and budget < sent["max_tokens"]
    assert sent.get("temperature", 1) == 1 and "top_k" not in sent
