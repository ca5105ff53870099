"""Requests from and to Gemini, and what the way there is said to have cost."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import tool

USER = {"role": "user", "content": "hi"}
GUSER = {"role": "user", "parts": [{"text": "hi"}]}
G3, G25, OLD = "gemini-3-pro", "gemini-2.5-flash", "gemini-2.0-flash"


def to_gemini(body: tool.Case, model: str = G3) -> tool.Case:
    return tool.request("chat", "gemini", {"model": "m", "messages": [USER], **body}, model)


def to_chat(body: tool.Case, stream: bool = False) -> tool.Case:
    return tool.request("gemini", "chat", {"contents": [GUSER], **body}, "gpt-x", stream)


def call(id_: str, name: str, arguments: str, **more: Any) -> tool.Case:
    function = {"name": name, "arguments": arguments}
    return {"id": id_, "type": "function", "function": function, **more}


def turn(*calls: tool.Case, **more: Any) -> tool.Case:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def result(id_: str, content: str) -> tool.Case:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def function(name: str, schema: tool.Case | None = None) -> tool.Case:
    inner = {"name": name} if schema is None else {"name": name, "parameters": schema}
    return {"type": "function", "function": inner}


# --- Gemini to Chat -------------------------------------------------------------------------------


def test_gemini_to_chat_as_worked_out() -> None:
    parts = [
        {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "U0lHRw=="},
        {"functionCall": {"name": "f", "args": {"a": 2}}},
    ]
    answers = [
        {"functionResponse": {"name": "f", "response": {"result": "A"}}},
        {"functionResponse": {"name": "f", "response": {"x": 1}}},
    ]
    schema = {"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "nullable": True}}}
    said = to_chat(
        {
            "system_instruction": {"parts": [{"text": "S"}]},
            "contents": [GUSER, {"role": "model", "parts": parts},
                         {"role": "user", "parts": answers}],
            "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}],
            "generationConfig": {"thinkingConfig": {"thinkingBudget": 0}, "maxOutputTokens": 50},
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        },
        stream=True,
    )  # fmt: skip
    body = said["body"]
    system, user, assistant, first, second = body.pop("messages")
    ids = [one["id"] for one in assistant["tool_calls"]]
    assert len(set(ids)) == 2 and all(id_.startswith("call_h") for id_ in ids)
    assert (system, user) == ({"role": "system", "content": "S"}, USER)
    assert assistant["content"] is None and "extra_content" not in assistant["tool_calls"][0]
    assert [one["function"] for one in assistant["tool_calls"]] == [
        {"name": "f", "arguments": '{"a":1}'}, {"name": "f", "arguments": '{"a":2}'},
    ]  # fmt: skip
    assert first == {"role": "tool", "tool_call_id": ids[0], "content": "A"}
    assert second == {"role": "tool", "tool_call_id": ids[1], "content": '{"x":1}'}
    parameters = {"type": "object", "properties": {"a": {"type": ["integer", "null"]}}}
    assert body == {
        "model": "gpt-x",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 50,
        "reasoning_effort": "none",
        "tools": [function("f", parameters)],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
    }


def test_parts_of_users() -> None:
    text = base64.b64encode("käse".encode()).decode()
    parts = [
        {"text": "look"},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
        {"inline_data": {"mime_type": "audio/mpeg", "data": "AAAA"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
        {"inlineData": {"mimeType": "text/plain", "data": text}},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://x/y.jpg"}},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "gs://x/y.jpg"}},
        {"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}},
        {"executableCode": {"language": "PYTHON", "code": "1+1"}},
    ]
    config = {"mediaResolution": "MEDIA_RESOLUTION_LOW"}
    said = to_chat({"contents": [{"parts": parts}], "generationConfig": config})
    image = {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}
    pdf = {"filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}
    assert said["body"]["messages"][0]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": image},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "file", "file": pdf},
        {"type": "text", "text": "käse"},
        {"type": "image_url", "image_url": {"url": "https://x/y.jpg", "detail": "low"}},
        {"type": "text", "text": "```python\n1+1\n```\n"},
    ]
    assert {
        "FILE_REF_UNRESOLVED/e contents[0].parts[6]",
        "MEDIA_TYPE_UNSUPPORTED/e contents[0].parts[7]",
        "PART_DEGRADED/w contents[0].parts[8]",
    } <= set(tool.codes(said))


def test_results_are_paired_and_repaired() -> None:
    calls = [{"functionCall": {"id": "a", "name": "f"}}, {"functionCall": {"id": "b", "name": "g"}}]
    answers = [
        {"text": "and?"},
        {"functionResponse": {"id": "b", "name": "g", "response": {"error": "no"}}},
        {"functionResponse": {"id": "z", "name": "h", "response": {"output": "Z"}}},
    ]
    contents = [GUSER, {"role": "model", "parts": calls}, {"role": "function", "parts": answers}]
    said = to_chat({"contents": contents})
    assert said["body"]["messages"][2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "Error: [no result provided]"},
        {"role": "tool", "tool_call_id": "b", "content": "Error: no"},
        {"role": "user", "content": "[result of unknown tool call h] Z"},
        {"role": "user", "content": "and?"},
    ]
    codes = {code.split("/")[0] for code in tool.codes(said)}
    assert {"TOOL_RESULT_MISSING", "TOOL_RESULT_ORPHAN", "TOOL_ERROR_FLAG_INLINED"} <= codes


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({"mode": "AUTO"}, "auto"),
        ({"mode": "ANY"}, "required"),
        ({"mode": "NONE"}, "none"),
        ({"mode": "MODE_UNSPECIFIED"}, None),
        ({"mode": "VALIDATED"}, "auto"),
        ({"mode": "ANY", "allowedFunctionNames": ["f"]},
         {"type": "function", "function": {"name": "f"}}),
        ({"mode": "ANY", "allowedFunctionNames": ["f", "g"]},
         {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
             {"type": "function", "function": {"name": "f"}},
             {"type": "function", "function": {"name": "g"}}]}}),
    ],
)  # fmt: skip
def test_choices_of_gemini_in_chat(config: tool.Case, wanted: object) -> None:
    functions = [{"name": name} for name in "fgh"]
    said = to_chat({"tools": [{"functionDeclarations": functions}],
                    "toolConfig": {"functionCallingConfig": config}})  # fmt: skip
    assert said["body"].get("tool_choice") == wanted


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"cachedContent": "c"}, "STATE_UNSUPPORTED/e cachedContent"),
        ({"store": True}, "STATE_IGNORED/i store"),
        ({"x": 1}, "PARAM_UNKNOWN/i x"),
        ({"generationConfig": {"topK": 40}}, "PARAM_DROPPED/i top_k"),
        ({"generationConfig": {"speechConfig": {}}},
         "PARAM_DROPPED/w generationConfig.speechConfig"),
        ({"generationConfig": {"responseModalities": ["IMAGE"]}},
         "PARAM_DROPPED/e generationConfig.responseModalities"),
        ({"generationConfig": {"stopSequences": list("abcde")}},
         "STOP_TRUNCATED/w generationConfig.stopSequences"),
        ({"safetySettings": [{"threshold": "BLOCK_NONE"}]}, "SAFETY_DROPPED/i safetySettings"),
        ({"safetySettings": [{"threshold": "BLOCK_ONLY_HIGH"}]},
         "SAFETY_DROPPED/w safetySettings"),
        ({"tools": [{"googleSearch": {}}]}, "TOOL_BUILTIN_UNSUPPORTED/e tools"),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": 9000}}},
         "REASONING_APPROXIMATED/i generationConfig.thinkingConfig"),
    ],
)  # fmt: skip
def test_losses_on_the_way_to_chat_are_told(body: tool.Case, code: str) -> None:
    assert code in tool.codes(to_chat(body))


def test_formats_of_gemini() -> None:
    def body(**config: Any) -> tool.Case:
        return to_chat({"generationConfig": config})["body"]

    made = body(responseMimeType="application/json")
    assert made["response_format"] == {"type": "json_object"}
    assert made["messages"][0] == {"role": "system", "content": "Respond in JSON."}
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    made = body(responseMimeType="application/json", responseJsonSchema=schema)
    inner = {"name": "response", "schema": schema, "strict": True}
    assert made["response_format"] == {"type": "json_schema", "json_schema": inner}
    listed = {"type": "STRING", "enum": ["a", "b"]}
    made = body(responseMimeType="text/x.enum", responseSchema=listed)
    assert "response_format" not in made and '["a","b"]' in made["messages"][0]["content"]


def test_signatures_of_others_come_home() -> None:
    def wrapped(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    parts = [
        {"text": "Plan", "thought": True},
        {"text": "", "thought": True, "thoughtSignature": wrapped("gw1.cla.U0lHQw")},
        {"text": "answer", "thoughtSignature": "TkFUSVZF"},
    ]
    contents = [GUSER, {"role": "model", "parts": parts}, GUSER]
    body = tool.request("gemini", "messages", {"contents": contents}, "claude-sonnet-4-5")["body"]
    assert body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "Plan", "signature": "SIGC"},
        {"type": "text", "text": "answer"},
    ]
    assert "TkFUSVZF" not in json.dumps(body)


# --- Chat to Gemini -------------------------------------------------------------------------------


def test_chat_to_gemini_as_worked_out() -> None:
    schema = {"$schema": "x", "type": "object", "required": ["a", "zz"],
              "properties": {"a": {"type": "integer", "exclusiveMinimum": 0}, "b": {"const": "k"}},
              "additionalProperties": False}  # fmt: skip
    said = to_gemini(
        {
            "messages": [USER, turn(call("call_1", "f", '{"a":1}'), call("call_2", "g", "{}")),
                         result("call_2", '{"t":20}'), result("call_1", "ok"),
                         {"role": "user", "content": "then?"}],
            "reasoning_effort": "low",
            "tools": [function("f", schema), function("g")],
        }
    )  # fmt: skip
    calls = [
        {"functionCall": {"id": "call_1", "name": "f", "args": {"a": 1}},
         "thoughtSignature": "skip_thought_signature_validator"},
        {"functionCall": {"id": "call_2", "name": "g", "args": {}}},
    ]  # fmt: skip
    answers = [
        {"functionResponse": {"id": "call_1", "name": "f", "response": {"output": "ok"}}},
        {"functionResponse": {"id": "call_2", "name": "g", "response": {"t": 20}}},
    ]
    body = said["body"]
    assert body["contents"][:3] == [
        GUSER, {"role": "model", "parts": calls}, {"role": "user", "parts": answers},
    ]  # fmt: skip
    assert body["contents"][3:] == [{"role": "user", "parts": [{"text": "then?"}]}]
    thinking = {"thinkingLevel": "LOW", "includeThoughts": True}
    assert body["generationConfig"] == {"thinkingConfig": thinking}
    codes = {code.split(" ")[0] for code in tool.codes(said)}
    assert "TOOL_RESULT_REORDERED/i" in codes
    properties = {"a": {"type": "INTEGER", "minimum": 1}, "b": {"type": "STRING", "enum": ["k"]}}
    body = to_gemini({"tools": [function("f", schema), function("g")]}, OLD)["body"]
    assert body["tools"] == [
        {
            "functionDeclarations": [
                {"name": "f", "parameters": {"type": "OBJECT", "properties": properties,
                                             "required": ["a"]}},
                {"name": "g"},
            ]
        }
    ]  # fmt: skip


def test_older_models_see_no_ids_and_no_sentinel() -> None:
    messages = [USER, turn(call("c", "f", "{}")), result("c", "x")]
    body = to_gemini({"messages": messages}, G25)["body"]
    assert body["contents"][1:] == [
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user",
         "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]},
    ]  # fmt: skip


def test_a_conversation_that_google_would_refuse() -> None:
    said = to_gemini(
        {
            "messages": [
                {"role": "system", "content": "S"},
                turn(call("a", "f", "{}")),
                {"role": "system", "content": "late"},
                result("zz", "orphan"),
                {"role": "assistant", "content": ""},
                {"role": "user", "content": "x"},
            ]
        },
        G25,
    )
    body = said["body"]
    assert body["systemInstruction"] == {"parts": [{"text": "S"}]}
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user", "user"]
    assert body["contents"][0]["parts"] == [{"text": "Continue."}]
    response = body["contents"][2]["parts"][0]["functionResponse"]
    assert response == {"name": "f", "response": {"error": "no result provided"}}
    texts = [part["text"] for part in body["contents"][3]["parts"]]
    orphan = '[result of unknown tool call zz] {"output":"orphan"}'
    assert texts == ["<system>late</system>", orphan, "x"]
    assert {"TURN_SYNTHESIZED/w messages", "TOOL_RESULT_MISSING/w messages",
            "TOOL_RESULT_ORPHAN/w messages", "SYSTEM_MOVED/w messages[2]"} <= set(
        tool.codes(said)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("effort", "model", "wanted"),
    [
        ("none", G25, {"thinkingBudget": 0, "includeThoughts": False}),
        ("none", "gemini-2.5-pro", {"thinkingBudget": 128, "includeThoughts": False}),
        ("low", G25, {"thinkingBudget": 1024, "includeThoughts": True}),
        ("max", G25, {"thinkingBudget": 24576, "includeThoughts": True}),
        ("max", "gemini-2.5-pro", {"thinkingBudget": 32768, "includeThoughts": True}),
        ("none", G3, {"thinkingLevel": "LOW", "includeThoughts": False}),
        ("minimal", "gemini-3-flash", {"thinkingLevel": "MINIMAL", "includeThoughts": True}),
        ("medium", G3, {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("xhigh", "gemini-3-flash-preview", {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("high", OLD, None),
    ],
)
def test_one_of_budget_and_level(effort: str, model: str, wanted: object) -> None:
    body = to_gemini({"reasoning_effort": effort}, model)["body"]
    assert body.get("generationConfig", {}).get("thinkingConfig") == wanted


def test_a_budget_comes_through_two_steps_as_it_is() -> None:
    body = {"max_tokens": 9000, "messages": [USER],
            "thinking": {"type": "enabled", "budget_tokens": 5000}}  # fmt: skip
    made = tool.request("messages", "gemini", body, G25)["body"]["generationConfig"]
    assert made["thinkingConfig"] == {"thinkingBudget": 5000, "includeThoughts": True}


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"temperature": 3, "top_p": 0.5}, {"temperature": 2, "topP": 0.5}),
        ({"n": 9, "seed": 1 << 40}, {"candidateCount": 8, "seed": 0}),
        ({"stop": list("abcdefg")}, {"stopSequences": list("abcde")}),
        ({"logprobs": True, "top_logprobs": 3}, {"responseLogprobs": True, "logprobs": 3}),
        ({"max_tokens": 5, "max_completion_tokens": 7}, {"maxOutputTokens": 7}),
        ({"response_format": {"type": "json_object"}}, {"responseMimeType": "application/json"}),
    ],
)
def test_parameters(body: tool.Case, wanted: tool.Case) -> None:
    assert to_gemini(body)["body"]["generationConfig"] == wanted


def test_tools_or_json_not_both() -> None:
    more = {"response_format": {"type": "json_object"}, "tools": [function("f")]}
    said = to_gemini(more, G25)
    assert "generationConfig" not in said["body"] and said["body"]["tools"]
    assert "JSON" in said["body"]["systemInstruction"]["parts"][0]["text"]
    assert "TOOLS_FORMAT_CONFLICT/w response_format" in tool.codes(said)
    assert to_gemini(more)["body"]["generationConfig"]["responseMimeType"] == "application/json"


def test_tools_of_providers() -> None:
    search = {"web_search_options": {}}
    assert to_gemini(search)["body"]["tools"] == [{"googleSearch": {}}]
    both = {**search, "tools": [function("f")]}
    assert "TOOLS_FORMAT_CONFLICT/w tools" in tool.codes(to_gemini(both, G25))
    made = to_gemini(both)["body"]
    assert made["toolConfig"] == {"includeServerSideToolInvocations": True}
    body = {"max_tokens": 9, "messages": [USER], "tools": [
        {"type": "web_fetch_20250910", "name": "web_fetch"},
        {"type": "code_execution_20250825", "name": "code_execution"}]}  # fmt: skip
    made = tool.request("messages", "gemini", body, G3)["body"]
    assert made["tools"] == [{"urlContext": {}}, {"codeExecution": {}}]
    back = {"contents": [GUSER], "tools": made["tools"]}
    made = tool.request("gemini", "messages", back)["body"]
    assert [one["name"] for one in made["tools"]] == ["web_fetch", "code_execution"]


def test_names_fit_and_come_back() -> None:
    body = {"tools": [function("7/a.b"), function("7_a_b")], "messages": [
        USER, turn(call("c", "7/a.b", "{}"), call("d", "7_a_b", "{}")),
        result("c", "x"), result("d", "y")]}  # fmt: skip
    made = to_gemini(body, G25)["body"]
    names = [one["name"] for one in made["tools"][0]["functionDeclarations"]]
    assert names == ["_7_a_b", "_7_a_b_2"]
    sent = [part["functionCall"]["name"] for part in made["contents"][1]["parts"]]
    assert sent == names
    answer = {"candidates": [{"content": {"parts": [{"functionCall": {"name": names[1]}}]},
                              "finishReason": "STOP"}]}  # fmt: skip
    said = tool.one({"do": "answer", "client": "chat", "upstream": "gemini", "body": answer,
                     "tools": body})  # fmt: skip
    (back,) = said["body"]["choices"][0]["message"]["tool_calls"]
    assert back["function"]["name"] == "7_a_b"


def test_media_for_gemini() -> None:
    png = "data:image/png;base64,iVBORw0KGgo="
    content = [
        {"type": "image_url", "image_url": {"url": png, "detail": "high"}},
        {"type": "image_url", "image_url": {"url": "https://x/y.JPG?z=1"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "file", "file": {"file_data": "data:text/plain,k%C3%A4se"}},
        {"type": "file", "file": {"file_id": "f"}},
    ]
    body = {"messages": [{"role": "user", "content": content}]}
    said = to_gemini(body)
    assert said["body"]["contents"][0]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="},
         "mediaResolution": {"level": "MEDIA_RESOLUTION_HIGH"}},
        {"fileData": {"fileUri": "https://x/y.JPG?z=1", "mimeType": "image/jpeg"}},
        {"inlineData": {"mimeType": "audio/mp3", "data": "AAAA"}},
        {"inlineData": {"mimeType": "text/plain", "data": "a8Okc2U="}},
    ]  # fmt: skip
    assert "FILE_REF_UNRESOLVED/e messages[0].content[4]" in tool.codes(said)
    assert "MEDIA_URL_UNSUPPORTED/e messages[0].content[1]" in tool.codes(to_gemini(body, OLD))


@pytest.mark.parametrize(
    ("client", "body", "param"),
    [
        ("chat", {"messages": "x"}, "messages"),
        ("chat", {"messages": [{"role": "robot", "content": "x"}]}, "messages[0]"),
        ("chat", {"messages": [USER], "max_tokens": "5"}, "max_tokens"),
        ("gemini", {}, "contents"),
        ("gemini", {"contents": [5]}, "contents[0]"),
        ("gemini", {"contents": [{"role": "robot", "parts": []}]}, "contents[0].role"),
        ("gemini", {"contents": [GUSER], "generationConfig": {"maxOutputTokens": 0}},
         "maxOutputTokens"),
        ("gemini", {"contents": [GUSER], "tools": [{"functionDeclarations": [{}]}]},
         "tools.functionDeclarations"),
    ],
)  # fmt: skip
def test_malformed_requests_name_their_field(client: str, body: tool.Case, param: str) -> None:
    said = tool.request(client, "gemini" if client == "chat" else "chat", body)
    assert (said["error"]["class"], said["error"]["param"]) == ("invalid", param)
