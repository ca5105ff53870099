"""Breakers: opened by failures, one probe of the whole node, closed by what works again."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import OPEN_S, Lanes
from harness.checks import is_ok, whole_stream
from harness.crowd import open_holds
from harness.procs import eventually
from harness.stack import Stack


pytestmark = pytest.mark.complains(
    r"breaker: channel \d+ .* rests after failures", r"effects: channel \d+ is (disabled|enabled)",
    r"left to the replay",
)


@pytest.fixture(autouse=True)
def cheap(stack: Stack) -> None:
    stack.simulator.behave("*", "ok", p=7, c=3)


def open_it(lanes: Lanes) -> float:
    """The first channel of two is left alone after five failures; the earliest time it was."""
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, "overloaded")
    at = time.monotonic()
    for _ in range(5):
        at = time.monotonic()
        is_ok(lanes.account.chat(lanes.model))
    return at


def calls_of_the_first(lanes: Lanes, before: int) -> int:
    return [seen.key for seen in lanes.stack.simulator.requests()[before:]].count(lanes.keys[0])


@pytest.mark.parametrize("clients", [40, pytest.param(200, marks=pytest.mark.long)])
def test_one_probe_among_many_clients(stack: Stack, lanes: Lanes, clients: int) -> None:
    opened_at = open_it(lanes)
    assert lanes.breaker(0) == "2"
    assert f"channel {lanes.channels[0]}" in stack.gateway.process.tail()
    before = lanes.count()
    is_ok(lanes.account.chat(lanes.model))
    if time.monotonic() - opened_at < OPEN_S:
        assert calls_of_the_first(lanes, before) == 0
    # It hangs now: who probes waits, everybody else is served by the second channel meanwhile.
    lanes.behave(0, "by-hand", p=7, c=3)
    before = lanes.count()
    with ThreadPoolExecutor(clients) as pool:
        probe = eventually("a probe", lambda: probing(lanes, pool, before), 30)
        running = [pool.submit(lanes.account.stream, lanes.model) for _ in range(clients)]
        started = time.monotonic()
        held = [whole for whole in map(finished_soon, running) if not whole]
        # One for each period that has begun since.
        periods = 1 + int((time.monotonic() - started) / OPEN_S) + 1
        assert 1 <= calls_of_the_first(lanes, before) <= periods, held
        while not all(one.done() for one in [probe, *running]):
            stack.simulator.step(f"{lanes.keys[0]}/{lanes.model}")
            time.sleep(0.01)
        for one in [probe, *running]:
            whole_stream(one.result(60))
    eventually("it is closed", lambda: lanes.breaker(0) is None)
    lanes.behave(0, "ok", p=7, c=3)
    before = lanes.count()
    is_ok(lanes.account.chat(lanes.model))
    assert calls_of_the_first(lanes, before) == 1


def finished_soon(one) -> bool:
    try:
        one.result(OPEN_S)
    except TimeoutError:
        return False
    return True


def probing(lanes: Lanes, pool: ThreadPoolExecutor, before: int):
    """One more request; itself when it is the probe."""
    one = pool.submit(lanes.account.stream, lanes.model)
    known = lambda: one.done() or calls_of_the_first(lanes, before) > 0  # noqa: E731
    eventually("it is answered or held", known, 20)
    return None if calls_of_the_first(lanes, before) == 0 else one


@pytest.mark.first_quick
def test_a_failed_probe_doubles_the_rest(stack: Stack, lanes: Lanes) -> None:
    open_it(lanes)
    before = lanes.count()

    def probed() -> bool:
        is_ok(lanes.account.chat(lanes.model))
        return calls_of_the_first(lanes, before) == 1

    eventually("a probe", probed, 30, every=0.1)
    at = time.monotonic()
    before = lanes.count()
    eventually("the next one", probed, 60, every=0.1)
    assert time.monotonic() - at > 2 * OPEN_S - 1


@pytest.mark.first_quick
@pytest.mark.complains(r"killed|signal 9|worker .* (ended|died)", r"sweep: ")
def test_a_killed_prober_costs_one_period(stack: Stack, lanes: Lanes) -> None:
    """kill -9 of the worker that holds the probe: nothing stays locked."""
    open_it(lanes)
    lanes.behave(0, "hang-before")
    before = lanes.count()
    with ThreadPoolExecutor(8) as pool:
        eventually("a probe", lambda: probing(lanes, pool, before), 30)
        # The other one may have a kept connection: which of them waits cannot be seen from here.
        stack.gateway.kill_all_workers()
    lanes.behave(0, "ok", p=7, c=3)

    def closed() -> bool:
        lanes.account.chat(lanes.model)
        return lanes.breaker(0) is None

    eventually("another probe closes it", closed, 30, every=0.1)
    eventually("its hold has lapsed", lambda: open_holds(stack) == 0, 60, every=0.2)
    stack.site.wait_clean()


def test_the_database_knows_what_the_node_lets_rest(stack: Stack, lanes: Lanes) -> None:
    """For the console: written when it changes, and gone when the breaker has closed."""

    def noted() -> list[list[str]]:
        return stack.site.main_sql(
            "SELECT model, state, until_at > UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE"
            f" FROM breaker_states WHERE channel_id = {lanes.channels[0]}"
        )

    open_it(lanes)
    eventually("it is noted", lambda: noted() == [[lanes.model, "open", "1"]], 30)
    lanes.behave(0, "ok", p=7, c=3)

    def closed() -> bool:
        is_ok(lanes.account.chat(lanes.model))
        return lanes.breaker(0) is None

    eventually("a probe closes it", closed, 30, every=0.1)
    eventually("and that is noted", lambda: noted() == [], 30)


def test_a_reload_keeps_what_is_known(stack: Stack, lanes: Lanes) -> None:
    open_it(lanes)
    stack.gateway.reload()
    assert lanes.breaker(0) == "2"
