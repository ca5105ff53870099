"""Deposits: ten of a hundred, trust and exposure, raises, answers, models without a price."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from harness.another import another_gateway
from harness.checks import is_error, is_ok
from harness.money import Price
from harness.stack import Account, Stack, chat_body

DEPOSIT = 1500  # of a short request for m-ref with max_tokens=100


def no_money(answer) -> None:
    is_error(answer, 429, "insufficient_quota", "insufficient_quota")


@contextmanager
def gateway(
    stack: Stack, name: str, account: Account, **changes: str | int | bool
) -> Iterator[None]:
    """The account's requests go to a second gateway with settings of its own."""
    address = f"unix:{stack.directory / name}.sock"
    with another_gateway(stack, name, listen__address=address, **changes) as client:
        account.client = client
        yield


def test_exactly_ten_of_a_hundred_parallel_requests_pass(stack: Stack) -> None:
    """Money for 10, below any trust; all of them still run while the others ask."""
    account = stack.account("0")
    account.credit("0.03")
    stack.simulator.behave("m-ref", "slow-headers", ms=4000, p=1000, c=100)
    with ThreadPoolExecutor(100) as threads:
        answers = list(threads.map(lambda _: account.chat(max_tokens=100), range(100)))
    assert sum(answer.status == 200 for answer in answers) == 10
    for answer in answers:
        if answer.status != 200:
            no_money(answer)
    account.wait_spent(10 * 2250)


def test_every_answer_is_deposited_for(stack: Stack) -> None:
    """n=3: 500 x 1.5 + 3 x 100 x 7.5 = 3000."""
    account = stack.account("0")
    account.credit("0.005998")
    no_money(account.chat(max_tokens=100, n=3))
    account.credit("0.000002")
    is_ok(account.chat(max_tokens=100, n=3))


@pytest.mark.parametrize("n", [0, -1, 129, 1.5, "2", 1e30])
def test_a_bad_number_of_answers_is_400(stack: Stack, account: Account, n) -> None:
    answer = account.chat(n=n)
    assert answer.status == 400 and answer.error["param"] == "n"
    assert stack.simulator.requests() == []


def test_trust_takes_no_deposit_and_counts_what_is_exposed(stack: Stack) -> None:
    """Trust above 0.02 USD (10,000): 14,000 is trusted while 14,000 - exposed - 1,500 stays above
    it; then the ordinary deposit is checked against what is not exposed."""
    account = stack.account("0")
    account.credit("0.028")
    stack.simulator.behave("m-ref", "by-hand", x=1, p=1000, c=100)
    settings = {"hold__renew": "60s", "hold__lease": "120s"}  # a renewal takes the deposit
    with gateway(stack, "trusting", account, deposit__trust_usd="0.02", **settings):
        running = [account.open(chat_body(stream=True, max_tokens=100)) for _ in range(9)]
        stack.simulator.wait(9)
        # Two were trusted (14,000 - 3,000 > 10,000, a third would leave 9,500); seven deposited.
        assert account.show()["live_quota"] == 14_000 - 7 * DEPOSIT
        no_money(account.chat(max_tokens=100))
        for _ in range(4):
            for _ in running:
                stack.simulator.step("m-ref")
        for exchange in running:
            assert exchange.finish().status == 200
    account.wait_spent(9 * 2250)


def test_a_limited_token_is_never_trusted(stack: Stack) -> None:
    account = stack.account("1")
    made = account.new_token("--limit", "0.003")
    account.token = made["token"]
    stack.simulator.behave("m-ref", "slow-headers", ms=1500, p=1, c=1)
    with gateway(stack, "trusting2", account, deposit__trust_usd="0.02"):
        with ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(lambda _: account.chat(max_tokens=100), range(6)))
    assert sum(answer.status == 200 for answer in answers) == 1


def test_the_factor_of_deposits(stack: Stack) -> None:
    account = stack.account("0")
    account.credit("0.003")
    with gateway(stack, "doubling", account, deposit__factor="2"):
        no_money(account.chat(max_tokens=100))
        account.credit("0.003")
        is_ok(account.chat(max_tokens=100))


def test_a_group_has_a_factor_of_its_own(stack: Stack) -> None:
    """Twice the deposit in this group; an empty factor takes that back."""
    group = f"careful{next(stack.numbers)}"
    stack.site.ctl("group", "set", group, "--ratio", "1")
    said = stack.site.ctl("group", "set", group, "--deposit-factor", "2")
    assert said["ratio"] == "1" and said["deposit_factor"] == "2"
    model = stack.new_model()
    stack.channel(f"for-{model}", [model], "--groups", group)
    account = stack.account("0", group=group)
    account.credit("0.003")
    stack.wait_model(account, model)
    no_money(account.chat(model, max_tokens=100))
    account.credit("0.003")
    is_ok(account.chat(model, max_tokens=100))
    assert stack.site.ctl("group", "set", group, "--deposit-factor", "")["deposit_factor"] is None
    assert stack.site.run_ctl("group", "set", group, "--deposit-factor", "x").returncode == 2


@pytest.mark.books_differ("billed by the price of the channel's own model")
def test_a_dearer_price_raises_the_deposit(stack: Stack) -> None:
    """The channel bills its own model, four times as dear: the difference is taken before it is
    asked, and without money for it nothing is."""
    cheap, dear = stack.new_model(Price("3", "15")), stack.new_model(Price("12", "60"))
    channel = stack.channel(f"for-{cheap}", [cheap], "--map", f"{cheap}={dear}")
    stack.site.main_sql(f"UPDATE channels SET bill = 'upstream' WHERE id = {channel}")
    stack.site.main_sql("UPDATE routing_version SET version = version + 1")
    account = stack.account("0")
    account.credit("0.011998")
    stack.simulator.behave(dear, "ok", p=1000, c=100)
    with gateway(stack, "raising", account):
        no_money(account.chat(cheap, max_tokens=100))
        assert stack.simulator.requests() == []
        assert account.show()["live_quota"] == 5_999
        account.credit("0.000002")
        is_ok(account.chat(cheap, max_tokens=100))
        account.wait_spent(9_000)
        no_money(account.chat(cheap, max_tokens=100))


def test_a_model_without_a_price_and_who_accepts_that(stack: Stack, account: Account) -> None:
    """Refused by name; at the default price (75 USD per 1M) for users who said so."""
    model = f"unpriced-{next(stack.numbers)}"
    stack.channel(f"for-{model}", [model])
    stack.wait_model(account, model)
    answer = account.chat(model)
    assert answer.status == 400 and answer.error["code"] == "price_not_configured"
    assert model in answer.error["message"]
    stack.prices[model] = Price("75", "75")
    stack.site.ctl("user", "set", account.name, "--accept-unpriced", "yes")
    stack.simulator.behave(model, "ok", p=1000, c=10)
    is_ok(account.chat(model))
    account.wait_spent(37_875)
    stack.site.ctl("user", "set", account.name, "--accept-unpriced", "no")
    assert account.chat(model).status == 400
    assert len(stack.simulator.requests()) == 1


@pytest.mark.parametrize(("rule", "status"), [("refuse", 400), ("bill", 200)])
def test_the_rule_for_models_without_a_price(stack: Stack, rule: str, status: int) -> None:
    model = f"unpriced-{next(stack.numbers)}"
    stack.channel(f"for-{model}", [model])
    account = stack.account()
    stack.wait_model(account, model)
    stack.prices[model] = Price("2", "4")
    if rule == "refuse":
        stack.site.ctl("user", "set", account.name, "--accept-unpriced", "yes")
    stack.simulator.behave(model, "ok", p=1000, c=10)
    settings = {"price__default_input": "2", "price__default_output": "4"}
    with gateway(stack, f"unpriced-{rule}", account, price__unpriced=rule, **settings):
        assert account.chat(model).status == status
    account.wait_spent(1020 if status == 200 else 0)
