"""Requests of Responses in other words, and other requests in the words of Responses."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tool

USER = {"role": "user", "content": "hi"}
PNG = "data:image/png;base64,iVBORw0KGgo="
OPEN = {"type": "object", "properties": {}}
STRICT = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /x/"}


def to_chat(body: tool.Case, model: str = "unknown") -> tool.Case:
    return tool.request("responses", "chat", {"model": "m", "input": "hi", **body}, model)


def to_responses(body: tool.Case, model: str = "unknown") -> tool.Case:
    return tool.request("chat", "responses", {"model": "m", "messages": [USER], **body}, model)


WORKED_IN: tool.Case = {
    "model": "m",
    "instructions": "S",
    "input": [
        USER,
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "t"}],
            "encrypted_content": "ENC",
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Checking."}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "f",
            "arguments": "{}",
        },
        {"type": "custom_tool_call", "call_id": "call_2", "name": "sh", "input": "ls"},
        {"type": "function_call_output", "call_id": "call_1", "output": "A"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": "B"},
    ],
    "tools": [
        {"type": "function", "name": "f", "parameters": STRICT},
        {"type": "custom", "name": "sh", "description": "shell"},
    ],
    "reasoning": {"effort": "low", "summary": "auto"},
    "text": {"format": {"type": "json_schema", "name": "r", "schema": {"type": "object"}}},
}


# --- Responses to Chat ----------------------------------------------------------------------------


def test_responses_to_chat_as_worked_out() -> None:
    said = to_chat(WORKED_IN)
    body = said["body"]
    calls = [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "call_2", "type": "function",
         "function": {"name": "sh", "arguments": '{"input":"ls"}'}},
    ]  # fmt: skip
    assert body["messages"] == [
        {"role": "system", "content": "S"},
        USER,
        {"role": "assistant", "content": "Checking.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_1", "content": "A"},
        {"role": "tool", "tool_call_id": "call_2", "content": "B"},
    ]
    assert body["tools"][0]["function"] == {"name": "f", "parameters": STRICT, "strict": True}
    wrapped = body["tools"][1]["function"]
    assert wrapped["description"].startswith("shell\n\n")
    assert wrapped["parameters"]["required"] == ["input"]
    assert body["reasoning_effort"] == "low"
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "r", "schema": {"type": "object"}},
    }
    assert '"x_' not in json.dumps(body)
    assert {"TOOL_CUSTOM_WRAPPED/i tools", "REASONING_DROPPED/i messages"} <= set(tool.codes(said))


def test_scalars_keep_their_meaning() -> None:
    body = to_chat(
        {
            "max_output_tokens": 50,
            "temperature": 0.5,
            "top_p": 0.9,
            "metadata": {"a": "b"},
            "service_tier": "flex",
            "prompt_cache_key": "k",
            "safety_identifier": "u",
            "top_logprobs": 2,
            "text": {"verbosity": "low", "format": {"type": "text"}},
            "store": False,
            "stream": True,
        }
    )["body"]
    assert body.pop("messages") == [USER]
    assert body == {
        "model": "unknown",
        "max_completion_tokens": 50,
        "temperature": 0.5,
        "top_p": 0.9,
        "metadata": {"a": "b"},
        "service_tier": "flex",
        "prompt_cache_key": "k",
        "safety_identifier": "u",
        "logprobs": True,
        "top_logprobs": 2,
        "verbosity": "low",
        "store": False,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"previous_response_id": "resp_1"}, "STATE_UNSUPPORTED/e previous_response_id"),
        ({"conversation": "conv_1"}, "STATE_UNSUPPORTED/e conversation"),
        ({"prompt": {"id": "p"}}, "STATE_UNSUPPORTED/e prompt"),
        ({"background": True}, "STATE_UNSUPPORTED/e background"),
        ({"store": True}, "STATE_IGNORED/i store"),
        ({"truncation": "auto"}, "PARAM_DROPPED/w truncation"),
        ({"context_management": [{"type": "compaction"}]}, "PARAM_DROPPED/w context_management"),
        ({"max_tool_calls": 3}, "PARAM_DROPPED/i max_tool_calls"),
        ({"include": ["file_search_call.results"]}, "PARAM_DROPPED/i include[0]"),
        ({"reasoning": {"mode": "x"}}, "PARAM_DROPPED/i reasoning.mode"),
        ({"reasoning": {"summary": "auto"}}, "PARAM_APPROXIMATED/i reasoning.summary"),
        ({"what": 1}, "PARAM_UNKNOWN/i what"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "STATE_UNSUPPORTED/e input[0]"),
        ({"input": [{"type": "compaction", "encrypted_content": "x"}]},
         "STATE_UNSUPPORTED/e input[0]"),
        ({"input": [{"type": "web_search_call", "id": "x"}]}, "BLOCK_DROPPED/w input[0]"),
        ({"input": [{"type": "x_new"}]}, "PARAM_UNKNOWN/w input[0]"),
        ({"tools": [{"type": "file_search", "vector_store_ids": []}]},
         "TOOL_BUILTIN_UNSUPPORTED/e tools"),
        ({"tools": [{"type": "mcp", "server_label": "s"}]}, "TOOL_BUILTIN_UNSUPPORTED/e tools"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]},
         "FILE_REF_UNRESOLVED/e input[0].content[0]"),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "u"}]}]},
         "MEDIA_URL_UNSUPPORTED/e input[0].content[0]"),
    ],
)  # fmt: skip
def test_what_chat_cannot_say_is_told(body: tool.Case, code: str) -> None:
    assert code in tool.codes(to_chat(body))


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": 5}, "input"),
        ({"input": None}, "input"),
        ({"input": [5]}, "input[0]"),
        ({"input": [{"role": "user", "content": 5}]}, "input[0]"),
        ({"input": [{"role": "king", "content": "x"}]}, "input[0]"),
        ({"max_output_tokens": "5"}, "max_output_tokens"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"tools": [{"type": "function"}]}, "tools[0]"),
        ({"tools": [{}]}, "tools[0]"),
        ({"tools": [{"type": "namespace", "name": "n"}]}, "tools[0]"),
        ({"tools": [{"type": "function", "name": "f"}],
          "tool_choice": {"type": "function", "name": "g"}}, "tool_choice"),
    ],
)  # fmt: skip
def test_a_malformed_request_is_refused_by_name(body: tool.Case, param: str) -> None:
    error = to_chat(body)["error"]
    assert (error["class"], error["param"]) == ("invalid", param)


def test_parts_of_a_message() -> None:
    content = [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": PNG, "detail": "low"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"},
        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
    ]
    body = to_chat({"input": [{"role": "user", "content": content}]})["body"]
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
        {"type": "file",
         "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"}},
        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
    ]  # fmt: skip


def test_results_stand_behind_their_calls() -> None:
    call = {"type": "function_call", "name": "f", "arguments": ""}
    output = {"type": "function_call_output"}
    said = to_chat(
        {
            "input": [
                USER,
                {**call, "call_id": "a"},
                {**call, "call_id": "b"},
                {**call, "call_id": "c"},
                {**output, "call_id": "b", "output": [
                    {"type": "input_text", "text": "B"},
                    {"type": "input_image", "image_url": PNG},
                ]},
                {**output, "call_id": "a", "output": "A"},
                {**output, "call_id": "zzz", "output": "Z"},
                {"role": "user", "content": "on"},
            ]
        }
    )  # fmt: skip
    messages = said["body"]["messages"]
    assert [message["role"] for message in messages] == [
        "user", "assistant", "tool", "tool", "tool", "user", "user", "user",
    ]  # fmt: skip
    assert [message["tool_call_id"] for message in messages[2:5]] == ["a", "b", "c"]
    assert messages[3]["content"] == "B\n[image attached below]"
    assert messages[4]["content"] == "[no result provided]"
    assert messages[5]["content"][1] == {"type": "image_url", "image_url": {"url": PNG}}
    assert messages[6]["content"] == "[result of unknown tool call zzz] Z"
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == "{}"
    codes = [code.split("/")[0] for code in tool.codes(said)]
    for code in ("TOOL_RESULT_MISSING", "TOOL_RESULT_ORPHAN", "TOOL_RESULT_MEDIA_MOVED",
                 "TOOL_RESULT_REORDERED"):  # fmt: skip
        assert code in codes


def test_roles_and_places_of_instructions() -> None:
    turns = [USER, {"role": "developer", "content": "D"}, {"role": "system", "content": "Y"}]
    for model, role in (("gpt-5", "developer"), ("o3", "developer"), ("qwen", "system")):
        body = to_chat({"instructions": "S", "input": turns}, model)["body"]
        assert [message["role"] for message in body["messages"]] == [
            "system", "user", role, "system",
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        ({"type": "web_search"}, "auto"),
        ({"type": "allowed_tools", "mode": "required",
          "tools": [{"type": "function", "name": "g"}]},
         {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
             {"type": "function", "function": {"name": "g"}}]}}),
    ],
)  # fmt: skip
def test_choices_of_responses_in_chat(choice: Any, wanted: Any) -> None:
    tools = [{"type": "function", "name": name, "parameters": OPEN} for name in "fg"]
    said = to_chat({"tools": tools, "tool_choice": choice, "parallel_tool_calls": False})
    assert said["body"]["tool_choice"] == wanted
    assert said["body"]["parallel_tool_calls"] is False


def test_flags_go_with_tools_only() -> None:
    body = to_chat({"tool_choice": "auto", "parallel_tool_calls": True})["body"]
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & body.keys()


def test_namespaces_become_flat_and_come_back() -> None:
    inner = [{"type": "function", "name": "get", "parameters": OPEN}]
    asked = {
        "tools": [{"type": "namespace", "name": "crm", "description": "d", "tools": inner}],
        "input": [
            USER,
            {"type": "function_call", "call_id": "c", "namespace": "crm", "name": "get",
             "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "x"},
        ],
    }  # fmt: skip
    body = to_chat(asked)["body"]
    assert body["tools"][0]["function"]["name"] == "crm__get"
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == "crm__get"
    call = {"id": "c", "type": "function", "function": {"name": "crm__get", "arguments": "{}"}}
    answer = {"id": "x", "choices": [{"message": {"content": None, "tool_calls": [call]}}]}
    said = tool.one({"do": "answer", "client": "responses", "upstream": "chat", "body": answer,
                     "tools": asked})  # fmt: skip
    item = said["body"]["output"][0]
    assert (item["name"], item["namespace"]) == ("get", "crm")


# --- Chat to Responses ----------------------------------------------------------------------------


def test_chat_to_responses_as_worked_out() -> None:
    detail = {"type": "reasoning.encrypted", "format": "openai-responses-v1", "index": 0,
              "id": "rs_1", "data": "ENC"}  # fmt: skip
    calls = [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "call_2", "type": "custom", "custom": {"name": "sh", "input": "ls"}},
    ]
    said = to_responses(
        {
            "messages": [
                {"role": "system", "content": "S"},
                {"role": "system", "content": "T"},
                USER,
                {"role": "assistant", "content": "Checking.", "reasoning_content": "t",
                 "reasoning_details": [detail], "tool_calls": calls},
                {"role": "tool", "tool_call_id": "call_1", "content": "A"},
                {"role": "tool", "tool_call_id": "call_2",
                 "content": [{"type": "text", "text": "B"}]},
                {"role": "developer", "content": "later"},
            ],
            "tools": [
                {"type": "function", "function": {"name": "f", "parameters": STRICT,
                                                  "strict": True}},
                {"type": "custom", "custom": {"name": "sh", "description": "shell",
                 "format": {"type": "grammar",
                            "grammar": {"syntax": "lark", "definition": "start: /x/"}}}},
            ],
            "reasoning_effort": "low",
            "response_format": {"type": "json_schema",
                                "json_schema": {"name": "r", "schema": {"type": "object"}}},
            "max_tokens": 100,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    )  # fmt: skip
    assert said["body"] == {
        "model": "unknown",
        "max_output_tokens": 100,
        "instructions": "S\n\nT",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}],
             "encrypted_content": "ENC"},
            {"type": "message", "role": "assistant",
             "content": [{"type": "output_text", "text": "Checking.", "annotations": []}]},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "call_2", "name": "sh", "input": "ls"},
            {"type": "function_call_output", "call_id": "call_1", "output": "A"},
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": "B"},
            {"type": "message", "role": "developer",
             "content": [{"type": "input_text", "text": "later"}]},
        ],
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "r", "schema": {"type": "object"}}},
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "stream": True,
        "tools": [
            {"type": "function", "name": "f", "parameters": STRICT, "strict": True},
            {"type": "custom", "name": "sh", "description": "shell", "format": GRAMMAR},
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"stop": ["x"]}, "STOP_UNSUPPORTED/w stop"),
        ({"n": 2}, "N_UNSUPPORTED/e n"),
        ({"seed": 7}, "PARAM_DROPPED/i seed"),
        ({"frequency_penalty": 1}, "PARAM_DROPPED/w frequency_penalty"),
        ({"logit_bias": {"1": 2}}, "PARAM_DROPPED/w logit_bias"),
        ({"max_tokens": 5}, "PARAM_CLAMPED/w max_tokens"),
        ({"modalities": ["audio"]}, "PARAM_DROPPED/e modalities"),
        ({"user": "u" * 100}, "USER_HASHED/i user"),
        ({"web_search_options": {}}, "TOOL_BUILTIN_MAPPED/w tools"),
        ({"messages": [{**USER, "name": "bob"}]}, "NAME_DROPPED/i messages[0]"),
        ({"messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]},
         "TOOL_RESULT_ORPHAN/w messages[0]"),
    ],
)  # fmt: skip
def test_what_responses_cannot_say_is_told(body: tool.Case, code: str) -> None:
    assert code in tool.codes(to_responses(body))


@pytest.mark.parametrize("body", [{"n": 1}, {"stop": []}, {"seed": None}, {"logprobs": False},
                                  {"frequency_penalty": 0}])  # fmt: skip
def test_what_asks_for_nothing_is_no_loss(body: tool.Case) -> None:
    assert tool.codes(to_responses(body)) == []


def test_nothing_is_stored_unless_asked_for() -> None:
    body = to_responses({})["body"]
    assert body["store"] is False and body["include"] == ["reasoning.encrypted_content"]
    body = to_responses({"store": True, "logprobs": True, "top_logprobs": 3})["body"]
    assert body["store"] is True and body["include"] == ["message.output_text.logprobs"]
    assert body["top_logprobs"] == 3
    assert "include" not in to_responses({}, "gpt-4o")["body"]


def test_tools_say_that_they_are_not_strict() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    body = to_responses({"tools": tools, "tool_choice": "required"})["body"]
    assert body["tools"] == [
        {"type": "function", "name": "f", "parameters": OPEN, "strict": False}
    ]
    assert body["tool_choice"] == "required"


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ({"type": "function", "function": {"name": "f"}}, {"type": "function", "name": "f"}),
        ({"type": "custom", "custom": {"name": "sh"}}, {"type": "custom", "name": "sh"}),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
            {"type": "custom", "custom": {"name": "sh"}}]}},
         {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "custom", "name": "sh"}]}),
    ],
)  # fmt: skip
def test_choices_of_chat_in_responses(choice: Any, wanted: Any) -> None:
    tools = [{"type": "function", "function": {"name": "f"}},
             {"type": "custom", "custom": {"name": "sh"}}]  # fmt: skip
    if "allowed_tools" in choice:
        choice["allowed_tools"]["tools"] = [{"type": "custom", "name": "sh"}]
    assert to_responses({"tools": tools, "tool_choice": choice})["body"]["tool_choice"] == wanted


def test_images_files_and_missing_results() -> None:
    call = {"id": "c" * 70, "type": "function", "function": {"name": "f", "arguments": ""}}
    said = to_responses(
        {
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": PNG}},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:x"}},
                    {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
                ]},
                {"role": "assistant", "content": "", "refusal": "No.", "tool_calls": [call]},
            ]
        }
    )  # fmt: skip
    items = said["body"]["input"]
    assert items[0]["content"] == [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": PNG, "detail": "auto"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:x"},
    ]
    assert items[1]["content"] == [{"type": "refusal", "refusal": "No."}]
    assert items[2]["arguments"] == "{}" and len(items[2]["call_id"]) <= 64
    assert items[3] == {"type": "function_call_output", "call_id": items[2]["call_id"],
                        "output": "[no result provided]"}  # fmt: skip
    codes = [code.split(" ")[0] for code in tool.codes(said)]
    assert "MEDIA_TYPE_UNSUPPORTED/e" in codes and "TOOL_ID_REWRITTEN/i" in codes
    assert "TOOL_RESULT_MISSING/w" in codes
