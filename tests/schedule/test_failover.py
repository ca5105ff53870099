"""What fails and who serves instead, by a client that must not notice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import Lanes
from harness.checks import is_ok, whole_stream
from harness.money import M_REF, bill
from harness.rawup import SSE_HEAD, RawUpstream
from harness.simclient import KEYS
from harness.stack import Stack

USAGE = {"prompt_tokens": 7, "completion_tokens": 3}
FIRST_BYTE = ("--timeouts", "first_byte=1500ms")


pytestmark = pytest.mark.complains(
    r"breaker: channel \d+ .* rests after failures", r"effects: channel \d+ is (disabled|enabled)",
    r"left to the replay",
)


@pytest.fixture(autouse=True)
def cheap(stack: Stack) -> None:
    stack.simulator.behave("*", "ok", p=7, c=3)


def test_all_channels_of_two_tiers_fail(lanes: Lanes) -> None:
    for priority in (9, 8, 1):
        lanes.add(priority=priority)
    lanes.ready()
    lanes.behave(0, "fail")
    lanes.behave(1, "overloaded")
    before, spent = lanes.count(), lanes.account.spent
    answer = is_ok(lanes.account.chat(lanes.model))
    assert lanes.asked(before) == [0, 1, 2]
    record = lanes.stack.site.record(answer.request_id)
    assert (int(record["channel_id"]), int(record["attempts"])) == (lanes.channels[2], 3)
    assert spent <= lanes.account.spent


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_200_that_fails_in_its_first_event(lanes: Lanes, stream: bool) -> None:
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, "error-first")
    before = lanes.count()
    answer = is_ok(lanes.account.chat(lanes.model, stream=stream))
    if stream:
        whole_stream(answer)
    assert lanes.asked(before) == [0, 1]


def test_the_clients_own_400_punishes_nobody(lanes: Lanes) -> None:
    """Nor does a model that the channel does not know: as often as anybody likes."""
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    for scenario, asked in (("bad-request", [0]), ("not-found", [0, 1])):
        lanes.behave(0, scenario)
        for _ in range(7):
            before = lanes.count()
            answer = lanes.account.chat(lanes.model)
            assert answer.status == (400 if scenario == "bad-request" else 200)
            assert lanes.asked(before) == asked
    assert lanes.breaker(0) is None
    assert (lanes.status(0), lanes.status(1)) == ("enabled", "enabled")


def test_fr98_no_second_answer_behind_a_broken_one(lanes: Lanes) -> None:
    """Content has gone out: the other channel is not called, the client is told."""
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.stack.simulator.behave(
        f"{lanes.keys[0]}/{lanes.model}", "error-mid", text="one two", p=7, c=2
    )
    before = lanes.count()
    answer = lanes.account.stream(lanes.model)
    assert lanes.asked(before) == [0]
    assert answer.status == 200 and not answer.done
    assert answer.body.count(b'"role"') <= 1 and b"error" in answer.body


test_fr98_no_second_answer_behind_a_broken_one = pytest.mark.books_differ("counted locally")(
    test_fr98_no_second_answer_behind_a_broken_one
)


@pytest.mark.parametrize("scenario", ["hang-before", "hang"], ids=["no headers", "no event"])
def test_fr110_a_hanging_upstream_is_left(lanes: Lanes, scenario: str) -> None:
    lanes.add(*FIRST_BYTE, priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, scenario)
    before = lanes.count()
    whole_stream(lanes.account.stream(lanes.model))
    assert lanes.asked(before) == [0, 1]


def test_fr110_pings_and_a_role_are_no_answer(lanes: Lanes) -> None:
    role = b'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n'
    ended = threading.Event()

    def script(connection) -> None:
        connection.send(SSE_HEAD + role)
        while not ended.wait(0.1):
            connection.send(b": ping\n\n")

    with RawUpstream(script) as upstream:
        lanes.add(*FIRST_BYTE, priority=5, base_url=upstream.base_url)
        lanes.add(priority=1)
        lanes.stack.wait_model(lanes.account, lanes.model)
        try:
            answer = whole_stream(lanes.account.stream(lanes.model))
        finally:
            ended.set()
    record = lanes.stack.site.record(answer.request_id)
    assert int(record["channel_id"]) == lanes.channels[1]


def test_fr110_a_slow_answer_that_has_begun_is_let_go_on(lanes: Lanes) -> None:
    """The limit is for the first token: words that come slowly afterwards may take longer."""
    lanes.add("--timeouts", "first_byte=2s", priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, "slow-tokens", ms=700, x=5)
    before = lanes.count()
    answer = whole_stream(lanes.account.stream(lanes.model))
    assert answer.text == "word0 word1 word2 word3 word4"
    assert lanes.asked(before) == [0]


def test_fr108_a_request_that_was_taken_and_dropped(lanes: Lanes) -> None:
    """Chat moves on, the client pays once, and the possible double cost is on record."""
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.account.wait_spent(lanes.stack.charged_by_simulator())
    start = lanes.account.spent
    lanes.behave(0, "close-before")
    answer = is_ok(lanes.account.chat(lanes.model))
    lanes.account.wait_spent(start + bill(USAGE, M_REF))
    first = attempts(lanes, answer.request_id)[0]
    assert first["maybe_accepted"] and first["action"] == "retry"


def attempts(lanes: Lanes, request_id: str) -> list[dict]:
    lanes.stack.site.record(request_id)
    return lanes.stack.site.ctl("explain", request_id)["request"]["attempts_json"]


def test_fr103_a_phrase_disables_and_the_retry_goes_on(stack: Stack, lanes: Lanes) -> None:
    for priority in (9, 8, 7, 6):
        lanes.add(priority=priority)
    lanes.ready()
    lanes.behave(0, "fail")
    lanes.behave(1, "fail")
    lanes.behave(2, "key-invalid")
    before = lanes.count()
    is_ok(lanes.account.chat(lanes.model))
    assert lanes.asked(before) == [0, 1, 2, 3]


@pytest.fixture
def groups(stack: Stack) -> Callable[[], list[str]]:
    def make() -> list[str]:
        names = [f"g{next(stack.numbers)}" for _ in range(3)]
        for name in names:
            stack.site.ctl("group", "set", name, "--ratio", "1")
            stack.site.ctl("group", "allow", "default", name)
        return names

    return make


def auto_account(lanes: Lanes, *options: str) -> None:
    made = lanes.account.new_token("--group", "auto", *options)
    lanes.account.token, lanes.account.token_id = made["token"], int(made["id"])


@pytest.mark.parametrize("cross", [True, False], ids=["crossing", "staying"])
def test_fr100_groups_of_a_token(lanes: Lanes, groups, cross: bool) -> None:
    """A1, then B, then C: no channel twice while one is untried, and one budget for all."""
    names = groups()
    for name, count in zip(names, (1, 2, 1), strict=True):
        for _ in range(count):
            lanes.add("--groups", name)
    options = ["--auto-groups", ",".join(names)] + (["--cross-group-retry"] if cross else [])
    auto_account(lanes, *options)
    lanes.stack.wait_model(lanes.account, lanes.model)
    lanes.settled()
    for number in range(3):
        lanes.behave(number, "overloaded")
    before = lanes.count()
    answer = lanes.account.chat(lanes.model)
    asked = [lanes.keys.index(seen.key) for seen in lanes.stack.simulator.requests()[before:]]
    if cross:
        assert asked[0] == 0 and sorted(asked[1:3]) == [1, 2] and asked[3:] == [3]
        record = lanes.stack.site.record(is_ok(answer).request_id)
        assert record["group_name"] == names[2]
    else:
        assert answer.status == 503 and set(asked) == {0} and len(asked) <= 4


def test_fr100_the_last_error_ends_it(lanes: Lanes, groups) -> None:
    names = groups()
    for name in names:
        lanes.add("--groups", name)
    auto_account(lanes, "--auto-groups", ",".join(names), "--cross-group-retry")
    lanes.stack.wait_model(lanes.account, lanes.model)
    lanes.settled()
    for number in range(3):
        lanes.behave(number, "unauthorized")
    before = lanes.count()
    answer = lanes.account.chat(lanes.model)
    assert answer.status == 502 and lanes.asked(before) == [0, 1, 2]


def test_a_reload_during_failover(stack: Stack, lanes: Lanes) -> None:
    lanes.add(priority=5)
    lanes.add(priority=1)
    lanes.ready()
    lanes.behave(0, "close-silent", ms=1500)
    before = lanes.count()
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(lanes.account.stream, lanes.model) for _ in range(4)]
        stack.simulator.wait(before + 4)
        stack.gateway.reload()
        for one in running:
            whole_stream(one.result(60))
    used = [seen.key for seen in stack.simulator.requests()[before:]]
    assert sorted(set(used)) == sorted({lanes.keys[0], lanes.keys[1]})
    assert used.count(KEYS[2]) == 4
