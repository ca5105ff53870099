"""The official openai SDK for Python, streaming and not: tools, images, unknown fields, errors."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import zlib
from typing import Any

import openai
import pytest
from harness.targets import Target

TEXT = "Hello from the simulator: every word counts."
HELLO = [{"role": "user", "content": "one two three"}]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", None]}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}


def client(target: Target, **options: Any) -> openai.OpenAI:
    options.setdefault("max_retries", 0)
    return openai.OpenAI(base_url=target.base_url, api_key=target.key, timeout=30, **options)


def png() -> str:
    """A real picture of one pixel as a data URL."""

    def part(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\x00\xff\x00\x00")
    data = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", pixel) + part(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(data).decode()


def test_whole(target: Target) -> None:
    answer = client(target).chat.completions.create(model="m-ref", messages=HELLO)
    assert answer.choices[0].message.content == TEXT
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (3, 7)
    assert answer._request_id


def test_stream(target: Target) -> None:
    stream = client(target).chat.completions.create(model="m-ref", messages=HELLO, stream=True)
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == TEXT
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert all(chunk.usage is None for chunk in chunks)


def test_stream_with_usage(target: Target) -> None:
    stream = client(target).chat.completions.create(
        model="m-ref", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert chunks[-1].choices == []
    assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.completion_tokens) == (3, 7)


def test_tools(target: Target) -> None:
    target.simulator.behave("m-ref", "tools")
    answer = client(target).chat.completions.create(
        model="m-ref", messages=HELLO, tools=[TOOL], tool_choice="required"
    )
    call = answer.choices[0].message.tool_calls[0]
    assert (call.function.name, call.function.arguments) == (
        "get_weather",
        '{"city":"Paris","unit":"celsius"}',
    )
    sent = target.simulator.requests()[-1].json
    assert sent["tools"] == [TOOL] and sent["tool_choice"] == "required"


def test_tools_streamed_and_answered(target: Target) -> None:
    target.simulator.behave("m-ref", "tools")
    arguments, names, ids = "", [], []
    stream = client(target).chat.completions.create(
        model="m-ref", messages=HELLO, tools=[TOOL], stream=True
    )
    for chunk in stream:
        for piece in chunk.choices[0].delta.tool_calls or []:
            arguments += piece.function.arguments or ""
            names += [piece.function.name] if piece.function.name else []
            ids += [piece.id] if piece.id else []
    assert arguments == '{"city":"Paris","unit":"celsius"}' and names == ["get_weather"]

    target.simulator.behave("m-ref", "ok")
    call = {"id": ids[0], "type": "function"}
    call["function"] = {"name": names[0], "arguments": arguments}
    messages = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": ids[0], "content": "21 degrees"},
    ]
    answer = client(target).chat.completions.create(model="m-ref", messages=messages)
    assert answer.choices[0].message.content == TEXT
    assert target.simulator.requests()[-1].json["messages"] == messages


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_images_pass_unchanged(target: Target, stream: bool) -> None:
    picture = {"type": "image_url", "image_url": {"url": png(), "detail": "low"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}]
    answer = client(target).chat.completions.create(
        model="gpt-4o", messages=messages, stream=stream
    )
    if stream:
        list(answer)
    assert target.simulator.requests()[-1].json["messages"] == messages


def test_unknown_fields_pass_unchanged(target: Target) -> None:
    more = {"x_vendor": {"zero": 0, "no": False, "none": None, "list": []}, "reasoning": "high"}
    client(target).chat.completions.create(
        model="m-ref", messages=HELLO, extra_body=more, temperature=0, seed=9007199254740993
    )
    sent = target.simulator.requests()[-1].json
    assert {name: sent[name] for name in more} == more
    assert sent["temperature"] == 0 and sent["seed"] == 9007199254740993


def test_the_prompt_comes_back_whole(target: Target) -> None:
    """Unicode, newlines and control characters, there and back through the echo."""
    text = 'caf\u00e9 \u2615 \U0001f600 "quoted" back\\slash\nnew\tline \u2028 end'
    target.simulator.behave("m-ref", "echo")
    stream = client(target).chat.completions.create(
        model="m-ref", messages=[{"role": "user", "content": text}], stream=True
    )
    echoed = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert json.loads(echoed)["messages"][0]["content"] == text


def test_models(target: Target) -> None:
    names = {model.id for model in client(target).models.list()}
    assert {"m-ref", "gpt-4o"} <= names


def test_a_wrong_key(target: Target) -> None:
    wrong = openai.OpenAI(base_url=target.base_url, api_key="sk-tg" + "B" * 43, max_retries=0)
    with pytest.raises(openai.AuthenticationError) as caught:
        wrong.chat.completions.create(model="m-ref", messages=HELLO)
    assert caught.value.code == "invalid_api_key"


def test_a_bad_request(target: Target) -> None:
    target.simulator.behave("m-ref", "bad-request")
    with pytest.raises(openai.BadRequestError) as caught:
        client(target).chat.completions.create(model="m-ref", messages=HELLO)
    assert caught.value.param == "temperature"


@pytest.mark.books_differ("half an answer is counted locally")
def test_an_error_in_mid_stream_is_raised(target: Target) -> None:
    target.simulator.behave("m-ref", "error-mid")
    text = ""
    with pytest.raises(openai.APIError):
        for chunk in client(target).chat.completions.create(
            model="m-ref", messages=HELLO, stream=True
        ):
            text += chunk.choices[0].delta.content or ""
    assert text == "Hello from"


def test_no_money_is_not_retried(target: Target) -> None:
    if target.account is None:
        pytest.skip("the simulator has no accounts")
    poor = target.account.stack.account("0")
    sdk = openai.OpenAI(base_url=target.base_url, api_key=poor.token, max_retries=4)
    with pytest.raises(openai.RateLimitError) as caught:
        sdk.chat.completions.create(model="m-ref", messages=HELLO)
    assert caught.value.code == "insufficient_quota"
    assert caught.value.response.headers["x-should-retry"] == "false"
    # The SDK says in a header how often it has tried before; the last answer was to the first try.
    assert caught.value.response.request.headers["x-stainless-retry-count"] == "0"


def test_many_at_once(target: Target) -> None:
    async def run() -> list[str]:
        sdk = openai.AsyncOpenAI(base_url=target.base_url, api_key=target.key, max_retries=0)

        async def one(number: int) -> str:
            text = ""
            messages = [{"role": "user", "content": f"number {number}"}]
            if number % 2:
                answer = await sdk.chat.completions.create(model="m-ref", messages=messages)
                return answer.choices[0].message.content
            async for chunk in await sdk.chat.completions.create(
                model="m-ref", messages=messages, stream=True
            ):
                text += chunk.choices[0].delta.content or ""
            return text

        return await asyncio.gather(*(one(number) for number in range(40)))

    assert asyncio.run(run()) == [TEXT] * 40
