"""Options in the database: laid over the conf file, in force in every worker without a restart."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest
from harness.checks import is_ok
from harness.procs import eventually
from harness.stack import Account, Stack

SOON = 6.0  # threefold the two seconds that are promised


@pytest.fixture
def options(stack: Stack) -> Iterator[Stack]:
    yield stack
    for (name,) in stack.site.main_sql("SELECT name FROM options"):
        stack.site.ctl("config", "reset", name)


def shown(stack: Stack, name: str) -> tuple[str, str]:
    (row,) = [row for row in stack.site.ctl("config", "show") if row["name"] == name]
    return row["value"], row["source"]


def all_workers_answer(account: Account, status: int) -> None:
    """So many times in a row that no worker can have been left out."""

    def once() -> bool:
        return all(account.chat(text="x" * 2000).status == status for _ in range(12))

    eventually(f"all answers are {status}", once, SOON)


def test_an_option_holds_in_every_worker_and_is_taken_back(
    options: Stack, account: Account
) -> None:
    assert shown(options, "body.limit") == ("128MiB", "default")
    is_ok(account.chat(text="x" * 2000))
    options.site.ctl("config", "set", "body.limit", "1KiB")
    assert shown(options, "body.limit") == ("1KiB", "database")
    all_workers_answer(account, 413)
    options.site.ctl("config", "reset", "body.limit")
    assert shown(options, "body.limit") == ("128MiB", "default")
    all_workers_answer(account, 200)


def test_a_worker_that_starts_knows_them(options: Stack, account: Account) -> None:
    options.site.ctl("config", "set", "body.limit", "1KiB")
    all_workers_answer(account, 413)
    options.gateway.restart()
    for _ in range(12):
        assert account.chat(text="x" * 2000).status == 413


def test_the_daemon_knows_them_and_reads_its_file_again(options: Stack) -> None:
    ledger = options.ledger.process

    def said(line: str, action: Callable[[], None]) -> None:
        offset = ledger.log_size()
        action()
        eventually(line, lambda: ledger.log_contains(line, offset), 30)

    options.site.ctl("config", "set", "records.keep_months", "20")
    said("1 of them from the options table", options.ledger.restart)
    ctl = options.site.ctl
    said("0 of them from", lambda: ctl("config", "reset", "records.keep_months"))
    said("1 of them from", lambda: ctl("config", "set", "records.keep_months", "30"))
    options.site.write_conf(ledger__batch=10)
    said("1 of them from", lambda: ledger.signal(signal.SIGHUP))
    options.site.write_conf()
    said("1 of them from", lambda: ledger.signal(signal.SIGHUP))


@pytest.mark.complains("conf")
def test_a_daemon_that_reads_a_broken_file_keeps_what_it_has(options: Stack) -> None:
    ledger = options.ledger.process
    try:
        options.site.write_conf(ledger__batch=0)
        ledger.signal(signal.SIGHUP)
        eventually("it is said", lambda: ledger.log_contains("ledger.batch"), 30)
    finally:
        options.site.write_conf()
    assert ledger.running


@pytest.mark.parametrize(
    ("name", "value"),
    [("pool.workers", "3"), ("net.channel_allow", "0.0.0.0/0"), ("retry.atempts", "3"),
     ("retry.attempts", "many"), ("body.limit", "1"), ("price.unpriced", "never")],
)  # fmt: skip
def test_what_cannot_be_set_so_is_refused(options: Stack, name: str, value: str) -> None:
    done = options.site.run_ctl("config", "set", name, value)
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert name in done.stderr
    assert options.site.main_sql("SELECT name FROM options") == []


@pytest.mark.complains("conf")
def test_a_row_of_another_version_is_left_out(options: Stack, account: Account) -> None:
    """The others hold all the same."""
    options.site.main_sql("INSERT INTO options (name, value) VALUES ('no.such', '1')")
    options.site.ctl("config", "set", "body.limit", "1KiB")
    all_workers_answer(account, 413)
    options.gateway.restart()
    all_workers_answer(account, 413)
    assert shown(options, "body.limit") == ("1KiB", "database")
