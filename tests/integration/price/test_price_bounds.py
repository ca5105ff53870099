"""Balances stay within +-9e15 quota at every door: against Python's integers, which have no end."""

from __future__ import annotations

import random

from harness.checks import is_error, is_ok
from harness.procs import eventually
from harness.stack import Account, Stack

BOUND = 9 * 10**15
PER_USD = 500_000
STEPS = 40


def usd(quota: int) -> str:
    whole, rest = divmod(abs(quota), PER_USD)
    return f"{'-' if quota < 0 else ''}{whole}.{rest * 2:06d}"


def credit(stack: Stack, account: Account, quota: int) -> bool:
    """Whether the door let it in."""
    done = stack.site.run_ctl("credit", account.name, usd(quota))
    if done.returncode == 0:
        account.credited += quota
        return True
    assert done.returncode == 2, done.stderr
    assert "18 billion" in done.stderr or "amount" in done.stderr, done.stderr
    return False


def settled(account: Account) -> None:
    eventually("the credit is applied", lambda: account.balance == account.credited, 15)


def test_random_credits_near_the_bounds(stack: Stack) -> None:
    source = random.Random(7)
    account = stack.account("0")
    balance = 0
    for step in range(STEPS):
        size = source.choice([1, 3, 2**53 - 1, 10**14 + 1, BOUND - 1, BOUND, BOUND // 2 + 1])
        amount = source.choice([-1, 1]) * source.choice([size, BOUND - abs(balance), 2])
        if amount == 0:
            continue
        inside = abs(balance + amount) <= BOUND and abs(amount) <= BOUND
        assert credit(stack, account, amount) == inside, (step, balance, amount)
        balance += amount if inside else 0
        assert account.credited == balance
    eventually("all are applied", lambda: account.balance == balance, 20)
    assert account.show()["live_quota"] == balance


def test_the_largest_balance_is_spent_exactly(stack: Stack) -> None:
    """Every digit: 9e15 less a bill of 1 is odd and above 2^52."""
    account = stack.account("0")
    assert credit(stack, account, BOUND)
    assert not credit(stack, account, 1)
    settled(account)
    stack.simulator.behave("m-ref", "ok", p=1, r=1, c=0)
    is_ok(account.chat())
    account.wait_spent(1)
    assert account.show()["live_quota"] == BOUND - 1
    assert credit(stack, account, 1)
    assert not credit(stack, account, 1)


def test_a_token_limit_stays_within_the_bounds(stack: Stack, account: Account) -> None:
    for quota, inside in ((BOUND, True), (BOUND + 1, False), (10**30, False)):
        argv = ["token", "create", "--user", account.name, "--limit", usd(quota)]
        assert (stack.site.run_ctl(*argv).returncode == 0) == inside


def test_a_deposit_beyond_all_balances_is_refused(stack: Stack) -> None:
    """A million dollars per million tokens, a billion tokens asked for, at a ratio of 900,000."""
    group = f"huge{next(stack.numbers)}"
    stack.site.ctl("group", "set", group, "--ratio", "900000")
    model = f"huge-{next(stack.numbers)}"
    stack.site.ctl("price", "set", model, "--input", "1000000", "--output", "1000000")
    stack.channel(f"for-{model}", [model], "--groups", group)
    account = stack.account("0", group=group)
    assert credit(stack, account, BOUND)
    stack.wait_model(account, model)
    answer = account.chat(model, max_tokens=10**18)
    is_error(answer, 429, "insufficient_quota", "insufficient_quota")
    assert stack.simulator.requests() == []
    assert account.show()["live_quota"] == BOUND
