"""Requests paid by a plan, over the ends of its periods; FR43 as far as it touches money."""

from __future__ import annotations

import pytest
from harness.checks import is_error, is_ok
from harness.crowd import open_holds
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.stack import Account, Stack

BILL = bill({"prompt_tokens": 7, "completion_tokens": 3}, M_REF)
QUOTA = 30_000


class Plan:
    """A subscription whose first period begins at once."""

    def __init__(self, stack: Stack, account: Account, period: str) -> None:
        self.site = stack.site
        self.site.main_sql(
            "INSERT INTO plans (name, quota_per_period, period, duration)"
            f" VALUES ('{account.name}', {QUOTA}, '{period}', '30d')"
        )
        self.site.main_sql(
            "INSERT INTO subscriptions (user_id, plan_id, period_end_at) SELECT u.id, p.id, NOW(6)"
            f" FROM users u JOIN plans p ON p.name = u.username WHERE u.username = '{account.name}'"
        )
        ((number,),) = self.site.main_sql(
            "SELECT s.id FROM subscriptions s JOIN plans p ON p.id = s.plan_id"
            f" WHERE p.name = '{account.name}'"
        )
        self.id = int(number)
        self.wait(period_number=1, remain_quota=QUOTA)

    def is_now(self, **wanted: int) -> bool:
        columns = ", ".join(wanted)
        rows = self.site.main_sql(f"SELECT {columns} FROM subscriptions WHERE id = {self.id}")
        return rows == [[str(value) for value in wanted.values()]]

    def wait(self, **wanted: int) -> None:
        eventually(f"the plan has {wanted}", lambda: self.is_now(**wanted), 30)

    def end_period(self) -> None:
        self.site.main_sql(f"UPDATE subscriptions SET period_end_at = NOW(6) WHERE id = {self.id}")

    def entries(self, kind: str) -> list[list[str]]:
        return self.site.main_sql(
            "SELECT amount_quota, plan_quota, plan_period FROM ledger_entry"
            f" WHERE plan_id = {self.id} AND kind = '{kind}' ORDER BY request_id"
        )


@pytest.mark.books_differ("a plan pays")
def test_a_plan_pays_until_its_period_is_used_up(stack: Stack, account: Account) -> None:
    plan = Plan(stack, account, "1h")
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    is_ok(account.chat())
    plan.wait(remain_quota=QUOTA - BILL)
    is_error(account.chat(max_tokens=20_000), 429, "insufficient_quota", "insufficient_quota")
    assert account.balance == account.credited
    plan.end_period()
    plan.wait(period_number=2, remain_quota=QUOTA)
    is_ok(account.chat())
    plan.wait(remain_quota=QUOTA - BILL)
    assert plan.entries("charge") == [[str(BILL)] * 2 + ["1"], [str(BILL)] * 2 + ["2"]]
    assert account.balance == account.credited
    stack.site.wait_clean()


@pytest.mark.books_differ("a plan pays")
def test_fr43_running_calls_outlive_their_period(stack: Stack, account: Account) -> None:
    """Their bills stay with the period in which they began; nothing comes back to the next one."""
    plan = Plan(stack, account, "2s")
    stack.simulator.behave("m-ref", "slow-tokens", ms=300, x=20)
    streams = [account.open_stream(max_tokens=100) for _ in range(3)]
    for exchange in streams:
        exchange.read_until(b"word1")
    eventually("another period has begun", lambda: not plan.is_now(period_number=1), 30)
    assert open_holds(stack) == 3
    for exchange in streams:
        exchange.finish()
    eventually("all have ended", lambda: len(plan.entries("charge")) == 3, 30)
    assert all(int(amount) > 0 and out == "0" for amount, out, _ in plan.entries("charge"))
    plan.wait(remain_quota=QUOTA)
    assert open_holds(stack) == 0 and account.balance == account.credited
    plan.site.main_sql(f"UPDATE subscriptions SET status = 'ended' WHERE id = {plan.id}")
    stack.site.wait_clean()
