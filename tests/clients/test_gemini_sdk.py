"""The official google-genai SDK for Python on a Gemini, a chat and an Anthropic channel."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from google import genai
from google.genai import errors, types
from harness.gemini import CHAT, CLAUDE, NATIVE, prepare
from harness.targets import Target

TEXT = "Hello from the simulator: every word counts."
CALLED = {"city": "Paris", "unit": "celsius"}
WEATHER = types.FunctionDeclaration(
    name="get_weather",
    description="Weather of a city",
    parameters=types.Schema(
        type=types.Type.OBJECT, properties={"city": types.Schema(type=types.Type.STRING)}
    ),
)
TOOLS = [types.Tool(function_declarations=[WEATHER])]
# The conversion is the same behind every web server: most is asked through one of them.
ONE_SERVER = pytest.mark.parametrize("target", ["simulator", "apache"], indirect=True)


@pytest.fixture(params=[NATIVE, CHAT, CLAUDE], ids=["native", "chat", "messages"])
def model(request: pytest.FixtureRequest, target: Target) -> str:
    if target.account is None and request.param != NATIVE:
        pytest.skip("the simulator converts nothing")
    return request.param


@pytest.fixture(autouse=True)
def channels(target: Target) -> None:
    if target.account is not None:
        prepare(target.account.stack)
    target.simulator.settings(strict=True)


@cache
def made(base_url: str, key: str) -> genai.Client:
    """Kept: a client that nobody holds any more closes its connections."""
    options = types.HttpOptions(base_url=base_url, timeout=30000)
    return genai.Client(api_key=key, vertexai=False, http_options=options)


def client(target: Target) -> genai.Client:
    return made(target.base_url.removesuffix("/v1"), target.key)


def ask(target: Target, model: str, contents: Any = "one two three", **config: Any) -> Any:
    wanted = types.GenerateContentConfig(**config)
    return client(target).models.generate_content(model=model, contents=contents, config=wanted)


def gather(target: Target, model: str, contents: Any = "one two three", **config: Any) -> Any:
    """The chunks of a stream as one answer."""
    wanted = types.GenerateContentConfig(**config)
    models = client(target).models
    chunks = list(
        models.generate_content_stream(model=model, contents=contents, config=wanted)
    )
    last = chunks[-1]
    parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
    last.candidates[0].content.parts = [p for p in parts if p.text != "" or p.thought_signature]
    return last


def test_every_web_server_passes_the_paths(target: Target) -> None:
    if target.account is None:
        assert ask(target, NATIVE).text == TEXT
        return
    assert [ask(target, NATIVE).text, gather(target, NATIVE).text] == [TEXT, TEXT]
    assert client(target).models.count_tokens(model=NATIVE, contents="one two").total_tokens == 2
    names = {one.name for one in client(target).models.list()}
    assert {f"models/{NATIVE}", f"models/{CHAT}"} <= names
    assert client(target).models.get(model=NATIVE).name == f"models/{NATIVE}"


@ONE_SERVER
def test_text_and_usage(target: Target, model: str) -> None:
    for way in (ask, gather):
        answer = way(target, model)
        assert (answer.text, answer.candidates[0].finish_reason) == (TEXT, "STOP")
        assert answer.model_version == model
        used = answer.usage_metadata
        assert (used.prompt_token_count, used.candidates_token_count) == (3, 7)


@ONE_SERVER
def test_tools_there_and_back(target: Target, model: str) -> None:
    off = types.AutomaticFunctionCallingConfig(disable=True)
    for way in (ask, gather):
        target.simulator.behave(model, "tools")
        answer = way(target, model, tools=TOOLS, automatic_function_calling=off)
        (call,) = answer.function_calls
        assert (call.name, call.args) == ("get_weather", CALLED)
        target.simulator.behave(model, "ok")
        result = types.Part(
            function_response=types.FunctionResponse(
                id=call.id, name=call.name, response={"result": "21 degrees"}
            )
        )
        contents = [
            types.UserContent("one two three"),
            answer.candidates[0].content,
            types.Content(role="user", parts=[result]),
        ]
        again = way(target, model, contents, tools=TOOLS, automatic_function_calling=off)
        assert again.text == TEXT


@ONE_SERVER
def test_a_chat_keeps_its_turns(target: Target, model: str) -> None:
    target.simulator.settings(strict=model != NATIVE)  # each chunk is a content of its history
    chat = client(target).chats.create(model=model)
    for _ in range(2):
        assert "".join(chunk.text or "" for chunk in chat.send_message_stream("hi")) == TEXT
    assert len(chat.get_history(curated=True)) >= 4


@ONE_SERVER
def test_thoughts(target: Target, model: str) -> None:
    target.simulator.settings(strict=model != NATIVE)  # the SDK writes snake case here
    target.simulator.behave(model, "think")
    thinking = types.ThinkingConfig(include_thoughts=True, thinking_level="LOW")
    for way in (ask, gather):
        answer = way(target, model, thinking_config=thinking)
        thoughts = [p.text for p in answer.candidates[0].content.parts if p.thought and p.text]
        assert ("".join(thoughts), answer.text) == ("first a thought", TEXT)


@ONE_SERVER
@pytest.mark.books_differ("a broken stream is counted locally")
def test_errors(target: Target, model: str) -> None:
    for scenario, status in (("bad-request", 400), ("error-mid", 500)):
        target.simulator.behave(model, scenario)
        with pytest.raises(errors.APIError) as raised:
            gather(target, model)
        assert status <= raised.value.code < status + 100
