"""The official openai SDK for Python: responses on Responses, chat and Anthropic channels."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest
from harness.messages import CHAT, NATIVE, RESPONSES
from harness.targets import Target

TEXT = "Hello from the simulator: every word counts."
TOOL: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "Weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", None]}},
        "required": ["city"],
    },
    "strict": False,
}
ARGUMENTS = '{"city":"Paris","unit":"celsius"}'
PNG = "data:image/png;base64,iVBORw0KGgo="


@pytest.fixture(params=[RESPONSES, CHAT, NATIVE], ids=["native", "chat", "anthropic"])
def model(request: pytest.FixtureRequest, target: Target) -> str:
    if target.account is None and request.param != RESPONSES:
        pytest.skip("the simulator converts nothing")
    target.simulator.settings(strict=True)
    return request.param


def client(target: Target) -> openai.OpenAI:
    return openai.OpenAI(base_url=target.base_url, api_key=target.key, timeout=30, max_retries=0)


def ask(target: Target, model: str, **more: Any) -> Any:
    return client(target).responses.create(**{"model": model, "input": "one two three", **more})


def stream(target: Target, model: str, **more: Any) -> Any:
    """The final response, put together by the SDK's own accumulator."""
    more = {"model": model, "input": "one two three", **more}
    with client(target).responses.stream(**more) as made:
        events = list(made)
        assert [event.sequence_number for event in events] == list(range(len(events)))
        if events[-1].type == "response.incomplete":  # which the accumulator does not know
            return events[-1].response
        return made.get_final_response()


# The conversion is the same behind every web server: most is asked through one of them.
ONE_SERVER = pytest.mark.parametrize("target", ["simulator", "apache"], indirect=True)
BOTH_WAYS = pytest.mark.parametrize("way", [ask, stream], ids=["whole", "stream"])


@BOTH_WAYS
def test_text(target: Target, model: str, way) -> None:
    response = way(target, model)
    assert response.output_text == TEXT
    assert (response.status, response.model, response.object) == ("completed", model, "response")
    assert (response.usage.input_tokens, response.usage.output_tokens) == (3, 7)
    assert response.usage.total_tokens == 10
    assert response.id.startswith("resp_")


@ONE_SERVER
@BOTH_WAYS
def test_tools_there_and_back(target: Target, model: str, way) -> None:
    target.simulator.behave(model, "tools")
    second = {**TOOL, "name": "get_time"}
    response = way(target, model, tools=[TOOL, second], tool_choice="required")
    assert [(item.name, item.arguments.replace(" ", "")) for item in response.output] == [
        ("get_weather", ARGUMENTS),
        ("get_time", ARGUMENTS),
    ]
    target.simulator.behave(model, "ok")
    calls = [item.model_dump(exclude_none=True) for item in response.output]
    for call in calls:
        call.pop("parsed_arguments", None)
    results = [
        {"type": "function_call_output", "call_id": call["call_id"], "output": "21"}
        for call in calls
    ]
    turns = [{"role": "user", "content": "one"}, *calls, *results]
    again = way(target, model, input=turns, tools=[TOOL, second])
    assert again.output_text == TEXT


@ONE_SERVER
@BOTH_WAYS
def test_reasoning_comes_and_goes_back(target: Target, model: str, way) -> None:
    target.simulator.behave(model, "think")
    more: Any = {
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
    }
    response = way(target, model, **more)
    assert [item.type for item in response.output] == ["reasoning", "message"]
    assert response.output[0].summary[0].text == "first a thought"
    said = [item.model_dump(exclude_none=True) for item in response.output]
    for part in said[1]["content"]:
        part.pop("parsed", None)
    turns = [{"role": "user", "content": "one"}, *said, {"role": "user", "content": "two"}]
    assert way(target, model, input=turns, **more).output[-1].content[0].text == TEXT


@ONE_SERVER
@BOTH_WAYS
def test_images_and_instructions(target: Target, model: str, way) -> None:
    content = [
        {"type": "input_text", "text": "what is it?"},
        {"type": "input_image", "image_url": PNG, "detail": "auto"},
    ]
    turns = [{"role": "user", "content": content}]
    response = way(target, model, input=turns, instructions="Be brief.")
    assert response.output_text == TEXT and response.instructions == "Be brief."
    assert "iVBORw0KGgo=" in target.simulator.requests()[-1].body.decode()


@ONE_SERVER
@BOTH_WAYS
def test_an_answer_that_is_cut_short(target: Target, model: str, way) -> None:
    target.simulator.behave(model, "ok", text=" ".join("word" for _ in range(40)))
    response = way(target, model, max_output_tokens=16)
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == "max_output_tokens"
    assert len(response.output_text.split()) == 16


@ONE_SERVER
def test_errors(target: Target, model: str) -> None:
    cases = [
        ("bad-request", openai.BadRequestError),
        ("overloaded", openai.InternalServerError),
        ("fail", openai.InternalServerError),
    ]
    for scenario, kind in cases:
        target.simulator.behave(model, scenario)
        for way in (ask, stream):
            with pytest.raises(kind):
                way(target, model)


@ONE_SERVER
@pytest.mark.books_differ("half an answer is counted locally")
@pytest.mark.parametrize("scenario", ["error-mid", "cut-mid"])
def test_a_stream_that_breaks_off_fails(target: Target, model: str, scenario: str) -> None:
    if target.account is None:
        pytest.skip("only Tollgate ends a broken stream as a failed response")
    target.simulator.behave(model, scenario)
    asked: Any = {"model": model, "input": "one two three", "stream": True}
    events = list(client(target).responses.create(**asked))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    last = events[-1]
    assert last.type == "response.failed" and last.response.status == "failed"
    assert last.response.error.message and last.response.id == events[0].response.id
    kinds = [event.type for event in events]
    assert kinds.count("response.failed") == 1 and "response.completed" not in kinds


@ONE_SERVER
def test_tokens_of_a_prompt(target: Target, model: str) -> None:
    counted = client(target).responses.input_tokens.count(model=model, input="one two three")
    assert counted.object == "response.input_tokens" and 0 < counted.input_tokens < 30


@ONE_SERVER
def test_a_compaction(target: Target) -> None:
    turns: Any = [{"role": "user", "content": "one two three"}]
    made = client(target).responses.compact(model=RESPONSES, input=turns)
    assert made.output[0].type == "compaction"
    assert (made.usage.input_tokens, made.usage.output_tokens) == (3, 5)
    assert target.simulator.requests()[-1].path.endswith("/v1/responses/compact")


@ONE_SERVER
def test_what_was_kept_belongs_to_nobody(target: Target, model: str) -> None:
    if target.account is None:
        pytest.skip("the provider keeps responses")
    sdk = client(target)
    reference: Any = [{"type": "item_reference", "id": "msg_1"}]
    cases: list[tuple[str, dict[str, Any]]] = [
        ("previous_response_id", {"previous_response_id": "resp_1"}),
        ("conversation", {"conversation": "conv_1"}),
        ("background", {"background": True}),
        ("input", {"input": reference}),
    ]
    for param, more in cases:
        with pytest.raises(openai.BadRequestError) as caught:
            ask(target, model, **more)
        assert caught.value.param == param
    for call in (sdk.responses.retrieve, sdk.responses.delete, sdk.responses.cancel):
        with pytest.raises(openai.APIStatusError) as refused:
            call("resp_1")
        assert refused.value.status_code == 501
    assert target.simulator.requests() == []


# --- other clients on a Responses channel --------------------------------------------------------


@pytest.fixture
def elsewhere(target: Target) -> Target:
    if target.account is None:
        pytest.skip("the simulator converts nothing")
    target.simulator.settings(strict=True)
    return target


@ONE_SERVER
def test_chat_on_a_responses_channel(elsewhere: Target) -> None:
    sdk = client(elsewhere)
    asked: Any = {"model": RESPONSES, "messages": [{"role": "user", "content": "one two three"}]}
    answer = sdk.chat.completions.create(**asked)
    assert answer.choices[0].message.content == TEXT
    assert (answer.usage.prompt_tokens, answer.choices[0].finish_reason) == (3, "stop")
    chunks = list(
        sdk.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    )
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == TEXT and chunks[-1].usage.completion_tokens == 7
    elsewhere.simulator.behave(RESPONSES, "tools")
    function = {"name": "get_weather", "parameters": TOOL["parameters"]}
    tools: Any = [{"type": "function", "function": function}]
    with sdk.chat.completions.stream(**asked, tools=tools) as made:
        choice = made.get_final_completion().choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.tool_calls[0].function.arguments == ARGUMENTS
    elsewhere.simulator.behave(RESPONSES, "bad-request")
    with pytest.raises(openai.BadRequestError):
        sdk.chat.completions.create(**asked)


@ONE_SERVER
def test_messages_on_a_responses_channel(elsewhere: Target) -> None:
    base_url = elsewhere.base_url.removesuffix("/v1")
    sdk = anthropic.Anthropic(base_url=base_url, api_key=elsewhere.key, max_retries=0)
    asked: Any = {
        "model": RESPONSES,
        "max_tokens": 2000,
        "messages": [{"role": "user", "content": "one two three"}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    elsewhere.simulator.behave(RESPONSES, "think")
    with sdk.messages.stream(**asked) as made:
        message = made.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.content[0].thinking == "first a thought"
    again = sdk.messages.create(
        **{
            **asked,
            "messages": [
                *asked["messages"],
                {"role": "assistant", "content": message.content},
                {"role": "user", "content": "on"},
            ],
        }
    )
    assert again.content[-1].text == TEXT and again.stop_reason == "end_turn"
    sent = elsewhere.simulator.requests()[-1].json
    kinds = [item["type"] for item in sent["input"]]
    assert kinds == ["message", "reasoning", "message", "message"]
    assert sent["input"][1]["encrypted_content"] == "c2VhbGVk"
