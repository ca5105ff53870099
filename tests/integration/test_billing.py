"""The bill: field reports FR06, FR25, FR26, FR28, the sums by hand, and R1 to R3."""

from __future__ import annotations

import json

import pytest
from harness.another import another_gateway
from harness.checks import is_ok, spliced, whole_stream
from harness.money import M_REF, Price, bill
from harness.stack import Account, Stack, chat_body


def test_fr06_cache_writes_are_charged_once(stack: Stack, account: Account) -> None:
    """10 x 3 + 8000 x 3.75 + 200 x 15 per million = 0.033030 USD = 16515, not 28515."""
    stack.simulator.behave("m-ref", "ok", p=8010, w=8000, c=200)
    is_ok(account.chat())
    account.wait_spent(16515)


@pytest.mark.parametrize("options", [None, {"x_other": 1}], ids=["absent", "other-keys"])
def test_fr25_usage_is_always_asked_for(
    stack: Stack, account: Account, options: dict | None
) -> None:
    more = {} if options is None else {"stream_options": options}
    stack.simulator.behave("m-ref", "ok", p=100, c=10)
    whole_stream(account.stream(**more))
    seen = stack.simulator.only().json
    assert seen["stream_options"] == {**(options or {}), "include_usage": True}
    assert seen == spliced(chat_body(stream=True, **more), usage=True)
    account.wait_spent(225)


@pytest.mark.parametrize("asked", [None, False, True])
def test_fr26_metering_cannot_be_switched_off(
    stack: Stack, account: Account, asked: bool | None
) -> None:
    more = {} if asked is None else {"stream_options": {"include_usage": asked}}
    stack.simulator.behave("m-ref", "ok", p=100, c=10)
    answer = whole_stream(account.stream(**more))
    assert stack.simulator.only().json["stream_options"]["include_usage"] is True
    with_usage = [chunk for chunk in answer.chunks if chunk.get("usage")]
    empty = [chunk for chunk in answer.chunks if not chunk["choices"]]
    if asked:
        assert len(with_usage) == len(empty) == 1
        assert with_usage[0]["usage"]["prompt_tokens"] == 100
        assert stack.simulator.only().body == chat_body(stream=True, **more), "nothing to splice"
    else:
        assert with_usage == [] and empty == []
    account.wait_spent(225)


def test_stream_options_null_and_a_whole_answer(stack: Stack, account: Account) -> None:
    whole_stream(account.stream(stream_options=None))
    is_ok(account.chat())
    streamed, whole = stack.simulator.requests()
    assert streamed.json["stream_options"] == {"include_usage": True}
    assert "stream_options" not in whole.json, "usage comes unasked in a whole answer"


def test_fr28_usage_on_a_chunk_with_an_empty_delta(stack: Stack, account: Account) -> None:
    """20 plain + 260 cached + 8 out = 0.000258 USD = 129."""
    stack.simulator.behave("m-ref", "usage-empty-delta", p=280, r=260, c=8)
    answer = whole_stream(account.stream())
    assert answer.chunks[-1]["usage"]["prompt_tokens"] == 280, "it rides on a choice: it passes"
    account.wait_spent(129)


def test_usage_before_the_finish_and_null_after_it(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "usage-early", p=280, r=260, c=8)
    whole_stream(account.stream(stream_options={"include_usage": True}))
    account.wait_spent(129)


SUMS = {
    # name: (parameters of the usage, quota by hand)
    "plain": ({"p": 1000, "c": 1000}, 9000),  # 1500 + 7500
    "one-token": ({"p": 1, "c": 0}, 2),  # 1.5 rounds half-up
    "three": ({"p": 3, "c": 0}, 5),  # 4.5 rounds half-up
    "cached": ({"p": 1000, "r": 1000, "c": 0}, 150),
    "cached-part": ({"p": 1001, "r": 1, "c": 1}, 1508),  # 1500 + 0.15 + 7.5 = 1507.65
    "cached-one": ({"p": 1, "r": 1, "c": 0}, 1),  # 0.15, but never less than 1
    "write-and-read": (
        {"p": 300, "r": 100, "w": 100, "c": 10},
        428,
    ),  # 150 + 15 + 187.5 + 75 = 427.5
    "reasoning-inside": ({"p": 10, "c": 100, "t": 90}, 765),  # 15 + 750
    "more-cached-than-read": ({"p": 10, "r": 50, "c": 0}, 23),  # 10 plain and 50 read: 15 + 7.5
}


@pytest.mark.books_differ("clamped usage is checked by its own number")
@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_sums_by_hand(stack: Stack, account: Account, name: str, stream: bool) -> None:
    params, expected = SUMS[name]
    stack.simulator.behave("m-ref", "ok", **params)
    answer = account.chat(stream=stream)
    is_ok(answer)
    account.wait_spent(expected)
    record = stack.site.record(answer.request_id)
    assert record["quota"] == expected
    assert record["usage_source"] == "upstream"


@pytest.mark.parametrize("model", ["m-ref", "m-alt", "gpt-4o"])
def test_prices_of_several_models(stack: Stack, account: Account, model: str) -> None:
    stack.simulator.behave(model, "ok", p=12345, r=345, c=678)
    is_ok(account.chat(model))
    usage = stack.simulator.charges()[0]["charged"]
    account.wait_spent(bill(usage, stack.prices[model]))


def test_price_per_call(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-call", "ok", p=99999, c=9)
    is_ok(account.chat("m-call"))
    account.wait_spent(10_000)


def test_a_free_model_leaves_a_record(stack: Stack, account: Account) -> None:
    answer = is_ok(account.chat("m-free"))
    record = stack.site.record(answer.request_id)
    assert record["quota"] == 0
    account.wait_spent(0)


def test_a_model_without_a_price(stack: Stack, account: Account) -> None:
    model = f"unpriced-{next(stack.numbers)}"
    stack.channel(f"for-{model}", [model])
    stack.wait_model(account, model)
    answer = account.chat(model)
    assert answer.status == 400 and answer.error["code"] == "price_not_configured", answer.body
    assert stack.simulator.requests() == []


def test_decimal_prices_are_exact(stack: Stack, account: Account) -> None:
    """0.1 + 0.2 in binary would round the other way."""
    model = stack.new_model(Price("0.1", "0.2"))
    stack.channel(f"exact-{model}", [model])
    stack.wait_model(account, model)
    stack.simulator.behave(model, "ok", p=30, c=30)  # 1.5 + 3.0 = 4.5
    is_ok(account.chat(model))
    account.wait_spent(5)


def test_a_price_change_in_mid_request_changes_nothing(stack: Stack, account: Account) -> None:
    model = stack.new_model(Price("1", "1"))
    stack.channel(f"change-{model}", [model])
    stack.wait_model(account, model)
    stack.simulator.behave(model, "slow-tokens", ms=700, x=3, p=1000, c=1000)
    exchange = account.open_stream(model)
    exchange.read_until(b"word0")
    stack.site.ctl("price", "set", model, "--input", "100", "--output", "100")
    whole_stream(exchange.finish())
    account.wait_spent(1000)


@pytest.mark.books_differ("absurd usage is clamped")
def test_absurd_usage_is_clamped(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "usage-absurd")
    is_ok(account.chat())
    stack.site.wait_clean()
    assert account.spent >= 0


@pytest.mark.books_differ("no usage: counted locally")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_r2_without_usage_the_content_is_counted(
    stack: Stack, account: Account, stream: bool
) -> None:
    stack.simulator.behave("m-ref", "no-usage", x=200)
    answer = is_ok(account.chat(text="one two three four five", stream=stream))
    record = stack.site.record(answer.request_id)
    assert record["usage_source"] == "counted_locally"
    # 200 short words: between one and five tokens each; the prompt's five words at most thirty.
    assert 200 <= record["output"] <= 1000
    assert 5 <= record["input"] <= 30
    expected = bill(
        {"prompt_tokens": record["input"], "completion_tokens": record["output"]}, M_REF
    )
    account.wait_spent(expected)


@pytest.mark.books_differ("counted locally")
def test_usage_of_zeros_beside_content_is_no_usage(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "ok", p=0, c=0)
    answer = is_ok(account.chat())
    record = stack.site.record(answer.request_id)
    assert record["usage_source"] == "counted_locally"
    assert record["quota"] > 0


@pytest.mark.books_differ("the provider charges for an empty answer, the user does not pay it")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_r3_an_empty_answer_that_is_let_through_is_free(
    stack: Stack, account: Account, stream: bool
) -> None:
    """retry.empty_answer is off: the client gets it as it came and owes nothing."""
    address = f"unix:{stack.directory}/empty.sock"
    changes = {"listen__address": address, "retry__empty_answer": False}
    stack.simulator.behave("m-ref", "empty", p=1000, c=0)
    with another_gateway(stack, "node-empty", **changes) as client:
        account.client = client
        answer = is_ok(account.chat(stream=stream))
    assert answer.text == "" and len(stack.simulator.requests()) == 1
    record = stack.site.record(answer.request_id)
    assert (record["quota"], record["usage_source"]) == (0, "none")
    account.wait_spent(0)


def test_bill_json_shows_the_sum(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "ok", p=8010, w=8000, c=200)
    answer = is_ok(account.chat())
    stack.site.record(answer.request_id)
    shown = json.dumps(stack.site.ctl("show", "request", answer.request_id))
    assert "16515" in shown and "8000" in shown
