"""Whole answers of Gemini and for it, folded streams, and what went wrong in other gateways."""

from __future__ import annotations

import json
import random

import pytest
import streams
import tool
from test_answers import as_stream, random_answer
from test_field_reports import NUMBERS, raw

GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Plan.", "thought": True},
                    {"text": "", "thought": True, "thoughtSignature": "Z3cxLmNsYS5VMGxIUXc="},
                    {"text": "Checking."},
                    {"functionCall": {"id": "call_A", "name": "weather", "args": {"city": "Rome"}}},
                    {"functionCall": {"id": "call_B", "name": "now", "args": {}}},
                ],
            },
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 912,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 33,
        "cachedContentTokenCount": 800,
        "totalTokenCount": 952,
    },
    "modelVersion": "m",
    "responseId": "n1",
}
FR86 = {
    "type": "object",
    "$schema": "http://json-schema.org/draft-07/schema#",
    "additionalProperties": False,
    "properties": {
        "n": {"type": "integer", "exclusiveMinimum": 0},
        "m": {"type": "number", "exclusiveMaximum": 5},
        "k": {"enum": [1, 2]},
        "u": {"type": "array", "uniqueItems": True, "items": {"type": "string", "const": "x"}},
        "additionalProperties": {"type": "string"},
        "o": {"type": ["string", "null"]},
        "r": {"$ref": "#/$defs/node"},
    },
    "required": ["n"],
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
}


def keywords(schema: object) -> set[str]:
    """Of all depths; names of properties are none."""
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    for key, value in schema.items():
        inner = value.values() if key in ("properties", "$defs") else [value]
        for one in inner:
            for each in one if isinstance(one, list) else [one]:
                found |= keywords(each)
    return found


def test_one_answer_in_gemini() -> None:
    from test_answers import CHAT, MESSAGES

    assert tool.answer("gemini", "chat", CHAT)["body"] == GEMINI
    assert tool.answer("gemini", "messages", MESSAGES)["body"] == GEMINI


def candidate(*parts: tool.Case, finish: str = "STOP", **more: object) -> tool.Case:
    made = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    return {"candidates": [{**made, **more}], "modelVersion": "g", "responseId": "r"}


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("STOP", "stop"), ("MAX_TOKENS", "length"), ("SAFETY", "content_filter"),
     ("RECITATION", "content_filter"), ("SPII", "content_filter"), ("OTHER", "stop"),
     ("X_NEW", "stop"), ("MALFORMED_FUNCTION_CALL", "stop")],
)  # fmt: skip
def test_no_reason_of_googles_reaches_a_chat_client(reason: str, finish: str) -> None:
    said = tool.answer("chat", "gemini", candidate({"text": "a"}, finish=reason))
    assert said["body"]["choices"][0]["finish_reason"] == finish


def test_blocked_prompts_and_broken_calls() -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}}
    (choice,) = tool.answer("chat", "gemini", body)["body"]["choices"]
    assert choice["message"]["refusal"] == "Prompt blocked: SAFETY"
    assert (choice["message"]["content"], choice["finish_reason"]) == (None, "content_filter")
    message = tool.answer("messages", "gemini", body)["body"]
    assert message["stop_reason"] == "refusal"
    said = tool.answer("chat", "gemini", candidate(finish="MALFORMED_FUNCTION_CALL"))
    assert (said["error"]["status"], said["error"]["code"]) == (502, "malformed_function_call")
    said = tool.answer("chat", "gemini", {"usageMetadata": {}})
    assert said["error"]["code"] == "upstream_invalid"
    error = {"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}
    for form in (error, [error]):
        said = tool.answer("chat", "gemini", form)
        assert (said["error"]["status"], said["error"]["type"]) == (429, "rate_limit_error")


def test_refusals_for_gemini() -> None:
    message = {"role": "assistant", "content": None, "refusal": "No."}
    body = {"id": "c", "model": "m", "choices": [{"index": 0, "message": message,
                                                  "finish_reason": "stop"}]}  # fmt: skip
    (one,) = tool.answer("gemini", "chat", body)["body"]["candidates"]
    assert (one["content"]["parts"], one["finishReason"]) == ([{"text": "No."}], "SAFETY")
    message["refusal"] = None
    body["choices"][0]["finish_reason"] = "content_filter"
    (one,) = tool.answer("gemini", "chat", body)["body"]["candidates"]
    assert "content" not in one and one["finishReason"] == "SAFETY"


def test_citations_and_probabilities() -> None:
    support = {"segment": {"startIndex": 1, "endIndex": 4}, "groundingChunkIndices": [0, 7]}
    grounding = {"groundingChunks": [{"web": {"uri": "https://x", "title": "X"}}],
                 "groundingSupports": [support]}  # fmt: skip
    other = {"token": "a", "logProbability": -1}
    logprobs = {"chosenCandidates": [{"token": "é", "logProbability": -0.5}],
                "topCandidates": [{"candidates": [other]}]}  # fmt: skip
    body = candidate({"text": "text"}, groundingMetadata=grounding, logprobsResult=logprobs)
    (choice,) = tool.answer("chat", "gemini", body)["body"]["choices"]
    cited = {"start_index": 1, "end_index": 4, "title": "X", "url": "https://x"}
    assert choice["message"]["annotations"] == [{"type": "url_citation", "url_citation": cited}]
    (token,) = choice["logprobs"]["content"]
    assert (token["token"], token["logprob"], token["bytes"]) == ("é", -0.5, [195, 169])
    assert token["top_logprobs"] == [{"token": "a", "logprob": -1, "bytes": [97]}]
    chat = {"id": "c", "model": "m", "choices": [{**choice, "index": 0}]}
    (back,) = tool.answer("gemini", "chat", chat)["body"]["candidates"]
    assert back["logprobsResult"] == logprobs


def test_usage_adds_up() -> None:
    used = {"promptTokenCount": 15, "toolUsePromptTokenCount": 3, "candidatesTokenCount": 7,
            "thoughtsTokenCount": 20, "totalTokenCount": 45}  # fmt: skip
    body = {**candidate({"text": "a"}), "usageMetadata": used}
    usage = tool.answer("chat", "gemini", body)["body"]["usage"]
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    assert [usage[name] for name in names] == [18, 27, 45]
    usage = tool.answer("messages", "gemini", body)["body"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (18, 27)


def fold(events: list[tool.Case]) -> tool.Case:
    """What a client of Gemini has gathered at the end."""
    parts: list[tool.Case] = []
    finish = None
    for event in events:
        (one,) = event["candidates"]
        finish = one.get("finishReason", finish)
        for part in one["content"]["parts"]:
            last = parts[-1] if parts else {}
            if part == {"text": ""}:
                continue
            if "text" in part and last.keys() == part.keys():
                last["text"] += part["text"]
            else:
                parts.append(dict(part))
    made = {"content": {"role": "model", "parts": parts or [{"text": ""}]}}
    if not parts and finish == "SAFETY":
        made = {}
    result = {"candidates": [{**made, "finishReason": finish, "index": 0}]}
    kept = ("usageMetadata", "modelVersion", "responseId")
    return {**result, **{name: events[-1][name] for name in kept if name in events[-1]}}


def test_a_folded_stream_is_the_answer() -> None:
    rng = random.Random(2026)
    answers = [random_answer(rng) for _ in range(300)]
    way = {"client": "gemini", "upstream": "chat"}
    whole = tool.convert([{"do": "answer", **way, "body": body} for body in answers])
    folded = tool.convert(
        [{"do": "stream", **way, "end": "done", "events": as_stream(body)} for body in answers]
    )
    for body, one, other in zip(answers, whole, folded, strict=True):
        assert fold(other["events"]) == one["body"], json.dumps(body)


def test_a_folded_stream_of_gemini_is_the_answer() -> None:
    rng = random.Random(2027)
    cases = []
    while len(cases) < 300:
        parts = [streams.part(rng) for _ in range(rng.randint(1, 4))]
        cases.append({**candidate(*parts), "usageMetadata": streams.metadata(rng)})
    way = {"client": "chat", "upstream": "gemini"}
    whole = tool.convert([{"do": "answer", **way, "body": body} for body in cases])
    streamed = tool.convert([{"do": "stream", **way, "events": [body]} for body in cases])
    for body, one, other in zip(cases, whole, streamed, strict=True):
        made: tool.Case = {"content": "", "reasoning_content": "", "details": [], "calls": []}
        for event in other["events"][:-1]:
            delta = event["choices"][0]["delta"]
            made["content"] += delta.get("content") or ""
            made["reasoning_content"] += delta.get("reasoning_content") or ""
            made["details"] += delta.get("reasoning_details") or []
            made["calls"] += delta.get("tool_calls") or []
        message = one["body"]["choices"][0]["message"]
        assert made["content"] == (message["content"] or ""), json.dumps(body)
        assert made["reasoning_content"] == message.get("reasoning_content", "")
        assert made["details"] == message.get("reasoning_details", [])
        calls = [{"index": i, **call} for i, call in enumerate(message.get("tool_calls", []))]
        assert made["calls"] == calls
        assert other["events"][-1]["usage"] == one["body"]["usage"]


# --- field reports ----------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["gemini-2.0-flash", "gemini-2.5-flash"])
def test_fr86_no_keyword_that_google_does_not_know(model: str) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": FR86}}]
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": tools}
    (declared,) = tool.request("chat", "gemini", body, model)["body"]["tools"][0][
        "functionDeclarations"
    ]
    key = "parameters" if model == "gemini-2.0-flash" else "parametersJsonSchema"
    made = declared[key]
    gone = {"$schema", "uniqueItems", "const", "exclusiveMinimum", "exclusiveMaximum"}
    assert not keywords(made) & gone
    assert made["properties"]["n"]["minimum"] == 1 and made["required"] == ["n"]
    assert made["properties"]["additionalProperties"]["type"].lower() == "string"
    if key == "parametersJsonSchema":
        assert made["properties"]["r"] == {"$ref": "#/$defs/node"}
        return
    assert not keywords(made) & {"additionalProperties", "$ref", "$defs"}
    assert made["properties"]["o"] == {"type": "STRING", "nullable": True}
    assert made["properties"]["u"]["items"] == {"type": "STRING", "enum": ["x"]}
    assert "enum" not in made["properties"]["k"] and made["properties"]["m"]["maximum"] == 5
    assert made["properties"]["r"]["type"] == "OBJECT"
    assert "(recursive) node" in json.dumps(made["properties"]["r"])


def test_fr85_numbers_keep_their_text() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": NUMBERS}}
    turns = [{"role": "user", "content": "x"},
             {"role": "assistant", "content": None, "tool_calls": [call]},
             {"role": "tool", "tool_call_id": "a", "content": "x"}]  # fmt: skip
    case = {"do": "request", "client": "chat", "upstream": "gemini", "model": "gemini-3-pro"}
    up = raw(json.dumps({**case, "body": {"model": "m", "messages": turns}}))
    assert f'"args":{NUMBERS}' in up.replace(" ", "")
    answer = (
        '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":'
        f'{NUMBERS}}}}}]}},"finishReason":"STOP"}}]}}'
    )
    task = f'{{"do":"answer","client":"chat","upstream":"gemini","body":{answer}}}'
    down = json.loads(raw(task))
    made = down["body"]["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    assert made.replace(" ", "") == NUMBERS


def test_fr81_signatures_survive_every_client() -> None:
    """What each kind of client is shown and sends back stands on the same call again."""
    parts = [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2lnLTE="},
             {"functionCall": {"name": "g", "args": {}}}]  # fmt: skip
    answer = candidate(*parts)
    chat = tool.answer("chat", "gemini", answer)["body"]["choices"][0]["message"]
    message = tool.answer("messages", "gemini", answer)["body"]
    ids = [call["id"] for call in chat["tool_calls"]]
    turns = [{"role": "user", "content": "x"}, chat,
             *({"role": "tool", "tool_call_id": id_, "content": "y"} for id_ in ids)]  # fmt: skip
    results = [{"type": "tool_result", "tool_use_id": id_, "content": "y"} for id_ in ids]
    blocks = [turns[0], {"role": "assistant", "content": message["content"]},
              {"role": "user", "content": results}]  # fmt: skip
    for client, body in (
        ("chat", {"messages": turns}),
        ("messages", {"max_tokens": 9, "messages": blocks}),
    ):
        contents = tool.request(client, "gemini", body, "gemini-3-pro")["body"]["contents"]
        signed = [part.get("thoughtSignature") for part in contents[1]["parts"]]
        assert signed == ["c2lnLTE=", None], client


def test_a_signature_of_text_is_no_calls() -> None:
    parts = [{"text": "a"}, {"text": "", "thoughtSignature": "VEVYVA=="}]
    content = tool.answer("messages", "gemini", candidate(*parts))["body"]["content"]
    user = {"role": "user", "content": "x"}
    body = {"max_tokens": 9, "messages": [user, {"role": "assistant", "content": content}, user]}
    contents = tool.request("messages", "gemini", body, "gemini-3-pro")["body"]["contents"]
    assert contents[1]["parts"] == [{"text": "a", "thoughtSignature": "VEVYVA=="}]
