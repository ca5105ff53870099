"""Kills and restarts in the middle of things: afterwards nothing is there twice, nothing lost."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.checks import is_ok
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.stack import Account, Stack

COMPLAINTS = pytest.mark.complains("redis", "database", "mysql", "ledger", "worker", "snapshot",
                                   "spool", "shard", "relay", "reserve", "settle")  # fmt: skip
EACH = bill({"prompt_tokens": 7, "completion_tokens": 3}, M_REF)  # 33


class Load:
    """Requests from several threads until it is stopped; counts what the clients saw."""

    def __init__(self, account: Account, threads: int = 6) -> None:
        self.account = account
        self.statuses: Counter[int] = Counter()
        self.broken = 0
        self.stopping = threading.Event()
        self.pool = ThreadPoolExecutor(threads)
        self.running = [self.pool.submit(self.run, number) for number in range(threads)]

    def run(self, number: int) -> None:
        while not self.stopping.is_set():
            try:
                answer = self.account.chat(stream=number % 2 == 0)
            except OSError:
                self.broken += 1
                continue
            if answer.headers and (number % 2 or answer.complete):
                self.statuses[answer.status] += 1
            else:
                self.broken += 1

    def wait_served(self, more: int) -> None:
        target = self.statuses[200] + more
        eventually(f"{more} more requests are served", lambda: self.statuses[200] >= target, 60)

    def stop(self) -> None:
        self.stopping.set()
        for one in self.running:
            one.result(60)
        self.pool.shutdown()


@pytest.fixture
def load(stack: Stack, account: Account):
    stack.simulator.behave("*", "ok", p=7, c=3)
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    made = Load(account)
    yield made
    if not made.stopping.is_set():
        made.stop()


def books_follow(stack: Stack, account: Account, load: Load) -> None:
    """What a client got whole is paid; nothing is paid that the provider did not do."""
    served = load.statuses[200]
    stack.site.wait_clean(60)
    charged = len(stack.simulator.charges())
    eventually("the paid answers are applied", lambda: account.spent >= served * EACH, 60)
    assert served * EACH <= account.spent <= charged * EACH, (served, account.spent / EACH, charged)
    count = stack.site.log_sql(
        "SELECT COUNT(*) - COUNT(DISTINCT request_id) FROM request_log"
        f" WHERE token_id = {account.token_id}"
    )
    assert count == [["0"]], "a request is in the log twice"


@COMPLAINTS
@pytest.mark.breaks_http
@pytest.mark.books_differ("an answer cut by a kill may have been charged by the provider")
def test_kill_9_of_a_worker_in_mid_stream(stack: Stack, account: Account) -> None:
    """The dead worker's delivered content is charged, its deposit comes back, once."""
    stack.simulator.behave("m-ref", "slow-tokens", ms=100, x=100)
    streams = [account.open_stream() for _ in range(6)]
    for exchange in streams:
        exchange.read_until(b"word9")
    # Renewals carry what was earned: let each stream live through one.
    time_to_renew = time.monotonic() + 1.5
    for exchange in streams:
        while time.monotonic() < time_to_renew:
            exchange.read_once()
    stack.gateway.kill_all_workers()
    for exchange in streams:
        exchange.close()
    is_ok(account.chat("m-free"))
    stack.site.wait_clean(60)
    eventually("no hold is left", lambda: open_holds(stack) == 0, 60, every=0.5)
    most = 6 * bill({"prompt_tokens": 20, "completion_tokens": 300}, M_REF)
    spent = eventually("what was delivered is charged", lambda: account.spent, 60)
    assert 0 < spent <= most
    expired = stack.site.main_sql(
        "SELECT COUNT(*), MIN(amount_quota) > 0 FROM ledger_entry"
        f" WHERE token_id = {account.token_id} AND kind = 'expired'"
    )
    assert expired == [["6", "1"]], "each dead stream is charged what it had earned"
    stack.site.wait_clean(30)


def open_holds(stack: Stack) -> int:
    total = 0
    for shard in range(64):
        for name in (f"tg:{{s{shard:02d}}}:holds", f"tg:{{s{shard}}}:holds"):
            reply = stack.redis.command("HLEN", name)
            total += int(reply[1:-2]) if reply[:1] == b":" else 0
            if shard >= 10:
                break
    return total


@COMPLAINTS
@pytest.mark.breaks_http
@pytest.mark.books_differ("answers cut by a kill")
def test_kill_9_of_workers_under_load(stack: Stack, account: Account, load: Load) -> None:
    for _ in range(3):
        load.wait_served(20)
        stack.gateway.kill_worker(stack.gateway.workers()[0])
    load.wait_served(20)
    load.stop()
    assert set(load.statuses) <= {200, 502, 503}, load.statuses
    eventually("no hold is left", lambda: open_holds(stack) == 0, 60, every=0.5)
    books_follow(stack, account, load)


@COMPLAINTS
def test_kill_9_of_the_daemon_in_mid_batch(stack: Stack, account: Account, load: Load) -> None:
    for _ in range(4):
        load.wait_served(25)
        stack.ledger.kill()
        stack.ledger.start()
    load.stop()
    assert set(load.statuses) == {200} and not load.broken
    account.wait_spent(load.statuses[200] * EACH, 30)
    books_follow(stack, account, load)


@COMPLAINTS
def test_a_daemon_that_was_away(stack: Stack, account: Account, load: Load) -> None:
    stack.ledger.stop()
    load.wait_served(60)
    load.stop()
    assert set(load.statuses) == {200}
    stack.ledger.start()
    account.wait_spent(load.statuses[200] * EACH, 30)


@COMPLAINTS
@pytest.mark.books_differ("requests cut while the stores were away")
def test_restart_of_mariadb_under_load(stack: Stack, account: Account, load: Load) -> None:
    load.wait_served(30)
    stack.mariadb.restart()
    load.wait_served(60)
    load.stop()
    assert set(load.statuses) <= {200, 503}, load.statuses
    books_follow(stack, account, load)


@COMPLAINTS
def test_mariadb_away_for_a_live_account(stack: Stack, account: Account) -> None:
    """Accounts that are live go on; the books catch up."""
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    is_ok(account.chat())
    account.wait_spent(EACH)
    stack.mariadb.stop()
    try:
        served = sum(account.chat().status == 200 for _ in range(20))
    finally:
        stack.mariadb.start()
    assert served == 20
    account.wait_spent(21 * EACH, 40)


@COMPLAINTS
@pytest.mark.books_differ("requests cut while the stores were away")
@pytest.mark.parametrize("kill", [False, True], ids=["restart", "kill-9"])
def test_restart_of_redis_under_load(
    stack: Stack, account: Account, load: Load, kill: bool
) -> None:
    """Restart means another run id: every shard is rebuilt, settles that were lost are replayed."""
    load.wait_served(30)
    old = stack.redis.run_id()
    stack.redis.restart(kill=kill)
    assert stack.redis.run_id() != old
    load.wait_served(40)
    load.stop()
    assert set(load.statuses) <= {200, 503}, load.statuses
    books_follow(stack, account, load)


@COMPLAINTS
def test_an_emptied_redis_is_rebuilt(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    for _ in range(5):
        is_ok(account.chat())
    account.wait_spent(5 * EACH)
    assert stack.redis.command("FLUSHALL") == b"+OK\r\n"
    eventually("requests are served again", lambda: account.chat().status == 200, 30)
    account.wait_spent(len(stack.simulator.charges()) * EACH, 30)


@COMPLAINTS
def test_rebuild_by_hand(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    is_ok(account.chat())
    stack.site.ctl("ledger", "rebuild")
    stack.site.ctl("ledger", "rebuild", "--shard", "3")
    eventually("requests are served", lambda: account.chat().status == 200, 30)
    account.wait_spent(len(stack.simulator.charges()) * EACH, 30)


@COMPLAINTS
@pytest.mark.books_differ("nothing is served without a store for the money")
def test_both_stores_away_is_503_never_401(stack: Stack, account: Account) -> None:
    is_ok(account.chat("m-free"))
    stack.mariadb.stop()
    stack.redis.stop()
    try:
        for _ in range(4):
            answer = account.chat()
            assert answer.status == 503, answer.body
            assert int(answer.header("retry-after") or 0) >= 1
            assert answer.error["type"] == "server_error"
        assert stack.fcgi.request("GET", "/healthz").status == 200
        assert stack.fcgi.request("GET", "/readyz").status == 503
    finally:
        stack.mariadb.start()
        stack.redis.start()
    eventually("requests are served again", lambda: account.chat("m-free").status == 200, 60)


@COMPLAINTS
def test_log_database_trouble_does_not_stop_traffic(stack: Stack, account: Account) -> None:
    """The log table is out of reach: traffic goes on, rows arrive when it is back."""
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    stack.site.log_sql("RENAME TABLE request_log TO request_log_away")
    try:
        answers = [is_ok(account.chat()) for _ in range(5)]
        account.wait_spent(5 * EACH)
    finally:
        stack.site.log_sql("RENAME TABLE request_log_away TO request_log")
    for answer in answers:
        assert stack.site.record(answer.request_id, 30)["quota"] == EACH
