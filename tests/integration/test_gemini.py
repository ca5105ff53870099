"""Gemini clients on channels of every protocol; clients of every other one on Gemini's."""

from __future__ import annotations

import json

import pytest
from harness import messages as messages_api
from harness.checks import is_ok, whole_stream
from harness.gemini import (
    CHAT,
    CLAUDE,
    COUNT,
    NATIVE,
    RESPONSES,
    STREAM,
    Content,
    auth,
    gemini_body,
    listed,
    open_stream,
    post,
    prepare,
    refused,
    streamed,
    uri,
    user,
    whole,
)
from harness.money import M_REF, bill
from harness.simclient import KEYS
from harness.stack import Account, Stack

TEXT = "Hello from the simulator: every word counts."
ALL = pytest.mark.parametrize(
    "model",
    [NATIVE, CHAT, CLAUDE, RESPONSES],
    ids=["native", "chat", "messages", "responses"],
)
FORMS = ("whole", "events", "array")
CALLED = {"city": "Paris", "unit": "celsius"}
TOOLS = [
    {
        "functionDeclarations": [
            {
                "name": "get_weather",
                "description": "Weather of a city",
                "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}},
            }
        ]
    }
]
ODD = (
    b'{ "contents" : [ {"parts":[{"text":"caf\\u00e9 \xe2\x98\x95"}], "role":"user"} ],\r\n'
    b'\t"generationConfig":{ "temperature":0.10,"topP":0.10e0 , "maxOutputTokens":64} }'
)


@pytest.fixture(autouse=True)
def channels(stack: Stack) -> None:
    prepare(stack)
    stack.simulator.settings(strict=True)


def read(account: Account, model: str, form: str, text: str = "hi", **more) -> Content:
    body = gemini_body(text, **more)
    if form == "whole":
        return whole(post(account, model, body))
    answer = post(account, model, body, STREAM, query="" if form == "array" else None)
    return listed(answer) if form == "array" else streamed(answer)


# --- what goes up ----------------------------------------------------------------------------


def test_a_gemini_channel_gets_the_clients_very_bytes(stack: Stack, account: Account) -> None:
    is_ok(post(account, NATIVE, ODD))
    is_ok(post(account, NATIVE, ODD, STREAM, query=""))
    first, second = stack.simulator.requests()
    assert first.body == ODD and second.body == ODD
    assert first.target == f"/v1/models/{NATIVE}:generateContent"
    assert second.target == f"/v1/models/{NATIVE}:streamGenerateContent?alt=sse"
    assert first.header("x-goog-api-key") == KEYS[0] and first.header("authorization") is None


def test_every_carrier_of_a_token_and_no_key_in_a_url(stack: Stack, account: Account) -> None:
    token, json_type = account.token, ("Content-Type", "application/json")
    for headers, query in (
        ([("x-goog-api-key", token), json_type], ""),
        ([json_type], f"key={token}"),
        ([("Authorization", f"Bearer {token}"), json_type], ""),
    ):
        is_ok(account.post(gemini_body(), headers, uri=uri(NATIVE, query=query)))
    for seen in stack.simulator.requests():
        assert token not in seen.target and token not in str(seen.raw["headers"])
        assert KEYS[0] not in seen.target
    assert not any(process.log_contains(token) for process in stack.processes())


def test_fr96_a_mapped_model_is_renamed_back(stack: Stack, account: Account) -> None:
    model = stack.new_model(M_REF)
    stack.channel(f"g-{model}", [model], "--provider", "gemini", "--map", f"{model}=sim-ok-p10-c3")
    stack.upstream_names["sim-ok-p10-c3"] = model
    stack.wait_model(account, model)
    for form in FORMS:
        assert read(account, model, form).model == model
    assert {seen.model for seen in stack.simulator.requests()} == {"sim-ok-p10-c3"}


def test_a_chat_channel_gets_a_chat_request(stack: Stack, account: Account) -> None:
    more = {
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "generationConfig": {"stopSequences": ["##"], "maxOutputTokens": 50},
    }
    assert read(account, CHAT, "events", "one two", **more).text == TEXT
    sent = stack.simulator.only()
    assert sent.path == "/v1/chat/completions"
    assert sent.json == {
        "model": CHAT,
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "one two"},
        ],
        "max_completion_tokens": 50,
        "stop": ["##"],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


# --- what comes back -------------------------------------------------------------------------


@ALL
def test_text_usage_and_bill(stack: Stack, account: Account, model: str) -> None:
    for form in FORMS:
        made = read(account, model, form)
        assert (made.text, made.finish, made.model) == (TEXT, "STOP", model)
        usage = made.usage
        assert (usage["promptTokenCount"], usage["candidatesTokenCount"]) == (1, 7)
        assert usage["totalTokenCount"] == 8
    spent = 3 * bill({"prompt_tokens": 1, "completion_tokens": 7}, M_REF)
    stack.simulator.behave(model, "ok", p=9000, r=7000, c=200)
    for form in FORMS:
        usage = read(account, model, form).usage
        assert usage["cachedContentTokenCount"] == 7000 and usage["promptTokenCount"] == 9000
        assert usage["candidatesTokenCount"] == 200
    account.wait_spent(spent + 3 * 5550)  # 2000 x 1.5 + 7000 x 0.15 + 200 x 7.5


def test_thoughts_are_output(stack: Stack, account: Account) -> None:
    stack.simulator.behave(NATIVE, "think", p=15, c=27, t=20)
    usage = read(account, NATIVE, "events").usage
    assert (usage["candidatesTokenCount"], usage["thoughtsTokenCount"]) == (7, 20)
    answer = account.chat(NATIVE)
    used = is_ok(answer).json["usage"]
    assert (used["completion_tokens"], used["total_tokens"]) == (27, 42)
    assert used["completion_tokens_details"]["reasoning_tokens"] == 20
    account.wait_spent(2 * bill({"prompt_tokens": 15, "completion_tokens": 27}, M_REF))


@ALL
def test_tools_there_and_back(stack: Stack, account: Account, model: str) -> None:
    stack.simulator.behave(model, "tools")
    config = {"functionCallingConfig": {"mode": "ANY"}}
    for form in FORMS:
        made = read(account, model, form, tools=TOOLS, toolConfig=config)
        assert (made.calls, made.finish) == ([("get_weather", CALLED)], "STOP")
    stack.simulator.behave(model, "ok")
    call = next(part["functionCall"] for part in made.parts if "functionCall" in part)
    result = {"id": call["id"], "name": call["name"], "response": {"output": "21 degrees"}}
    contents = [user("hi"), made.turn, {"role": "user", "parts": [{"functionResponse": result}]}]
    body = json.dumps({"contents": contents, "tools": TOOLS}).encode()
    assert whole(post(account, model, body)).text == TEXT


@ALL
def test_thoughts_come_to_those_who_ask(stack: Stack, account: Account, model: str) -> None:
    stack.simulator.behave(model, "think")
    thinking = {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"}}
    for form in ("whole", "events"):
        made = read(account, model, form, generationConfig=thinking)
        thoughts = "".join(p.get("text", "") for p in made.parts if p.get("thought"))
        assert (thoughts, made.text) == ("first a thought", TEXT)


# --- other clients on a Gemini channel -------------------------------------------------------


def test_chat_clients(stack: Stack, account: Account) -> None:
    answer = account.chat(NATIVE, "one two")
    choice = is_ok(answer).json["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (TEXT, "stop")
    assert answer.json["model"] == NATIVE
    streamed_ = whole_stream(account.stream(NATIVE, "one two"))
    assert streamed_.text == TEXT
    assert stack.simulator.requests()[0].json == {"contents": [user("one two")]}


def test_fr81_a_signature_comes_back_on_its_call(stack: Stack, account: Account) -> None:
    function = {"name": "f", "parameters": {"type": "object", "properties": {}}}
    tools = [{"type": "function", "function": function}]
    stack.simulator.behave(NATIVE, "tools")
    message = is_ok(account.chat(NATIVE, tools=tools)).json["choices"][0]["message"]
    call = message["tool_calls"][0]
    signature = call["extra_content"]["google"]["thought_signature"]
    stack.simulator.behave(NATIVE, "ok")
    result = {"role": "tool", "tool_call_id": call["id"], "content": "x"}
    plain = {name: call[name] for name in ("id", "type", "function")}
    for sent, wanted in ((call, signature), (plain, "skip_thought_signature_validator")):
        turn = {"role": "assistant", "content": None, "tool_calls": [sent]}
        body = {"model": NATIVE, "tools": tools}
        body["messages"] = [{"role": "user", "content": "hi"}, turn, result]
        is_ok(account.post(json.dumps(body).encode()))
        part = stack.simulator.requests()[-1].json["contents"][1]["parts"][0]
        assert part["thoughtSignature"] == wanted


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_messages_clients(stack: Stack, account: Account, stream: bool) -> None:
    def ask(**more):
        answer = messages_api.ask(account, NATIVE, stream=stream, **more)
        return messages_api.streamed(answer) if stream else messages_api.whole(answer)

    made = ask()
    assert (made.text, made.stop_reason, made.model) == (TEXT, "end_turn", NATIVE)
    tool = {"name": "f", "input_schema": {"type": "object", "properties": {}}}
    stack.simulator.behave(NATIVE, "tools")
    made = ask(tools=[tool])
    assert (made.calls, made.stop_reason) == ([("f", CALLED)], "tool_use")
    stack.simulator.behave(NATIVE, "ok")
    call = next(block for block in made.content if block["type"] == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "21"}
    turns = [
        messages_api.user("hi"),
        {"role": "assistant", "content": made.content},
        messages_api.user([result]),
    ]
    assert ask(messages=turns, tools=[tool]).text == TEXT
    part = stack.simulator.requests()[-1].json["contents"][1]["parts"][0]
    assert part["thoughtSignature"].startswith("c2ln")


def responses_answer(account: Account, stream: bool, **more) -> dict:
    body = json.dumps({"model": NATIVE, "input": "hi", "stream": stream, **more}).encode()
    headers = [("Authorization", f"Bearer {account.token}"), ("Content-Type", "application/json")]
    answer = is_ok(account.post(body, headers, uri="/v1/responses"))
    if not stream:
        return answer.json
    events = [json.loads(data) for data in answer.event_data]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "response.completed"
    return events[-1]["response"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_responses_clients(stack: Stack, account: Account, stream: bool) -> None:
    made = responses_answer(account, stream)
    (message,) = [item for item in made["output"] if item["type"] == "message"]
    assert (made["status"], made["model"]) == ("completed", NATIVE)
    assert message["content"][0]["text"] == TEXT
    tool = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
    stack.simulator.behave(NATIVE, "tools")
    made = responses_answer(account, stream, tools=[tool])
    (call,) = [item for item in made["output"] if item["type"] == "function_call"]
    assert (call["name"], json.loads(call["arguments"])) == ("f", CALLED)


# --- errors ----------------------------------------------------------------------------------


def test_fr95_what_no_upstream_takes(stack: Stack, account: Account) -> None:
    config = b'"generationConfig":{"maxOutputTokens":0}'
    for body, said in (
        (b"{}", "contents"),
        (b'{"contents":null}', "contents"),
        (b'{"contents":7}', "contents"),
        (b'{"contents":[]}', "contents"),
        (b"[]", "object"),
        (b"", ""),
        (b'{"contents":[{"parts":[{"text":"a"}]}],' + config + b"}", "maxOutputTokens"),
    ):
        assert said in refused(post(account, NATIVE, body), 400, "INVALID_ARGUMENT"), body
    assert stack.simulator.requests() == []


@ALL
def test_errors_of_the_upstream(stack: Stack, account: Account, model: str) -> None:
    stack.simulator.behave(model, "bad-request")
    message = refused(post(account, model, gemini_body()), 400, "INVALID_ARGUMENT")
    assert "temperature" in message
    answer = post(account, model, gemini_body(), STREAM, query="")
    assert answer.status == 400 and answer.json[0]["error"]["status"] == "INVALID_ARGUMENT"


def test_who_may_not(stack: Stack, account: Account) -> None:
    refused(post(account, "no-such-model", gemini_body()), 404, "NOT_FOUND")
    answer = account.post(gemini_body(), [("x-goog-api-key", "sk-tg.no")], uri=uri(NATIVE))
    refused(answer, 401, "UNAUTHENTICATED")
    answer = account.post(gemini_body(), auth(account), uri="/v1beta/models/m:embedContent")
    assert answer.status == 405 and "error" in answer.json


@ALL
@pytest.mark.books_differ("errors in the middle of a stream are counted locally")
def test_a_stream_that_breaks(stack: Stack, account: Account, model: str) -> None:
    spent = 0
    for scenario in ("error-mid", "cut-mid"):
        stack.simulator.behave(model, scenario)
        for query, reader in ((None, streamed), ("", listed)):
            answer = post(account, model, gemini_body(), STREAM, query=query)
            made = reader(answer, complete=False)
            assert made.text == "Hello from" and made.finish is None
            assert made.error is not None and 500 <= made.error["code"] < 600
            assert made.error["status"] in ("INTERNAL", "UNAVAILABLE")
            record = stack.site.record(answer.request_id)
            assert record["usage_source"] == "counted_locally"
            spent += record["quota"]
    account.wait_spent(spent)


@pytest.mark.books_differ("a client that leaves pays for what it got")
def test_the_upstream_ends_when_the_client_leaves(stack: Stack, account: Account) -> None:
    stack.simulator.behave(NATIVE, "hang-after")
    exchange = open_stream(account, NATIVE)
    stack.simulator.wait(1)
    exchange.read_until(b"Hello")
    exchange.close()
    stack.simulator.wait(1, finished=True)


def test_streams_as_servers_send_them(stack: Stack, account: Account) -> None:
    for scenario in ("split-bytes", "crlf", "comments", "nospace", "multiline", "eof-no-newline",
                     "bom", "gzip"):  # fmt: skip
        stack.simulator.behave(NATIVE, scenario)
        for form in ("events", "array"):
            assert read(account, NATIVE, form).text == TEXT, scenario
        assert whole_stream(account.stream(NATIVE)).text == TEXT, scenario


# --- tokens and models -----------------------------------------------------------------------


def test_tokens_are_counted_by_google_or_here(stack: Stack, account: Account) -> None:
    answer = is_ok(post(account, NATIVE, gemini_body("one two three"), COUNT))
    assert answer.json == {"totalTokens": 3}
    assert answer.header("x-tollgate-estimated") is None
    for body in (gemini_body("one two three"),
                 json.dumps({"generateContentRequest": {"contents": [user("one two three")]}})
                 .encode()):  # fmt: skip
        answer = is_ok(post(account, CHAT, body, COUNT))
        assert 3 <= answer.json["totalTokens"] < 20
        assert answer.header("x-tollgate-estimated") == "true"
    account.wait_spent(0)


def test_models(stack: Stack, account: Account) -> None:
    for path in ("/v1beta/models?pageSize=50", "/v1/models"):
        answer = is_ok(stack.fcgi.request("GET", path, auth(account)))
        names = {model["name"] for model in answer.json["models"]}
        assert {f"models/{NATIVE}", f"models/{CHAT}"} <= names
    answer = is_ok(stack.fcgi.request("GET", f"/v1beta/models/{NATIVE}", auth(account)))
    assert answer.json["name"] == f"models/{NATIVE}"
    assert "generateContent" in answer.json["supportedGenerationMethods"]
    refused(stack.fcgi.request("GET", "/v1beta/models/none", auth(account)), 404, "NOT_FOUND")
