"""Channels tested in rounds: what was disabled by itself comes back, what is slow goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conftest import Lanes
from harness.another import another_gateway
from harness.checks import is_ok
from harness.money import M_REF
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Stack

SLOW_MS, SLOW = 3500, "2s"

pytestmark = [
    pytest.mark.complains(
        r"breaker: channel \d+ .* rests after failures",
        r"effects: channel \d+ is (disabled|enabled)",
    ),
    pytest.mark.books_differ("tests of channels are nobody's bill"),
]


@pytest.fixture
def lanes(stack: Stack) -> Lanes:
    """Without a web server in front: the rounds are the gateway's own."""
    stack.simulator.behave("*", "ok", p=7, c=3)
    return Lanes(stack, stack.new_model(M_REF), stack.account())


@pytest.fixture
def often(stack: Stack) -> Iterator[None]:
    """Passive rounds, many a second."""
    with stack.gateway.with_settings(
        channel_test__mode="passive", channel_test__every="200ms", channel_test__slow=SLOW
    ):
        yield


def result_of(lanes: Lanes, number: int) -> dict:
    return lanes.stack.site.ctl("show", "channel", str(lanes.channels[number]))


def disabled(lanes: Lanes, scenario: str = "unauthorized") -> Lanes:
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, scenario)
    is_ok(lanes.account.chat(lanes.model))
    eventually("it is disabled", lambda: lanes.status(0) == "auto_disabled")
    return lanes


def rounds(lanes: Lanes, count: int = 3) -> None:
    """So many more tests of the first channel."""
    before = asked(lanes)
    eventually("rounds", lambda: asked(lanes) >= before + count, 30)


def asked(lanes: Lanes) -> int:
    return [seen.key for seen in lanes.stack.simulator.requests()].count(lanes.keys[0])


def test_what_works_again_comes_back(lanes: Lanes, often: None) -> None:
    disabled(lanes)
    rounds(lanes)
    assert lanes.status(0) == "auto_disabled"
    assert result_of(lanes, 0)["test_code"] == "invalid_api_key"
    lanes.behave(0, "ok", p=7, c=3)
    eventually("it is enabled", lambda: lanes.status(0) == "enabled", 30)
    eventually("and used", lambda: lanes.asked(chat(lanes)) == [0], 30)
    shown = result_of(lanes, 0)
    assert shown["test_code"] == "" and shown["test_ms"] >= 0 and shown["tested_at"]
    noted = lanes.stack.site.main_sql(
        "SELECT COUNT(*) FROM audit_log WHERE action = 'channel.auto_enable'"
        f" AND object_id = '{lanes.channels[0]}'"
    )
    assert noted == [["1"]]


def chat(lanes: Lanes) -> int:
    before = lanes.count()
    is_ok(lanes.account.chat(lanes.model))
    return before


def test_another_key_of_it_works(stack: Stack, lanes: Lanes, often: None) -> None:
    """It was disabled for all of its keys; one that works is enough, and is the one revived."""
    channel, second = lanes.add(priority=5), KEYS[5]
    stack.site.ctl("key", "add", str(channel), "--key-stdin", stdin=second + "\n")
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, "unauthorized")
    stack.simulator.behave(f"{second}/{lanes.model}", "unauthorized")
    is_ok(lanes.account.chat(lanes.model))
    eventually("it is disabled", lambda: lanes.status(0) == "auto_disabled")
    rounds(lanes, 1)
    stack.simulator.behave(f"{second}/{lanes.model}", "ok", p=7, c=3)
    eventually("it is enabled", lambda: lanes.status(0) == "enabled", 30)
    states = stack.site.main_sql(
        f"SELECT state FROM channel_keys WHERE channel_id = {channel} ORDER BY position"
    )
    assert states == [["suspended"], ["active"]]


def test_slow_is_not_recovered(lanes: Lanes, often: None) -> None:
    disabled(lanes)
    lanes.behave(0, "slow-headers", ms=SLOW_MS)
    before = asked(lanes)
    eventually("a slow test", lambda: (result_of(lanes, 0)["test_ms"] or 0) >= SLOW_MS, 30)
    assert asked(lanes) > before and lanes.status(0) == "auto_disabled"
    lanes.behave(0, "ok", p=7, c=3)
    eventually("it is enabled", lambda: lanes.status(0) == "enabled", 30)


def test_disabled_by_hand_stays_so(stack: Stack, lanes: Lanes, often: None) -> None:
    """Neither called nor enabled, although it was disabled by itself before."""
    disabled(lanes)
    rounds(lanes, 1)
    stack.site.ctl("channel", "disable", str(lanes.channels[0]))
    lanes.behave(0, "ok", p=7, c=3)
    other = Lanes(stack, stack.new_model(M_REF), stack.account())
    other.numbers = lanes.numbers  # further keys
    disabled(other)
    rounds(other)  # whatever ran when it was disabled is over
    before = asked(lanes)
    rounds(other)
    assert asked(lanes) == before
    assert lanes.status(0) == "disabled"


def test_the_slow_threshold(stack: Stack, lanes: Lanes) -> None:
    """A slow channel in use is disabled by a round of all, and back when it is fast."""
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, "slow-headers", ms=SLOW_MS)
    # A machine that is slow itself shall not take the others away.
    stack.site.main_sql(f"UPDATE channels SET auto_disable = 0 WHERE id <> {lanes.channels[0]}")
    with stack.gateway.with_settings(
        channel_test__mode="all", channel_test__every="500ms", channel_test__slow=SLOW
    ):
        eventually("it is disabled", lambda: lanes.status(0) == "auto_disabled", 60)
        assert "ms" in result_of(lanes, 0)["status_reason"]
        lanes.behave(0, "ok", p=7, c=3)
        eventually("it is enabled", lambda: lanes.status(0) == "enabled", 60)
        # A failure that is nobody's account is for the breaker, not for this.
        lanes.behave(0, "fail")
        rounds(lanes)
        assert lanes.status(0) == "enabled"
        lanes.behave(0, "unauthorized")
        eventually("it is disabled", lambda: lanes.status(0) == "auto_disabled", 60)


def test_one_node_makes_the_rounds(stack: Stack, lanes: Lanes) -> None:
    stack.site.main_sql("DELETE FROM node_lease WHERE name = 'channel_tests'")
    path = stack.directory / "watcher.sock"
    allowed = [r"channel \d+ is (disabled|enabled)"]
    with another_gateway(
        stack, "watcher", allowed=allowed, listen__address=f"unix:{path}", pool__workers=1,
        channel_test__mode="passive", channel_test__every="1s",
    ):  # fmt: skip
        disabled(lanes)
        rounds(lanes, 1)
        owner = "SELECT node FROM node_lease WHERE name = 'channel_tests'"
        assert stack.site.main_sql(owner) == [["watcher"]]
        with stack.gateway.with_settings(channel_test__every="200ms"):
            rounds(lanes, 3)
            assert stack.site.main_sql(owner) == [["watcher"]]
    stack.site.main_sql("DELETE FROM node_lease WHERE name = 'channel_tests'")


def asks_for_balance(lanes: Lanes, number: int) -> None:
    lanes.stack.site.main_sql(
        f"UPDATE channels SET balance_from = 'billing' WHERE id = {lanes.channels[number]}"
    )
    lanes.stack.site.main_sql("UPDATE routing_version SET version = version + 1")


def test_balances_are_told_and_an_empty_one_disables(stack: Stack, lanes: Lanes) -> None:
    lanes.add(priority=5)
    lanes.add(priority=1)
    asks_for_balance(lanes, 0)
    lanes.ready()
    first, second = map(str, lanes.channels)
    stack.simulator.settings(limit_usd=20, used_cents=1250.5)
    told = stack.site.ctl("channel", "balance", first)
    assert told["balance_usd"] == "7.495000"
    assert result_of(lanes, 0)["balance_usd"] == "7.495"
    refused = stack.site.run_ctl("channel", "balance", second)
    assert refused.returncode == 1 and "balance_not_told" in refused.stdout
    assert stack.site.run_ctl("channel", "balance").returncode == 2
    # By hand for all, then on a schedule.
    stack.simulator.settings(used_cents=500)
    stack.site.ctl("channel", "balance", "--all")
    eventually("it is read", lambda: result_of(lanes, 0)["balance_usd"] == "15", 30)
    stack.simulator.settings(used_cents=2000)
    with stack.gateway.with_settings(balance__every="300ms", channel_test__every="300ms"):
        eventually("it is disabled", lambda: lanes.status(0) == "auto_disabled", 30)
        assert "used up" in result_of(lanes, 0)["status_reason"]
        # It works, and would be disabled again at once.
        rounds(lanes)
        assert lanes.status(0) == "auto_disabled" and lanes.status(1) == "enabled"
        stack.simulator.settings(used_cents=1999)
        eventually("it is enabled", lambda: lanes.status(0) == "enabled", 30)
    assert lanes.keys[0] not in str(stack.site.main_sql("SELECT * FROM audit_log"))


def test_all_are_tested_when_somebody_asks(stack: Stack, lanes: Lanes) -> None:
    """Whatever the schedule says; the list shows what came of it."""
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, "unauthorized")
    with stack.gateway.with_settings(channel_test__mode="off"):
        stack.site.ctl("channel", "test", "--all")
        eventually("it is disabled", lambda: lanes.status(0) == "auto_disabled", 30)
        eventually("the other is tested", lambda: result_of(lanes, 1)["tested_at"], 30)
        lanes.behave(0, "ok", p=7, c=3)
        stack.site.ctl("channel", "test", "--all")
        eventually("it is enabled", lambda: lanes.status(0) == "enabled", 30)
    rows = {row["id"]: row for row in stack.site.ctl("channel", "list")}
    assert [rows[id]["test_code"] for id in lanes.channels] == ["", ""]


@pytest.mark.parametrize(
    "scenario", ["not-found", "bad-request", "unprocessable", "content-filter", "fail"]
)
def test_what_is_no_account_disables_nothing(
    stack: Stack, lanes: Lanes, scenario: str
) -> None:
    """A made-up model, a client's own mistake: as often as anybody likes, in use and in tests."""
    lanes.add(priority=5)
    lanes.ready()
    lanes.behave(0, scenario)
    for _ in range(8):
        assert lanes.account.chat(lanes.model).status >= 400
        assert lanes.account.chat(f"{lanes.model}-made-up").status == 404
    test = stack.site.run_ctl("channel", "test", str(lanes.channels[0]))
    assert test.returncode == 1
    assert lanes.status(0) == "enabled"
    states = stack.site.main_sql(
        f"SELECT state FROM channel_keys WHERE channel_id = {lanes.channels[0]}"
    )
    assert states == [["active"]]
