"""Requests in the upstream's own words, and what the way there is said to have cost."""

from __future__ import annotations

import hashlib
import json

import pytest
import tool

SONNET = "claude-sonnet-4-5"
USER = {"role": "user", "content": "hi"}


def function(name: str, **more: object) -> tool.Case:
    inner = {"name": name, "parameters": {"type": "object", "properties": {}}, **more}
    return {"type": "function", "function": inner}


def called(*calls: tuple[str, str, str]) -> tool.Case:
    made = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in calls
    ]
    return {"role": "assistant", "content": "", "tool_calls": made}


def result(id_: str, content: object) -> tool.Case:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def to_messages(body: tool.Case, model: str = SONNET) -> tool.Case:
    return tool.request("chat", "messages", {"model": "m", "messages": [USER], **body}, model)


def to_chat(body: tool.Case) -> tool.Case:
    body = {"model": "m", "max_tokens": 100, "messages": [USER], **body}
    return tool.request("messages", "chat", body, "gpt-x")


# --- Messages to Chat -----------------------------------------------------------------------------


def test_messages_to_chat_as_worked_out() -> None:
    said = to_chat(
        {
            "system": "S",
            "messages": [
                USER,
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "t", "signature": "SIG"},
                        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
                        {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "go on"},
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_2",
                            "content": [{"type": "text", "text": "B"}],
                            "is_error": True,
                        },
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "A"},
                    ],
                },
            ],
            "tools": [{"name": "f", "input_schema": {"type": "object"}}, {"name": "g"}],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        }
    )
    body = said["body"]
    assert [message["role"] for message in body["messages"]] == [
        "system", "user", "assistant", "tool", "tool", "user",
    ]  # fmt: skip
    assert body["messages"][2]["content"] is None
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "toolu_1", "content": "A"}
    assert body["messages"][4]["content"] == "Error: B"
    assert body["messages"][5]["content"] == "go on"
    assert body["max_completion_tokens"] == 100 and "max_tokens" not in body
    assert body["tools"] == [function("f"), function("g")]
    assert (body["tool_choice"], body["parallel_tool_calls"]) == ("auto", False)
    assert '"x_' not in json.dumps(body)
    assert "TOOL_RESULT_REORDERED/i messages[2].content[2]" in tool.codes(said)


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ({"type": "auto"}, "auto"),
        ({"type": "any"}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_choices_of_messages_in_chat(choice: tool.Case, wanted: object) -> None:
    said = to_chat({"tools": [{"name": "f", "input_schema": {}}], "tool_choice": choice})
    assert said["body"]["tool_choice"] == wanted


def test_flags_go_with_tools_only() -> None:
    said = to_chat({"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}})
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & said["body"].keys()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"top_k": 5}, "PARAM_DROPPED/i top_k"),
        ({"container": "c"}, "STATE_UNSUPPORTED/e container"),
        ({"inference_geo": "eu"}, "PARAM_DROPPED/e inference_geo"),
        ({"max_tokens": 0}, "PARAM_CLAMPED/w max_tokens"),
        ({"stop_sequences": list("abcde")}, "STOP_TRUNCATED/w stop_sequences"),
        ({"metadata": {"user_id": "u" * 120}}, "USER_HASHED/i metadata.user_id"),
        ({"thinking": {"type": "enabled", "budget_tokens": 9000}},
         "REASONING_APPROXIMATED/i thinking"),
        ({"colour": "red"}, "PARAM_UNKNOWN/i colour"),
        ({"tools": [{"type": "computer_20250124", "name": "c"}]},
         "TOOL_BUILTIN_UNSUPPORTED/e tools"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "TOOL_BUILTIN_MAPPED/w tools"),
        ({"messages": [USER, {"role": "assistant", "content": "So"}]},
         "PREFILL_UNSUPPORTED/w messages"),
    ],
)  # fmt: skip
def test_losses_on_the_way_to_chat(body: tool.Case, code: str) -> None:
    assert code in tool.codes(to_chat(body))


def test_user_ids_become_hashes_of_64() -> None:
    said = to_chat({"metadata": {"user_id": "u" * 120}})
    assert said["body"]["safety_identifier"] == hashlib.sha256(b"u" * 120).hexdigest()


def test_images_of_results_move_behind_them() -> None:
    image = {"type": "image",
             "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}  # fmt: skip
    turn = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f"}]}
    answer = {"type": "tool_result", "tool_use_id": "t", "content": [image]}
    said = to_chat({"messages": [USER, turn, {"role": "user", "content": [answer]}]})
    tail = said["body"]["messages"][-2:]
    assert tail[0]["content"] == "[image attached below]"
    assert tail[1]["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA"
    assert "TOOL_RESULT_MEDIA_MOVED/w messages[2].content[0]" in tool.codes(said)


def test_other_blocks_of_results_are_told_in_words() -> None:
    found = {"type": "search_result", "source": "https://a.example", "title": "A",
             "content": [{"type": "text", "text": "B"}]}  # fmt: skip
    reference = {"type": "tool_reference", "tool_name": "f"}
    turn = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f"}]}
    answer = {"type": "tool_result", "tool_use_id": "t", "content": [found, reference]}
    said = to_chat({"messages": [USER, turn, {"role": "user", "content": [answer]}]})
    (*_, last) = said["body"]["messages"]
    assert last["role"] == "tool"
    found_text, reference_text = last["content"].split("\n{")
    assert found_text == "[A](https://a.example)\nB"
    assert json.loads("{" + reference_text) == reference
    assert tool.codes(said) == ["PART_DEGRADED/w messages[2].content[0]"]


def test_a_long_name_comes_back_as_it_was() -> None:
    name = "mcp__server.with.dots__" + "n" * 90
    body = {"max_tokens": 9, "messages": [USER],
            "tools": [{"name": name, "input_schema": {}}]}  # fmt: skip
    wire = to_chat(body)["body"]["tools"][0]["function"]["name"]
    assert len(wire) == 64 and "." not in wire
    call = {"id": "c", "type": "function", "function": {"name": wire, "arguments": "{}"}}
    case = {"do": "answer", "client": "messages", "upstream": "chat", "tools": body,
            "body": {"id": "x", "choices": [{"message": {"tool_calls": [call]}}]}}  # fmt: skip
    assert tool.one(case)["body"]["content"][0]["name"] == name


# --- Chat to Messages -----------------------------------------------------------------------------


def test_chat_to_messages_as_worked_out() -> None:
    said = tool.request(
        "chat",
        "messages",
        {
            "model": "m",
            "messages": [
                {"role": "developer", "content": "S"},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "see"},
                        {
                            "type": "image_url",
                            "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"},
                        },
                    ],
                },
                called(("call_1", "f", ""), ("call_2", "g", '{"b":2}')),
                result("call_2", "B"),
                result("call_1", ""),
                {"role": "user", "content": "next"},
            ],
            "temperature": 1.5,
            "stop": "##",
            "parallel_tool_calls": False,
            "tools": [function("f"), function("g")],
        },
    )
    body = said["body"]
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert body["system"] == "S" and body["max_tokens"] == 8192
    assert body["messages"] == [
        {"role": "user", "content": [
            {"type": "text", "text": "see"}, {"type": "image", "source": source}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "call_1", "name": "f", "input": {}},
            {"type": "tool_use", "id": "call_2", "name": "g", "input": {"b": 2}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_1"},
            {"type": "tool_result", "tool_use_id": "call_2", "content": "B"},
            {"type": "text", "text": "next"}]},
    ]  # fmt: skip
    assert (body["temperature"], body["stop_sequences"]) == (1, ["##"])
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    for code in ("PARAM_DEFAULTED/i max_tokens", "PARAM_CLAMPED/w temperature",
                 "MEDIA_DETAIL_DROPPED/i messages[1].content[1]",
                 "TOOL_RESULT_REORDERED/i messages"):  # fmt: skip
        assert code in tool.codes(said)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"n": 2}, "N_UNSUPPORTED/e n"),
        ({"logprobs": True}, "LOGPROBS_DROPPED/w logprobs"),
        ({"logit_bias": {"1": 2}}, "PARAM_DROPPED/w logit_bias"),
        ({"seed": 7}, "PARAM_DROPPED/i seed"),
        ({"frequency_penalty": 0.5}, "PARAM_DROPPED/w frequency_penalty"),
        ({"store": True}, "STATE_IGNORED/i store"),
        ({"response_format": {"type": "json_object"}}, "FORMAT_DOWNGRADED/w response_format"),
        ({"modalities": ["text", "audio"]}, "PARAM_DROPPED/e modalities"),
        ({"max_tokens": 10**6}, "PARAM_CLAMPED/w max_tokens"),
        ({"service_tier": "priority"}, "TIER_DROPPED/w service_tier"),
        ({"reasoning_effort": "high"}, "REASONING_APPROXIMATED/i reasoning_effort"),
        ({"reasoning_effort": "high", "temperature": 0.2}, "PARAM_CONFLICT/w temperature"),
        ({"messages": [USER, result("x", "r")]}, "TOOL_RESULT_ORPHAN/w messages"),
        ({"messages": [USER, called(("c", "f", "{}"))]}, "TOOL_RESULT_MISSING/w messages"),
        ({"messages": [USER, called(("c", "f", "[1]"))]},
         "TOOL_ARGS_INVALID/w messages[1].tool_calls[0]"),
        ({"messages": [USER, {"role": "system", "content": "S2"}]}, "SYSTEM_MOVED/w messages[1]"),
    ],
)  # fmt: skip
def test_losses_on_the_way_to_messages(body: tool.Case, code: str) -> None:
    assert code in tool.codes(to_messages(body))


@pytest.mark.parametrize("body", [{"n": 1}, {"logprobs": False}, {"frequency_penalty": 0},
                                  {"seed": None}])  # fmt: skip
def test_what_asks_for_nothing_costs_nothing(body: tool.Case) -> None:
    assert tool.codes(to_messages(body)) == ["PARAM_DEFAULTED/i max_tokens"]


def test_a_late_system_message_stays_where_it_is() -> None:
    said = to_messages({"messages": [USER, {"role": "system", "content": "S2"}, USER]})
    turn = said["body"]["messages"][0]
    texts = [block["text"] for block in turn["content"]]
    assert texts == ["hi", "<system>S2</system>", "hi"] and "system" not in said["body"]


def test_only_claudes_own_signatures_go_to_claude() -> None:
    details = [
        {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0, "text": "t",
         "signature": "SIG"},
        {"type": "reasoning.encrypted", "format": "google-gemini-v1", "index": 1, "data": "G"},
    ]  # fmt: skip
    turn = {"role": "assistant", "content": "a", "reasoning_details": details}
    said = to_messages({"messages": [USER, turn, USER]})
    blocks = said["body"]["messages"][1]["content"]
    assert blocks == [
        {"type": "thinking", "thinking": "t", "signature": "SIG"},
        {"type": "text", "text": "a"},
    ]
    assert '"G"' not in json.dumps(said["body"])
    assert "REASONING_DROPPED/i messages[1]" in tool.codes(said)


def test_a_budget_leaves_room_for_the_answer() -> None:
    for most in (1025, 2000, 8192, 64000):
        body = to_messages({"reasoning_effort": "max", "max_tokens": most})["body"]
        assert 1024 <= body["thinking"]["budget_tokens"] < most
    assert "thinking" not in to_messages({"reasoning_effort": "max", "max_tokens": 900})["body"]


def test_the_hubs_own_keys_are_out_of_a_clients_reach() -> None:
    said = to_messages({"x_thinking": {"mode": "enabled", "budget": 2000}, "x_top_k": 3})
    assert "thinking" not in said["body"] and "top_k" not in said["body"]
    many = {f"x_{i}": i for i in range(100)}
    said = to_messages({**many, "x_top_k": 3})
    assert "top_k" not in said["body"]


SCHEMA = {
    "type": "object",
    "properties": {"x_position": {"type": "number"}},
    "required": ["x_position"],
    "additionalProperties": False,
}


def test_what_clients_call_x_in_their_schemas_is_theirs() -> None:
    wanted = function("f", parameters=SCHEMA)
    said = to_chat({"tools": [{"name": "f", "input_schema": SCHEMA}], "output_config": {
        "format": {"type": "json_schema", "schema": SCHEMA}}})  # fmt: skip
    assert said["body"]["tools"] == [wanted]
    assert said["body"]["response_format"]["json_schema"]["schema"] == SCHEMA
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    said = to_messages({"tools": [wanted], "response_format": form})
    assert said["body"]["tools"] == [{"name": "f", "input_schema": SCHEMA}]
    assert said["body"]["output_config"]["format"]["schema"] == SCHEMA


@pytest.mark.parametrize(
    ("client", "body", "param"),
    [
        ("chat", {"messages": "x"}, "messages"),
        ("chat", {"messages": [{"role": "user", "content": 5}]}, "messages[0]"),
        ("chat", {"messages": [{"role": "robot", "content": "x"}]}, "messages[0]"),
        ("chat", {"messages": [USER], "max_tokens": "5"}, "max_tokens"),
        ("chat", {"messages": [USER], "tools": [{"type": "function"}]}, "tools[0].function"),
        ("chat", {"messages": [USER], "tools": [function("f")],
                  "tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
        ("messages", {"messages": [USER], "max_tokens": -1}, "max_tokens"),
        ("messages", {"messages": [{"role": "user"}], "max_tokens": 1}, "messages[0].content"),
        ("messages", {"messages": [USER], "max_tokens": 1, "tools": [{}]}, "tools[0]"),
    ],
)  # fmt: skip
def test_malformed_requests_name_their_field(client: str, body: tool.Case, param: str) -> None:
    upstream = "messages" if client == "chat" else "chat"
    said = tool.request(client, upstream, body)
    assert (said["error"]["class"], said["error"]["param"]) == ("invalid", param)
