"""Field reports on bills with their stated values, as far as one protocol goes: FR06, FR08, FR15,
FR16, FR18, FR31, FR36. Those of other dialects of usage are in tests/unit/price/reports.c."""

from __future__ import annotations

import pytest
from harness.checks import is_error, is_ok
from harness.money import M_REF, Price
from harness.stack import Account, Stack

REF = ["--input", "3.00", "--output", "15.00", "--cache-read", "0.30",
       "--cache-write-5m", "3.75", "--cache-write-1h", "6.00"]  # fmt: skip


def new_model(stack: Stack, account: Account, *options: str) -> str:
    model = f"fr-{next(stack.numbers)}"
    stack.site.ctl("price", "set", model, *options)
    stack.channel(f"for-{model}", [model])
    stack.wait_model(account, model)
    return model


def test_fr06_cache_writes_are_charged_once(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "ok", p=8010, w=8000, c=200)
    is_ok(account.chat())
    account.wait_spent(16515)


@pytest.mark.books_differ("the form of the price differs, the bill does not")
@pytest.mark.parametrize(
    "options",
    [
        REF,
        [*REF, "--tiers",
         "200000:input=6:output=30:cache_read=0.6:cache_write_5m=7.5:cache_write_1h=12"],
        ["--expression", "p * 3 + cr * 0.3 + cw5 * 3.75 + c * 15"],
        [*REF, "--expression", "p * price.input + cr * price.cache_read + c * price.output"],
    ],
    ids=["table", "tiers", "expression", "expression-of-prices"],
)  # fmt: skip
def test_fr08_cached_tokens_count_once_whatever_the_price(
    stack: Stack, account: Account, options: list[str]
) -> None:
    """5000 read, 4000 of them cached, 100 out: 0.005700 USD."""
    model = new_model(stack, account, *options)
    stack.simulator.behave(model, "ok", p=5000, r=4000, c=100)
    is_ok(account.chat(model))
    account.wait_spent(2850)


@pytest.mark.books_differ("a tier")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_fr15_the_tier_is_the_models_not_the_providers(
    stack: Stack, account: Account, stream: bool
) -> None:
    """200,001 in and 1,000 out: 1.222506 USD, through whichever channel."""
    tiers = "200000:input=6:output=22.5:cache_read=0.6"
    model = new_model(
        stack, account, "--input", "3", "--output", "15", "--cache-read", "0.3", "--tiers", tiers
    )
    stack.channel(f"second-{model}", [model], "--priority", "1")
    stack.simulator.behave(model, "ok", p=200_001, c=1000)
    is_ok(account.chat(model, stream=stream))
    account.wait_spent(611_253)


@pytest.mark.books_differ("more cached than read: corrected")
@pytest.mark.parametrize(
    ("usage", "quota"),
    [({"p": 1000, "r": 990, "c": 5}, 201), ({"p": 10, "r": 990, "c": 5}, 201)],
    ids=["inside", "broken-upstream"],
)
def test_fr16_cached_inside_or_outside(
    stack: Stack, account: Account, usage: dict, quota: int
) -> None:
    """10 plain + 990 cached + 5 out: 0.000402 USD, also when an upstream counts like another."""
    stack.simulator.behave("m-ref", "ok", **usage)
    is_ok(account.chat())
    account.wait_spent(quota)


@pytest.mark.books_differ("billed by alias or by the mapped model")
@pytest.mark.parametrize(("bill", "quota"), [("upstream", 3000), ("requested", 1500)])
def test_fr18_alias_or_mapped_model(stack: Stack, bill: str, quota: int) -> None:
    alias, mapped = stack.new_model(Price("2", "10")), stack.new_model(Price("4", "20"))
    channel = stack.channel(f"for-{alias}", [alias], "--map", f"{alias}={mapped}")
    stack.site.main_sql(f"UPDATE channels SET bill = '{bill}' WHERE id = {channel}")
    stack.site.main_sql("UPDATE routing_version SET version = version + 1")
    stack.gateway.restart()
    account = stack.account()
    stack.simulator.behave(mapped, "ok", p=1000, c=100)
    for stream in (False, True):
        is_ok(account.chat(alias, stream=stream))
    account.wait_spent(2 * quota)


def test_fr31_the_prompt_is_part_of_the_deposit(stack: Stack) -> None:
    """5,000 units, a prompt of about 10,000 tokens (15,000), no max_tokens: refused at the door."""
    account = stack.account("0")
    account.credit("0.01")
    answer = account.chat(text="one two three four five six seven eight nine ten " * 1000)
    is_error(answer, 429, "insufficient_quota", "insufficient_quota")
    assert stack.simulator.requests() == []
    assert account.show()["live_quota"] == 5000


@pytest.mark.parametrize("value", [0, -1, 1.5, 1e30, "100"])
@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_fr31_an_impossible_ceiling_is_400(
    stack: Stack, account: Account, name: str, value: object
) -> None:
    answer = account.chat(**{name: value})
    assert answer.status == 400 and answer.error["param"] == name
    assert stack.simulator.requests() == []
    assert account.show()["live_quota"] == account.credited


def test_fr31_without_a_ceiling_the_default_is_deposited(stack: Stack) -> None:
    """Never 0: 500 x 1.5 + 1,024 x 7.5 = 8,430."""
    account = stack.account("0")
    account.credit("0.016858")
    is_error(account.chat(), 429, "insufficient_quota", "insufficient_quota")
    account.credit("0.000002")
    is_ok(account.chat())


def test_fr36_a_bill_above_deposit_and_balance_is_debt(stack: Stack) -> None:
    """150 units, 100 deposited, 250 in earnest: -100, the answer is delivered, the next call is
    refused, and 500 more make 400."""
    model = stack.new_model(Price("0.20", "0.50"))  # deposit: 500 x 0.1 + 200 x 0.25 = 100
    stack.channel(f"for-{model}", [model])
    account = stack.account("0")
    account.credit("0.0003")
    stack.wait_model(account, model)
    stack.simulator.behave(model, "ok", p=2000, c=200)
    answer = is_ok(account.chat(model, max_tokens=200))
    assert answer.json["choices"][0]["message"]["content"]
    account.wait_spent(250)
    assert account.balance == -100
    assert stack.site.record(answer.request_id)["quota"] == 250
    refused = account.chat(model, max_tokens=200)
    is_error(refused, 429, "insufficient_quota", "insufficient_quota")
    account.credit("0.001")
    assert account.show()["live_quota"] == 400
    is_ok(account.chat(model, max_tokens=200))


def test_m_ref_is_the_price_of_the_reports() -> None:
    assert [str(M_REF.part(n)) for n in ("input", "cache_read", "cache_write_5m", "output")] == [
        "3/2",
        "3/20",
        "15/8",
        "15/2",
    ]
