"""Money without Redis: the deposit in MySQL, the allowance, coming back, and one node alone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from harness.another import another_gateway
from harness.checks import is_ok
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.stack import CHAT, Account, Stack, chat_body

AWAY = pytest.mark.complains("redis", "database", "mysql", "ledger", "snapshot", "spool", "shard",
                             "reserve", "settle", "hold", "sweep", "access", "worker")  # fmt: skip
EACH = bill({"prompt_tokens": 7, "completion_tokens": 3}, M_REF)  # 33
USD = 500_000


def money(stack: Stack) -> str:
    return stack.fcgi.request("GET", "/readyz").json["money"]


def credits_are_applied(stack: Stack) -> None:
    waiting = "SELECT COUNT(*) FROM credits WHERE applied_at IS NULL"
    eventually("the credits are applied", lambda: stack.site.main_sql(waiting) == [["0"]], 30)


@contextmanager
def without_redis(stack: Stack) -> Iterator[None]:
    """MySQL's balances decide then, so what was credited is there before."""
    credits_are_applied(stack)
    stack.redis.stop()
    try:
        eventually("money is offline", lambda: money(stack) == "offline", 60)
        yield
    finally:
        stack.redis.start()
    eventually("money is online", lambda: money(stack) == "online", 60)


def bound(stack: Stack) -> list[list[str]]:
    return stack.site.main_sql(
        "SELECT (SELECT COUNT(*) FROM offline_hold), (SELECT COUNT(*) FROM offline_entry),"
        " (SELECT SUM(ABS(offline_quota)) FROM users), (SELECT SUM(ABS(offline_quota)) FROM tokens)"
    )


def all_is_replayed(stack: Stack) -> None:
    eventually("nothing is bound", lambda: bound(stack) == [["0", "0", "0", "0"]], 60)
    stack.site.wait_clean(60)


@AWAY
def test_one_node_goes_on(stack: Stack, account: Account) -> None:
    """Nobody else can spend, so the balance alone decides; every bill is in the books once."""
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    is_ok(account.chat())
    account.wait_spent(EACH)
    with without_redis(stack):
        for number in range(20):
            is_ok(account.chat(stream=number % 2 == 1))
        assert account.post(b"{").status == 400
        nodes = stack.site.ctl("node", "list")
        assert [node["state"] for node in nodes] == ["offline"]
    account.wait_spent(21 * EACH, 60)
    all_is_replayed(stack)
    is_ok(account.chat())
    account.wait_spent(22 * EACH)


def short_account(stack: Stack, *options: str) -> Account:
    """2,000 quota, in MySQL too; a deposit is 825, a bill 33."""
    account = stack.account("10" if options else "0.004", *options)
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    return account


def spend(account: Account, most: int) -> int:
    served = 0
    while served < most and account.chat(max_tokens=10).status == 200:
        served += 1
    return served


@AWAY
def test_a_user_spends_all_of_the_balance(stack: Stack) -> None:
    """No more than it, and no allowance less: nobody else can spend it meanwhile."""
    account = short_account(stack)
    with without_redis(stack):
        served = spend(account, 100)
        refused = account.chat(max_tokens=10)
        assert refused.status == 429 and refused.error["code"] == "insufficient_quota"
    assert 1175 <= served * EACH <= 1175 + EACH, served
    account.wait_spent(served * EACH, 60)
    all_is_replayed(stack)


@AWAY
def test_a_token_keeps_to_its_limit(stack: Stack) -> None:
    account = short_account(stack, "--limit", "0.004")
    with without_redis(stack):
        served = spend(account, 100)
        assert account.chat(max_tokens=10).status == 429
    assert 1175 <= served * EACH <= 1175 + EACH, served
    account.wait_spent(served * EACH, 60)
    all_is_replayed(stack)


@AWAY
def test_a_node_that_is_cut_off_alone_keeps_to_the_allowance(stack: Stack) -> None:
    """Another node counts as online: it may be spending the same money at this moment."""
    account = short_account(stack, "--unlimited")
    stack.simulator.behave("m-ref", "ok", p=100_000, c=1)
    each = bill({"prompt_tokens": 100_000, "completion_tokens": 1}, M_REF)
    other = "INSERT INTO node (name, state, seen_at) VALUES ('other', 'online', NOW(6))"
    stack.site.main_sql(other)
    try:
        with without_redis(stack):
            served = spend(account, 30)
        assert served >= 1, "the allowance is there to be used"
        assert (served - 1) * each < USD, "and no more than that"
        stack.site.ctl("node", "forget", "other")
        with without_redis(stack):
            assert spend(account, 5) == 5, "a machine that was given up spends nothing"
    finally:
        stack.site.main_sql("DELETE FROM node WHERE name = 'other'")
    account.wait_spent((served + 5) * each, 60)
    all_is_replayed(stack)


@AWAY
@pytest.mark.breaks_http
@pytest.mark.books_differ("an answer cut by a kill may have been charged by the provider")
def test_a_dead_workers_deposit_comes_back(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "slow-tokens", ms=100, x=100)
    with without_redis(stack):
        stream = account.open_stream()
        stream.read_until(b"word3")
        assert bound(stack)[0][0] == "1"
        stack.gateway.kill_all_workers()
        stream.close()
    all_is_replayed(stack)


@AWAY
def test_a_stream_that_spans_the_outage(stack: Stack, account: Account) -> None:
    """Its deposit is in Redis, its bill is made in MySQL, and the other way round."""
    stack.simulator.behave("m-ref", "slow-tokens", ms=150, x=60)
    before = account.open_stream()
    before.read_until(b"word1")
    with without_redis(stack):
        inside = account.open_stream()
        inside.read_until(b"word1")
        before.finish()
    inside.finish()
    account.wait_spent(stack.charged_by_simulator(), 60)
    all_is_replayed(stack)
    expired = stack.site.main_sql(
        f"SELECT COUNT(*) FROM ledger_entry WHERE token_id = {account.token_id}"
        " AND kind = 'expired'"
    )
    assert expired == [["0"]]


@AWAY
@pytest.mark.breaks_http
def test_a_site_without_redis(stack: Stack) -> None:
    """One node, money in MySQL alone; the daemon folds what ended into the books."""
    account = short_account(stack)
    credits_are_applied(stack)
    stack.ledger.stop()
    stack.redis.stop()
    listen = f"unix:{stack.directory}/single.sock"
    try:
        changes = {"redis__address": "none", "listen__address": listen}
        with another_gateway(stack, "single", **changes) as client:
            ready = client.request("GET", "/readyz")
            assert (ready.status, ready.json["money"]) == (200, "single"), ready.body
            body, served = chat_body(max_tokens=10), 0
            while (answer := client.request("POST", CHAT, account.auth(), body)).status == 200:
                served += 1
            assert answer.status == 429, answer.body
            assert 1175 <= served * EACH <= 1175 + EACH, served
        fold = [str(stack.site.program("fcgi-app/tollgate-ledger")), "--once", "--conf"]
        conf = str(stack.directory / "single.conf")
        done = subprocess.run([*fold, conf], env=stack.site.env, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        quota = f"SELECT quota, offline_quota FROM users WHERE username = '{account.name}'"
        assert stack.site.main_sql(quota) == [[str(2000 - served * EACH), "0"]]
        audit = [str(stack.site.program("admin-cgi/tollgatectl")), "--conf", conf, "audit"]
        done = subprocess.run(audit, env=stack.site.env, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stdout
    finally:
        stack.redis.start()
        stack.ledger.start()
    eventually("money is online", lambda: money(stack) == "online", 60)
    all_is_replayed(stack)
