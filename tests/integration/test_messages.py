"""Messages clients on Anthropic and on chat channels, and chat clients on Anthropic channels."""

from __future__ import annotations

import json

import pytest
from harness.checks import is_error, is_ok, spliced, whole_stream
from harness.messages import (
    CHAT,
    COUNT,
    NATIVE,
    Message,
    ask,
    auth,
    messages_body,
    open_stream,
    post,
    prepare,
    refused,
    streamed,
    user,
    whole,
)
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Account, Stack, chat_body

TEXT = "Hello from the simulator: every word counts."
BOTH = pytest.mark.parametrize("model", [NATIVE, CHAT], ids=["native", "converted"])
STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
TOOL = {
    "name": "get_weather",
    "description": "Weather of a city",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}
CALLED = {"city": "Paris", "unit": "celsius"}
ODD = (
    b'{ "messages" : [ {"role":"user", "content":"caf\\u00e9 \xe2\x98\x95 \\ud83d\\ude00"} ],\r\n'
    b'\t"model" : "m-native" ,"max_tokens":64, "temperature":0.10, "top_p":0.10e0,'
    b'"metadata":{"user_id":"\\/"} }'
)


@pytest.fixture(autouse=True)
def channels(stack: Stack) -> None:
    prepare(stack)
    stack.simulator.settings(strict=True)


def read(account: Account, model: str, stream: bool, **more) -> Message:
    answer = ask(account, model, stream=stream, **more)
    return streamed(answer) if stream else whole(answer)


# --- what goes up ----------------------------------------------------------------------------


def test_an_anthropic_channel_gets_the_clients_very_bytes(stack: Stack, account: Account) -> None:
    is_ok(post(account, ODD))
    seen = stack.simulator.only()
    assert seen.body == ODD and seen.path == "/v1/messages"


def test_fr96_a_mapped_model_is_spliced_and_renamed_back(stack: Stack, account: Account) -> None:
    model = stack.new_model(M_REF)
    stack.channel(
        f"map-{model}", [model], "--provider", "anthropic", "--map", f"{model}=sim-ok-p10-c3"
    )
    stack.upstream_names["sim-ok-p10-c3"] = model
    stack.wait_model(account, model)
    body = ODD.replace(b'"m-native"', json.dumps(model).encode())
    assert whole(post(account, body)).model == model
    assert stack.simulator.only().body == spliced(body, "sim-ok-p10-c3")
    assert read(account, model, stream=True).model == model


def test_fr93_new_fields_go_up_with_their_betas(stack: Stack, account: Account) -> None:
    beta = "context-management-2025-06-27,interleaved-thinking-2025-05-14"
    more = [("anthropic-beta", beta), ("X-Stainless-Lang", "python"), ("Cookie", "a=1")]
    body = messages_body(NATIVE, context_management={"edits": []})
    is_ok(post(account, body, *more))
    seen = stack.simulator.only()
    assert seen.header("x-api-key") == KEYS[0] and seen.header("authorization") is None
    assert seen.header("anthropic-version") == "2023-06-01"
    assert seen.header("anthropic-beta") == beta
    assert seen.header("x-stainless-lang") is None and seen.header("cookie") is None
    assert account.token not in str(seen.raw["headers"])


def test_fr93_a_chat_channel_gets_neither(stack: Stack, account: Account) -> None:
    body = messages_body(CHAT, context_management={"edits": []})
    is_ok(post(account, body, ("anthropic-beta", "context-management-2025-06-27")))
    seen = stack.simulator.only()
    assert seen.header("anthropic-beta") is None and "context_management" not in seen.json


def test_the_clients_version_goes_on_and_has_a_default(stack: Stack, account: Account) -> None:
    body = messages_body(NATIVE)
    headers = [("x-api-key", account.token), ("Content-Type", "application/json")]
    newer = ("anthropic-version", "2026-10-21")
    is_ok(account.post(body, [*headers, newer], uri="/v1/messages"))
    is_ok(account.post(body, headers, uri="/v1/messages"))
    first, second = stack.simulator.requests()
    assert first.header("anthropic-version") == "2026-10-21"
    assert second.header("anthropic-version") == "2023-06-01"


def test_a_chat_channel_gets_a_chat_request(stack: Stack, account: Account) -> None:
    answer = ask(account, CHAT, "one two", system="be brief", stop_sequences=["##"], stream=True)
    assert streamed(answer).text == TEXT
    sent = stack.simulator.only()
    assert sent.path == "/v1/chat/completions"
    assert sent.header("anthropic-version") is None and sent.header("x-api-key") is None
    assert sent.json == {
        "model": CHAT,
        "messages": [{"role": "system", "content": "be brief"}, user("one two")],
        "max_completion_tokens": 1000,
        "stop": ["##"],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


# --- what comes back -------------------------------------------------------------------------


@BOTH
@STREAM
def test_text(stack: Stack, account: Account, model: str, stream: bool) -> None:
    made = read(account, model, stream)
    assert (made.text, made.stop_reason, made.model) == (TEXT, "end_turn", model)
    assert (made.usage["input_tokens"], made.usage["output_tokens"]) == (1, 7)
    account.wait_spent(bill({"prompt_tokens": 1, "completion_tokens": 7}, M_REF))


@BOTH
@STREAM
def test_usage_and_bill_are_the_same_both_ways(
    stack: Stack, account: Account, model: str, stream: bool
) -> None:
    stack.simulator.behave(model, "ok", p=9000, r=7000, w=1500, c=200)
    usage = read(account, model, stream).usage
    assert usage["cache_read_input_tokens"] == 7000 and usage["output_tokens"] == 200
    assert usage["input_tokens"] + usage["cache_creation_input_tokens"] == 2000
    # 500 x 1.5 + 7000 x 0.15 + 1500 x 1.875 + 200 x 7.5
    account.wait_spent(6113)


@BOTH
@STREAM
def test_tools_there_and_back(stack: Stack, account: Account, model: str, stream: bool) -> None:
    stack.simulator.behave(model, "tools")
    made = read(account, model, stream, tools=[TOOL], tool_choice={"type": "any"})
    assert (made.calls, made.stop_reason) == ([("get_weather", CALLED)], "tool_use")
    stack.simulator.behave(model, "ok")
    result = {"type": "tool_result", "tool_use_id": made.content[0]["id"], "content": "21 degrees"}
    turns = [
        user("hi"),
        {"role": "assistant", "content": made.content},
        user([result, {"type": "text", "text": "and now?"}]),
    ]
    made = read(account, model, stream, messages=turns, tools=[TOOL])
    assert made.text == TEXT


@STREAM
def test_reasoning_of_a_chat_channel_comes_as_thinking(
    stack: Stack, account: Account, stream: bool
) -> None:
    stack.simulator.behave(CHAT, "think")
    made = read(account, CHAT, stream)
    assert [block["type"] for block in made.content] == ["thinking", "text"]
    assert made.content[0]["thinking"] == "first a thought"
    turns = [user("hi"), {"role": "assistant", "content": made.content}, user("go on")]
    assert read(account, CHAT, stream, messages=turns).text == TEXT
    assistant = stack.simulator.requests()[-1].json["messages"][1]
    assert assistant == {"role": "assistant", "content": TEXT}, "no made-up signature, no leak"


@BOTH
@STREAM
def test_stop_reasons(stack: Stack, account: Account, model: str, stream: bool) -> None:
    assert read(account, model, stream, max_tokens=2).stop_reason == "max_tokens"
    stack.simulator.behave(model, "refuse")
    assert read(account, model, stream).stop_reason == "refusal"


def test_images_reach_a_chat_channel_as_data(stack: Stack, account: Account) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    content = [{"type": "text", "text": "what is it?"}, {"type": "image", "source": source}]
    whole(ask(account, CHAT, messages=[user(content)]))
    assert stack.simulator.only().json["messages"][0]["content"] == [
        {"type": "text", "text": "what is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ]


@BOTH
@pytest.mark.parametrize(
    "scenario",
    ["split-bytes", "crlf", "cr", "mixed", "bom", "comments", "nospace", "multiline", "gzip"],
)
def test_however_a_stream_is_written(
    stack: Stack, account: Account, model: str, scenario: str
) -> None:
    stack.simulator.behave(model, scenario)
    assert read(account, model, stream=True).text == TEXT


@BOTH
@pytest.mark.books_differ("counted here")
def test_an_upstream_without_usage_is_counted_here(
    stack: Stack, account: Account, model: str
) -> None:
    stack.simulator.behave(model, "no-usage")
    answer = ask(account, model, stream=True)
    assert streamed(answer).text == TEXT
    assert stack.site.record(answer.request_id)["usage_source"] == "counted_locally"


# --- chat clients on Anthropic channels --------------------------------------------------------


def test_a_chat_client_on_an_anthropic_channel(stack: Stack, account: Account) -> None:
    answer = is_ok(account.chat(NATIVE, "one two three"))
    assert answer.text == TEXT and answer.json["model"] == NATIVE
    assert answer.json["choices"][0]["finish_reason"] == "stop"
    assert answer.json["usage"]["prompt_tokens"] == 3
    made = whole_stream(account.stream(NATIVE, stream_options={"include_usage": True}))
    assert made.text == TEXT and made.chunks[-1]["usage"]["completion_tokens"] == 7
    assert made.chunks[-2]["choices"][0]["finish_reason"] == "stop"
    silent = whole_stream(account.stream(NATIVE))
    assert all(chunk["choices"] and not chunk.get("usage") for chunk in silent.chunks)
    assert {seen.path for seen in stack.simulator.requests()} == {"/v1/messages"}


@STREAM
def test_chat_tools_on_an_anthropic_channel(stack: Stack, account: Account, stream: bool) -> None:
    stack.simulator.behave(NATIVE, "tools")
    function = {"name": "get_weather", "parameters": TOOL["input_schema"]}
    tools = [{"type": "function", "function": function}]
    answer = account.chat(NATIVE, tools=tools, tool_choice="required", stream=stream)
    if stream:
        pieces = [c["choices"][0] for c in whole_stream(answer).chunks if c["choices"]]
        calls = [call for p in pieces for call in p["delta"].get("tool_calls", [])]
        arguments = "".join(call["function"].get("arguments", "") for call in calls)
        made = {**calls[0], "function": {**calls[0]["function"], "arguments": arguments}}
        assert pieces[-1]["finish_reason"] == "tool_calls"
    else:
        made = is_ok(answer).json["choices"][0]["message"]["tool_calls"][0]
    assert json.loads(made["function"]["arguments"]) == CALLED
    made.pop("index", None)
    messages = [
        user("hi"),
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": made["id"], "content": "21 degrees"},
    ]
    stack.simulator.behave(NATIVE, "ok")
    again = account.post(
        chat_body(NATIVE, messages=messages, tools=tools, stream=stream)
    )
    assert is_ok(again).text == TEXT


# --- errors ------------------------------------------------------------------------------------

ERRORS = {
    "bad-request": (400, "invalid_request_error"),
    "unauthorized": (529, "overloaded_error"),
    "rate-limit": (429, "rate_limit_error"),
    "fail": (500, "api_error"),
    "overloaded": (529, "overloaded_error"),
    "not-found": (404, "not_found_error"),
}


@BOTH
@STREAM
@pytest.mark.parametrize("scenario", ERRORS)
def test_upstream_errors(
    stack: Stack, account: Account, model: str, stream: bool, scenario: str
) -> None:
    stack.simulator.behave(model, scenario, k=0)
    refused(ask(account, model, stream=stream), *ERRORS[scenario])
    account.wait_spent(0)


@BOTH
@pytest.mark.books_differ("half an answer is counted here")
@pytest.mark.parametrize("scenario", ["error-mid", "cut-mid", "reset-mid", "bad-json"])
def test_half_an_answer_never_looks_whole(
    stack: Stack, account: Account, model: str, scenario: str
) -> None:
    stack.simulator.behave(model, scenario)
    answer = ask(account, model, stream=True)
    made = streamed(answer, complete=False)
    assert made.error is not None and made.error["type"] == "api_error"
    assert b"message_stop" not in answer.body and made.text == "Hello from"


@BOTH
def test_an_error_as_the_first_event_is_an_error_answer(
    stack: Stack, account: Account, model: str
) -> None:
    stack.simulator.behave(model, "error-first")
    answer = ask(account, model, stream=True)
    refused(answer, 500, "api_error")


def test_a_chat_client_gets_chat_errors_of_an_anthropic_channel(
    stack: Stack, account: Account
) -> None:
    stack.simulator.behave(NATIVE, "bad-request")
    is_error(account.chat(NATIVE), 400, "invalid_request_error", "invalid_request")
    stack.simulator.behave(NATIVE, "overloaded")
    assert account.chat(NATIVE).status == 503


def test_refusals_of_our_own(stack: Stack, account: Account) -> None:
    body = messages_body(NATIVE)
    wrong = [("x-api-key", "sk-tg" + "B" * 43), ("Content-Type", "application/json")]
    refused(account.post(body, wrong, uri="/v1/messages"), 401, "authentication_error")
    refused(ask(account, "m-nobody"), 404, "not_found_error")
    refused(post(account, b"{"), 400, "invalid_request_error")
    poor = stack.account("0")
    refused(ask(poor, NATIVE), 402, "billing_error")
    assert stack.simulator.requests() == []


@BOTH
def test_keep_alives_are_pings(stack: Stack, account: Account, model: str) -> None:
    stack.simulator.behave(model, "slow-headers", ms=5000)
    made = streamed(ask(account, model, stream=True))
    assert made.pings >= 1 and made.text == TEXT


@BOTH
@pytest.mark.books_differ("the client leaves")
def test_a_client_that_leaves_stops_the_upstream(
    stack: Stack, account: Account, model: str
) -> None:
    stack.simulator.behave(model, "slow-tokens", ms=100, x=200)
    exchange = open_stream(account, model)
    stack.simulator.wait(1)
    eventually("words flow", lambda: stack.simulator.only().words_sent > 2)
    exchange.close()
    eventually("the upstream is let go", lambda: stack.simulator.only().peer_closed_s is not None)
    assert stack.simulator.only().words_sent < 150


# --- counting ------------------------------------------------------------------------------------


def count_body(model: str, text: str, **more) -> bytes:
    return json.dumps({"model": model, "messages": [user(text)], **more}).encode()


def test_tokens_are_counted_by_an_anthropic_channel(stack: Stack, account: Account) -> None:
    body = count_body(NATIVE, "one two three", system="four")
    answer = is_ok(post(account, body, ("anthropic-beta", "a,b"), uri=COUNT))
    assert answer.json == {"input_tokens": 4}
    assert answer.header("x-tollgate-estimated") is None
    seen = stack.simulator.only()
    assert seen.body == body and seen.path == "/v1/messages/count_tokens"
    assert seen.header("anthropic-beta") == "a,b"
    account.wait_spent(0)


def test_tokens_for_a_chat_channel_are_counted_here(stack: Stack, account: Account) -> None:
    short = is_ok(post(account, count_body(CHAT, "one"), uri=COUNT))
    long = is_ok(post(account, count_body(CHAT, "one " * 1000), uri=COUNT))
    assert short.header("x-tollgate-estimated") == "true"
    assert 0 < short.json["input_tokens"] < 20
    assert 900 < long.json["input_tokens"] - short.json["input_tokens"] < 2000
    assert stack.simulator.requests() == []
    account.wait_spent(0)


def test_counting_survives_an_upstream_that_cannot(stack: Stack, account: Account) -> None:
    stack.simulator.behave(NATIVE, "fail")
    answer = is_ok(post(account, count_body(NATIVE, "one"), uri=COUNT))
    assert answer.header("x-tollgate-estimated") == "true"
    stack.simulator.behave(NATIVE, "bad-request")
    refused(post(account, count_body(NATIVE, "one"), uri=COUNT), 400, "invalid_request_error")
    refused(post(account, b'{"model":"m-native"}', uri=COUNT), 400, "invalid_request_error")
    assert post(account, count_body("m-nobody", "one"), uri=COUNT).status == 404
    assert account.post(count_body(NATIVE, "one"), [], uri=COUNT).status == 401
    account.wait_spent(0)


def test_counting_needs_no_money(stack: Stack) -> None:
    poor = stack.account("0")
    assert is_ok(post(poor, count_body(NATIVE, "one"), uri=COUNT)).json == {"input_tokens": 1}


def test_a_credential_in_every_carrier(stack: Stack, account: Account) -> None:
    body = messages_body(NATIVE)
    bearer = [("Authorization", f"Bearer {account.token}"), ("Content-Type", "application/json")]
    for headers in (bearer, auth(account)):
        whole(account.post(body, headers, uri="/v1/messages"))


@BOTH
@pytest.mark.parametrize("messages", ["absent", None, 7, []])
def test_fr95_a_request_without_messages(
    stack: Stack, account: Account, model: str, messages: object
) -> None:
    body = {"model": model, "max_tokens": 9, "messages": messages}
    if messages == "absent":
        del body["messages"]
    text = json.dumps(body).encode()
    refused(post(account, text), 400, "invalid_request_error")
    error = account.post(text)
    assert error.status == 400 and error.error["param"] == "messages"
    assert stack.simulator.requests() == []
    account.wait_spent(0)


# --- models --------------------------------------------------------------------------------------


def test_models_as_anthropic_lists_them(stack: Stack, account: Account) -> None:
    listed = is_ok(stack.fcgi.request("GET", "/v1/models", auth(account))).json
    names = [model["id"] for model in listed["data"]]
    assert {NATIVE, CHAT} <= set(names)
    assert (listed["first_id"], listed["last_id"], listed["has_more"]) == (
        names[0],
        names[-1],
        False,
    )
    one = is_ok(stack.fcgi.request("GET", f"/v1/models/{NATIVE}", auth(account))).json
    assert one in listed["data"] and one["type"] == "model"
    refused(stack.fcgi.request("GET", "/v1/models/m-nobody", auth(account)), 404, "not_found_error")
    refused(stack.fcgi.request("GET", "/v1/models", auth(account)[1:]), 401, "authentication_error")
    plain = stack.fcgi.request("GET", "/v1/models", account.auth()).json
    assert [model["id"] for model in plain["data"]] == names and plain["object"] == "list"
