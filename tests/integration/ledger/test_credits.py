"""Credits and token changes: each counts once, however often it is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.checks import is_ok
from harness.procs import eventually
from harness.stack import Account, Stack, chat_body

AWAY = pytest.mark.complains("redis", "ledger", "shard", "database", "snapshot", "worker")


def test_parallel_credits_all_count_once(stack: Stack, account: Account) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: stack.site.ctl("credit", account.name, "0.1"), range(12)))
    account.credited += 12 * 50_000
    eventually("twelve credits", lambda: account.balance == account.credited, 15)


def test_a_credit_repeated_by_the_daemon_counts_once(stack: Stack, account: Account) -> None:
    account.credit("1")
    eventually("the credit counts", lambda: account.balance == account.credited)
    for _ in range(2):
        stack.ledger.restart()
    stack.site.wait_clean()
    assert account.balance == account.credited


@AWAY
def test_a_credit_made_while_redis_is_away_arrives(stack: Stack, account: Account) -> None:
    """The row is there; the daemon pushes it until it is known, once."""
    stack.redis.stop()
    try:
        done = stack.site.run_ctl("credit", account.name, "2", "--reason", "while it was away")
    finally:
        stack.redis.start()
    if done.returncode == 0:
        account.credited += 1_000_000
    eventually("the balance follows the exit code", lambda: account.balance == account.credited, 40)
    stack.site.wait_clean()


@pytest.mark.parametrize("usd", ["0.0000001", "abc", "1e3", "", "99999999999999999999"])
def test_amounts_that_are_no_whole_quota_or_no_number(
    stack: Stack, account: Account, usd: str
) -> None:
    account.wait_spent(0)
    done = stack.site.run_ctl("credit", account.name, usd)
    assert done.returncode in (1, 2), (done.stdout, done.stderr)
    stack.site.wait_clean()
    assert account.spent == 0


def test_token_limit_is_spent_with_the_user(stack: Stack, account: Account) -> None:
    made = account.new_token("--limit", "1")
    headers = [("Authorization", f"Bearer {made['token']}"), ("Content-Type", "application/json")]
    stack.simulator.behave("m-ref", "ok", p=100, c=10)
    for _ in range(4):
        is_ok(account.post(chat_body(), headers))
    account.wait_spent(900)
    shown = stack.site.ctl("show", "token", str(made["id"]))
    assert int(shown["remain_quota"]) == 500_000 - 900
    assert int(shown["used_quota"]) == 900
