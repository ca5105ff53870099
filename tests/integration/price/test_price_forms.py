"""Every price form through the gateway: tiers, expressions, calls, tools; patterns; groups."""

from __future__ import annotations

import pytest
from harness.checks import is_error, is_ok
from harness.money import Price
from harness.procs import eventually
from harness.stack import Account, Stack

pytestmark = pytest.mark.books_differ("other forms than the harness's own price")

TIERED = ["--input", "3", "--output", "15", "--cache-read", "0.3",
          "--tiers", "200000:input=6:output=22.5:cache_read=0.6"]  # fmt: skip


def served(stack: Stack, account: Account, *options: str, prefix: str = "form") -> str:
    """A model of this test's own with the price that the options say."""
    model = f"{prefix}-{next(stack.numbers)}"
    stack.site.ctl("price", "set", model, *options)
    stack.channel(f"for-{model}", [model])
    stack.wait_model(account, model)
    return model


def bill_of(stack: Stack, request_id: str) -> dict:
    stack.site.record(request_id)
    return stack.site.ctl("show", "request", request_id)["bill_json"]


@pytest.mark.parametrize(
    ("usage", "quota", "tier"),
    [
        ({"p": 200_000, "c": 1000}, 307_500, None),
        ({"p": 200_001, "c": 1000}, 611_253, "above 200000"),
        ({"p": 200_001, "r": 200_000, "c": 0}, 60_003, "above 200000"),
    ],
    ids=["at", "above", "cached"],
)
def test_tiers_hold_for_the_whole_request(
    stack: Stack, account: Account, usage: dict, quota: int, tier: str | None
) -> None:
    model = served(stack, account, *TIERED)
    stack.simulator.behave(model, "ok", **usage)
    answer = is_ok(account.chat(model))
    account.wait_spent(quota)
    bill = bill_of(stack, answer.request_id)
    assert bill.get("tier") == tier and bill["quota"] == quota


def test_an_expression_is_computed_and_recorded(stack: Stack, account: Account) -> None:
    formula = 'len > 1000 ? tier("long", p * 6 + c * 20) : tier("short", p * 3 + cr * 0.3 + c * 15)'
    model = served(stack, account, "--expression", formula)
    stack.simulator.behave(model, "ok", p=280, r=260, c=8)
    answer = is_ok(account.chat(model))
    account.wait_spent(129)
    bill = bill_of(stack, answer.request_id)
    assert bill["tier"] == "short"
    assert bill["lines"][0]["values"] == {"p": 20, "c": 8, "len": 280, "cr": 260}
    stack.simulator.behave(model, "ok", p=1001, r=1, c=10)
    is_ok(account.stream(model))
    account.wait_spent(129 + 3100)  # cr is named, so p is 1000: 3000 + 100


def test_a_running_request_keeps_its_expression(stack: Stack, account: Account) -> None:
    model = served(stack, account, "--expression", "p * 2 + c * 2")
    stack.simulator.behave(model, "slow-tokens", ms=700, x=3, p=1000, c=1000)
    exchange = account.open_stream(model)
    exchange.read_until(b"word0")
    stack.site.ctl("price", "set", model, "--expression", "p * 200 + c * 200")
    exchange.finish()
    account.wait_spent(2000)


@pytest.mark.complains("could not be billed")
def test_a_formula_that_fails_costs_the_deposit(stack: Stack, account: Account) -> None:
    """No sample of the dry run meets it; this usage does."""
    model = served(stack, account, "--expression", "p == 777 ? 1 / (p - 777) : p * 3 + c * 15")
    stack.simulator.behave(model, "ok", p=777, c=10)
    answer = is_ok(account.chat(model, max_tokens=100))
    account.wait_spent(1500)
    assert bill_of(stack, answer.request_id) == {"failed": True, "quota": 1500}


def test_patterns_price_what_has_no_name_of_its_own(stack: Stack, account: Account) -> None:
    """Exact first, then the longest pattern."""
    family = f"fam-{next(stack.numbers)}"
    names = {f"{family}-4o": 4, f"{family}-4o-x": 3, f"{family}-4-x": 2, f"{family}-5": 1}
    for name, price in {"4o": 4, "4o-*": 3, "4*": 2, "*": 1}.items():
        name = f"{family}-{name}"
        stack.site.ctl("price", "set", name, "--input", str(price), "--output", "0")
    stack.channel(f"for-{family}", list(names))
    spent = 0
    for name, price in names.items():
        stack.wait_model(account, name)
        stack.simulator.behave(name, "ok", p=1000, c=0)
        is_ok(account.chat(name))
        spent += 500 * price
        account.wait_spent(spent)


def test_group_ratios_and_the_special_one(stack: Stack) -> None:
    """The used group's ratio, unless this pair of groups has its own; bill_json shows it."""
    mine, dear = (f"g{next(stack.numbers)}" for _ in range(2))
    stack.site.ctl("group", "set", mine, "--ratio", "0.5")
    stack.site.ctl("group", "set", dear, "--ratio", "3")
    model = stack.new_model(Price("2", "2"))
    stack.channel(f"for-{model}", [model], "--groups", f"{mine},{dear}")
    stack.simulator.behave(model, "ok", p=1000, c=0)
    account = stack.account(group=mine)
    stack.wait_model(account, model)
    is_ok(account.chat(model))
    account.wait_spent(500)
    done = stack.site.run_ctl("token", "create", "--user", account.name, "--group", dear)
    assert done.returncode != 0 and "may not use" in done.stderr, "not allowed yet"
    stack.site.ctl("group", "allow", mine, dear)
    account.token = account.new_token("--group", dear)["token"]
    stack.wait_model(account, model)
    is_ok(account.chat(model))
    account.wait_spent(500 + 3000)
    stack.site.ctl("group", "allow", mine, dear, "--ratio", "1.25")
    stack.wait_model(account, model)

    def special() -> bool:
        answer = is_ok(account.chat(model))
        return bill_of(stack, answer.request_id)["ratio"] == "1.25"

    eventually("the special ratio counts", special, 15)
    stack.site.ctl("group", "forbid", mine, dear)
    stack.site.wait_clean()


def test_a_used_group_that_was_forbidden_is_refused(stack: Stack) -> None:
    mine, other = (f"g{next(stack.numbers)}" for _ in range(2))
    for name in (mine, other):
        stack.site.ctl("group", "set", name, "--ratio", "1")
    stack.site.ctl("group", "allow", mine, other)
    account = stack.account(group=mine)
    account.token = account.new_token("--group", other)["token"]
    stack.site.ctl("group", "forbid", mine, other)

    def refused() -> bool:
        """By every worker; nothing serves the other group, so 403 it is before, too."""
        answers = [account.chat() for _ in range(8)]
        assert {answer.status for answer in answers} == {403}
        return {answer.error["code"] for answer in answers} == {"access_denied"}

    eventually("the group is forbidden", refused, 15)
    is_error(account.chat(), 403, "permission_error", "access_denied")


def test_the_bill_of_clamped_usage_says_so(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "usage-absurd")
    answer = is_ok(account.chat())
    assert bill_of(stack, answer.request_id)["clamped"] is True
    stack.simulator.behave("m-ref", "ok", p=10, c=1)
    answer = is_ok(stack.account().chat())  # the first one is deep in debt
    assert "clamped" not in bill_of(stack, answer.request_id)
