"""The official anthropic SDK for Python on an Anthropic and on a chat channel."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import openai
import pytest
from harness.messages import CHAT, NATIVE
from harness.targets import Target

TEXT = "Hello from the simulator: every word counts."
HELLO = [{"role": "user", "content": "one two three"}]
TOOL = {
    "name": "get_weather",
    "description": "Weather of a city",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", None]}},
        "required": ["city"],
    },
}
CALLED = {"city": "Paris", "unit": "celsius"}
PICTURE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}


@pytest.fixture(params=[NATIVE, CHAT], ids=["native", "converted"])
def model(request: pytest.FixtureRequest, target: Target) -> str:
    if target.account is None and request.param != NATIVE:
        pytest.skip("the simulator converts nothing")
    target.simulator.settings(strict=True)
    return request.param


def client(target: Target, **options: Any) -> anthropic.Anthropic:
    options.setdefault("max_retries", 0)
    base_url = target.base_url.removesuffix("/v1")
    return anthropic.Anthropic(base_url=base_url, api_key=target.key, timeout=30, **options)


def ask(target: Target, model: str, **more: Any) -> Any:
    return client(target).messages.create(
        **{"model": model, "max_tokens": 100, "messages": HELLO, **more}
    )


def stream(target: Target, model: str, **more: Any) -> Any:
    """The final message, put together by the SDK's own accumulator."""
    more = {"model": model, "max_tokens": 100, "messages": HELLO, **more}
    with client(target).messages.stream(**more) as made:
        return made.get_final_message()


# The conversion is the same behind every web server: most is asked through one of them.
ONE_SERVER = pytest.mark.parametrize("target", ["simulator", "apache"], indirect=True)
BOTH_WAYS = pytest.mark.parametrize("way", [ask, stream], ids=["whole", "stream"])


@BOTH_WAYS
def test_text(target: Target, model: str, way) -> None:
    message = way(target, model)
    assert [block.text for block in message.content] == [TEXT]
    assert (message.stop_reason, message.model, message.role) == ("end_turn", model, "assistant")
    assert (message.usage.input_tokens, message.usage.output_tokens) == (3, 7)


@ONE_SERVER
def test_text_stream(target: Target, model: str) -> None:
    with client(target).messages.stream(model=model, max_tokens=100, messages=HELLO) as made:
        assert "".join(made.text_stream) == TEXT


@ONE_SERVER
def test_the_request_id(target: Target, model: str) -> None:
    assert ask(target, model)._request_id


@BOTH_WAYS
def test_tools_there_and_back(target: Target, model: str, way) -> None:
    target.simulator.behave(model, "tools")
    second = {**TOOL, "name": "get_time"}
    message = way(target, model, tools=[TOOL, second], tool_choice={"type": "any"})
    assert [(b.name, b.input) for b in message.content] == [
        ("get_weather", CALLED),
        ("get_time", CALLED),
    ]
    assert message.stop_reason == "tool_use"
    target.simulator.behave(model, "ok")
    results = [
        {"type": "tool_result", "tool_use_id": b.id, "content": "21", "is_error": False}
        for b in message.content
    ]
    turns = [
        *HELLO,
        {"role": "assistant", "content": message.content},
        {"role": "user", "content": results},
    ]
    assert way(target, model, messages=turns, tools=[TOOL, second]).content[0].text == TEXT


@ONE_SERVER
@BOTH_WAYS
def test_thinking_comes_and_goes_back(target: Target, model: str, way) -> None:
    target.simulator.behave(model, "think")
    thinking = {"type": "enabled", "budget_tokens": 1024}
    message = way(target, model, max_tokens=2000, thinking=thinking)
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.content[0].thinking == "first a thought"
    turns = [*HELLO, {"role": "assistant", "content": message.content}, HELLO[0]]
    again = way(target, model, max_tokens=2000, thinking=thinking, messages=turns)
    assert again.content[-1].text == TEXT


@ONE_SERVER
@BOTH_WAYS
def test_images(target: Target, model: str, way) -> None:
    content = [{"type": "text", "text": "what is it?"}, {"type": "image", "source": PICTURE}]
    assert way(target, model, messages=[{"role": "user", "content": content}]).content
    assert "iVBORw0KGgo=" in target.simulator.requests()[-1].body.decode()


@ONE_SERVER
def test_system_and_unicode_come_back_whole(target: Target, model: str) -> None:
    text = 'caf\u00e9 \u2615 \U0001f600 "quoted" back\\slash\nnew\tline \u2028 end'
    target.simulator.behave(model, "echo")
    message = stream(target, model, system="S", messages=[{"role": "user", "content": text}])
    sent = target.simulator.requests()[-1].json
    assert message.content[0].text == target.simulator.requests()[-1].body.decode()
    assert sent["messages"][-1]["content"] == text


@ONE_SERVER
def test_count_tokens(target: Target, model: str) -> None:
    counted = client(target).messages.count_tokens(model=model, messages=HELLO)
    assert 0 < counted.input_tokens < 30


@ONE_SERVER
def test_models(target: Target, model: str) -> None:
    if target.account is None:
        pytest.skip("the simulator lists models as OpenAI does")
    listed = {info.id: info for info in client(target).models.list()}
    assert {NATIVE, CHAT} <= set(listed)
    one = client(target).models.retrieve(model)
    assert one == listed[model] and one.type == "model" and one.created_at.year == 1970
    with pytest.raises(anthropic.NotFoundError):
        client(target).models.retrieve("m-nobody")


@ONE_SERVER
def test_errors(target: Target, model: str) -> None:
    cases = [
        ("bad-request", anthropic.BadRequestError),
        ("overloaded", anthropic.APIStatusError),
        ("fail", anthropic.InternalServerError),
    ]
    for scenario, kind in cases:
        target.simulator.behave(model, scenario)
        for way in (ask, stream):
            with pytest.raises(kind) as caught:
                way(target, model)
            assert caught.value.body["error"]["type"]


@ONE_SERVER
def test_a_wrong_key(target: Target, model: str) -> None:
    base_url = target.base_url.removesuffix("/v1")
    wrong = anthropic.Anthropic(base_url=base_url, api_key="sk-tg" + "B" * 43, max_retries=0)
    with pytest.raises(anthropic.AuthenticationError):
        wrong.messages.create(model=model, max_tokens=9, messages=HELLO)


@pytest.mark.books_differ("half an answer is counted locally")
def test_an_error_in_mid_stream_is_raised(target: Target, model: str) -> None:
    target.simulator.behave(model, "error-mid")
    with pytest.raises(anthropic.APIStatusError) as caught:
        stream(target, model)
    assert caught.value.body["error"]["type"] == "api_error"


@ONE_SERVER
@pytest.mark.books_differ("half an answer is counted locally")
def test_a_cut_stream_is_an_error(target: Target, model: str) -> None:
    if target.account is None:
        pytest.skip("only Tollgate says that an answer is cut")
    target.simulator.behave(model, "cut-mid")
    with pytest.raises(anthropic.APIStatusError):
        stream(target, model)


@ONE_SERVER
def test_many_at_once(target: Target, model: str) -> None:
    async def run() -> list[str]:
        base_url = target.base_url.removesuffix("/v1")
        sdk = anthropic.AsyncAnthropic(base_url=base_url, api_key=target.key, max_retries=0)
        asked: dict[str, Any] = {"model": model, "max_tokens": 100, "messages": HELLO}

        async def one(number: int) -> str:
            if number % 2:
                return (await sdk.messages.create(**asked)).content[0].text
            async with sdk.messages.stream(**asked) as made:
                return (await made.get_final_message()).content[0].text

        return await asyncio.gather(*(one(number) for number in range(20)))

    assert asyncio.run(run()) == [TEXT] * 20


# --- the openai SDK on an Anthropic channel ----------------------------------------------------


@pytest.fixture
def chat(target: Target) -> openai.OpenAI:
    if target.account is None:
        pytest.skip("the simulator converts nothing")
    return openai.OpenAI(base_url=target.base_url, api_key=target.key, timeout=30, max_retries=0)


def test_openai_on_an_anthropic_channel(target: Target, chat: openai.OpenAI) -> None:
    answer = chat.chat.completions.create(model=NATIVE, messages=HELLO, temperature=0.5)
    assert answer.choices[0].message.content == TEXT
    assert (answer.usage.prompt_tokens, answer.choices[0].finish_reason) == (3, "stop")
    chunks = list(
        chat.chat.completions.create(
            model=NATIVE, messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
    )
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == TEXT and chunks[-1].usage.completion_tokens == 7


@ONE_SERVER
def test_openai_tools_on_an_anthropic_channel(target: Target, chat: openai.OpenAI) -> None:
    target.simulator.behave(NATIVE, "tools")
    function = {"name": "get_weather", "parameters": TOOL["input_schema"]}
    tools: Any = [{"type": "function", "function": function}]
    with chat.chat.completions.stream(model=NATIVE, messages=HELLO, tools=tools) as made:
        message = made.get_final_completion().choices[0].message
    call = message.tool_calls[0]
    assert call.function.name == "get_weather"
    target.simulator.behave(NATIVE, "ok")
    said = {"id": call.id, "type": "function", "function": call.function.model_dump()}
    said["function"].pop("parsed_arguments", None)
    turns: Any = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [said]},
        {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"},
    ]
    answer = chat.chat.completions.create(model=NATIVE, messages=turns, tools=tools)
    assert answer.choices[0].message.content == TEXT


@ONE_SERVER
def test_openai_errors_of_an_anthropic_channel(target: Target, chat: openai.OpenAI) -> None:
    target.simulator.behave(NATIVE, "bad-request")
    with pytest.raises(openai.BadRequestError):
        chat.chat.completions.create(model=NATIVE, messages=HELLO)
    target.simulator.behave(NATIVE, "error-first")
    with pytest.raises(openai.InternalServerError):
        list(chat.chat.completions.create(model=NATIVE, messages=HELLO, stream=True))
