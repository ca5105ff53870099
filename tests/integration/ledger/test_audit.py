"""The audit: clean in health, red when any of its sums is tampered with, and clean again after."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from harness.checks import is_ok
from harness.procs import eventually
from harness.stack import Account, Stack


@pytest.fixture
def settled(stack: Stack, account: Account) -> Account:
    """An account with three paid requests, all of them in the books."""
    stack.simulator.behave("m-ref", "ok", p=100, c=10)
    for _ in range(3):
        is_ok(account.chat())
    account.wait_spent(675)
    user = stack.site.main_sql(f"SELECT id FROM users WHERE username = '{account.name}'")
    account.user_id = int(user[0][0])
    stack.site.wait_clean()
    # Rows on their way to the log are no difference, but there is nothing to tamper with yet.
    rows = f"SELECT COUNT(*) FROM request_log WHERE token_id = {account.token_id}"
    eventually("the rows are logged", lambda: stack.site.log_sql(rows) == [["3"]])
    return account


@contextmanager
def tampered(stack: Stack, do: str, undo: str, log: bool = False) -> Iterator[None]:
    sql = stack.site.log_sql if log else stack.site.main_sql
    sql(do)
    try:
        yield
    finally:
        sql(undo)


def red(stack: Stack) -> None:
    done = stack.site.run_ctl("audit")
    assert done.returncode == 1, done.stdout


def test_clean(stack: Stack, settled: Account) -> None:
    assert stack.site.audit()["clean"] is True


def test_red_when_a_balance_is_changed(stack: Stack, settled: Account) -> None:
    where = f"WHERE id = {settled.user_id}"
    with tampered(
        stack,
        f"UPDATE users SET quota = quota + 1 {where}",
        f"UPDATE users SET quota = quota - 1 {where}",
    ):
        red(stack)
    stack.site.wait_clean()


def test_red_when_an_entry_is_changed(stack: Stack, settled: Account) -> None:
    entry = f"user_id = {settled.user_id} AND amount_quota = %d LIMIT 1"
    with tampered(
        stack,
        f"UPDATE ledger_entry SET amount_quota = 226 WHERE {entry % 225}",
        f"UPDATE ledger_entry SET amount_quota = 225 WHERE {entry % 226}",
    ):
        red(stack)
    stack.site.wait_clean()


def test_red_when_an_entry_is_missing(stack: Stack, settled: Account) -> None:
    where = f"WHERE user_id = {settled.user_id} AND amount_quota = 225"
    stack.site.main_sql(
        f"CREATE TABLE kept AS SELECT * FROM ledger_entry {where} LIMIT 1;"
        "DELETE FROM ledger_entry WHERE request_id IN (SELECT request_id FROM kept)"
    )
    try:
        red(stack)
    finally:
        stack.site.main_sql("INSERT INTO ledger_entry SELECT * FROM kept; DROP TABLE kept")
    stack.site.wait_clean()


def test_red_when_the_request_log_differs(stack: Stack, settled: Account) -> None:
    where = f"WHERE token_id = {settled.token_id} AND quota = %d LIMIT 1"
    with tampered(
        stack,
        f"UPDATE request_log SET quota = 224 {where % 225}",
        f"UPDATE request_log SET quota = 225 {where % 224}",
        log=True,
    ):
        red(stack)
    stack.site.wait_clean()


def test_red_when_the_live_balance_differs(stack: Stack, settled: Account) -> None:
    key = f"tg:{{s{settled.user_id % 64:02d}}}:user:{settled.user_id}"
    for candidate in (key, f"tg:{{s{settled.user_id % 64}}}:user:{settled.user_id}"):
        if stack.redis.command("EXISTS", candidate) == b":1\r\n":
            key = candidate
    assert stack.redis.command("HINCRBY", key, "quota", "5")[:1] == b":"
    try:
        red(stack)
    finally:
        stack.redis.command("HINCRBY", key, "quota", "-5")
    stack.site.wait_clean()


def test_red_when_a_credit_is_changed(stack: Stack, settled: Account) -> None:
    where = f"WHERE user_id = {settled.user_id} LIMIT 1"
    with tampered(
        stack,
        f"UPDATE credits SET amount_quota = amount_quota + 1 {where}",
        f"UPDATE credits SET amount_quota = amount_quota - 1 {where}",
    ):
        red(stack)
    stack.site.wait_clean()


def test_a_running_request_is_no_difference(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "slow-tokens", ms=400, x=5)
    exchange = account.open_stream()
    exchange.read_until(b"word0")
    assert stack.site.audit()["clean"] is True
    is_ok(exchange.finish())


def test_audit_under_load_is_not_red_by_chance(stack: Stack, account: Account) -> None:
    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(account.chat) for _ in range(80)]
        results = [stack.site.audit()["clean"] for _ in range(4)]
        assert all(one.result().status == 200 for one in running)
    assert results == [True] * 4


def test_credits_are_listed_and_summed(stack: Stack, account: Account) -> None:
    for usd in ("0.000002", "0.5", "-0.25"):
        account.credit(usd)
    eventually("the balance is the sum", lambda: account.balance == account.credited)
    rows = stack.site.main_sql(
        "SELECT COUNT(*) FROM credits c JOIN users u ON u.id = c.user_id"
        f" WHERE u.username = '{account.name}'"
    )
    assert rows == [["4"]]
