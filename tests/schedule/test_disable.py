"""Channels that are disabled because their account is refused."""

from __future__ import annotations

import pytest
from conftest import Lanes
from harness.another import another_gateway
from harness.checks import is_ok
from harness.procs import eventually
from harness.stack import Stack, chat_body


pytestmark = pytest.mark.complains(
    r"breaker: channel \d+ .* rests after failures", r"effects: channel \d+ is (disabled|enabled)",
    r"left to the replay",
)


@pytest.fixture(autouse=True)
def cheap(stack: Stack) -> None:
    stack.simulator.behave("*", "ok", p=7, c=3)


def is_left_alone(lanes: Lanes) -> bool:
    before = lanes.count()
    for _ in range(8):
        is_ok(lanes.account.chat(lanes.model))
    return lanes.keys[0] not in [seen.key for seen in lanes.stack.simulator.requests()[before:]]


@pytest.mark.books_differ("tests of channels are nobody's bill")
def test_a_refused_account(stack: Stack, lanes: Lanes) -> None:
    """The client does not notice; the channel is off for all workers."""
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, "unauthorized")
    answer = is_ok(lanes.account.chat(lanes.model))
    eventually("it is disabled", lambda: lanes.status(0) == "auto_disabled")
    eventually("no worker asks it", lambda: is_left_alone(lanes), 20)
    enabled = stack.site.main_sql(
        f"SELECT COUNT(*) FROM abilities WHERE channel_id = {lanes.channels[0]} AND enabled = 1"
    )
    assert enabled == [["0"]]
    stack.site.record(answer.request_id)
    told = stack.site.ctl("explain", answer.request_id)
    assert told["request"]["attempts_json"][0]["effect"] == "channel_disable"
    assert any("account was refused" in line for line in told["story"])
    reason = stack.site.main_sql(
        f"SELECT status_reason FROM channels WHERE id = {lanes.channels[0]}"
    )[0][0]
    assert "401" in reason and lanes.keys[0] not in reason
    noted = stack.site.main_sql(
        "SELECT COUNT(*) FROM audit_log WHERE action = 'channel.auto_disable'"
        f" AND object_id = '{lanes.channels[0]}'"
    )
    assert noted == [["1"]]


def test_all_nodes_at_once(stack: Stack, lanes: Lanes) -> None:
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    path = stack.directory / "second.sock"
    with another_gateway(
        stack, "second", allowed=[r"channel \d+ is disabled"], listen__address=f"unix:{path}",
        pool__workers=1, snapshot__interval="60s",
    ) as second:  # fmt: skip
        lanes.behave(0, "unauthorized")
        is_ok(lanes.account.chat(lanes.model))
        eventually("it is disabled", lambda: lanes.status(0) == "auto_disabled")

        def served_by_the_second() -> bool:
            before = lanes.count()
            exchange = second.open(
                "POST", "/v1/chat/completions", lanes.account.auth(), chat_body(lanes.model)
            )
            is_ok(exchange.finish())
            return lanes.asked(before) == [1]

        eventually("the other node knows", served_by_the_second, 20)


def test_a_channel_that_does_not_allow_it(stack: Stack, lanes: Lanes) -> None:
    lanes.add(priority=5)
    lanes.add(priority=1)
    stack.site.main_sql(f"UPDATE channels SET auto_disable = 0 WHERE id = {lanes.channels[0]}")
    stack.site.main_sql("UPDATE routing_version SET version = version + 1")
    lanes.ready()
    lanes.behave(0, "unauthorized")
    before = lanes.count()
    answer = is_ok(lanes.account.chat(lanes.model))
    assert lanes.asked(before) == [0, 1]
    stack.site.record(answer.request_id)
    told = stack.site.ctl("explain", answer.request_id)["request"]["attempts_json"]
    assert "effect" not in told[0]
    assert lanes.status(0) == "enabled"
