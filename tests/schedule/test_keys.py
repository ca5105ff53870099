"""Keys of a channel: a key's failure is the key's, and the caller does not notice."""

from __future__ import annotations

import concurrent.futures
import itertools
import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from harness.answer import Answer
from harness.checks import is_ok, whole_stream
from harness.money import M_REF
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Account, Stack

names = itertools.count(1)

# A channel without any usable key is disabled, and a breaker may open.
pytestmark = pytest.mark.complains(
    r"breaker: channel \d+ .* rests after failures",
    r"effects: channel \d+ is (disabled|enabled)",
    r"is left to the replay",  # on a machine that has much else to do
)


@dataclass
class Ring:
    """A model of one channel with several keys, and if wanted a second channel behind it."""

    stack: Stack
    account: Account
    model: str
    channel: int
    keys: list[str]
    spare: str | None = None
    ids: list[int] = field(default_factory=list)

    def behave(self, number: int, scenario: str, **params: int) -> None:
        key = self.spare if number < 0 else self.keys[number]
        self.stack.simulator.behave(f"{key}/{self.model}", scenario, **params)

    def asked(self) -> list[str]:
        return [seen.key for seen in self.stack.simulator.requests()]

    def rows(self) -> list[dict[str, Any]]:
        return self.stack.site.ctl("key", "list", str(self.channel))["rows"]

    def wait_state(self, number: int, state: str) -> dict[str, Any]:
        def there() -> bool:
            return self.rows()[number]["state"] == state

        eventually(f"key {number} is {state}", there, 15)
        return self.rows()[number]

    def chat(self, **more: Any) -> Answer:
        return self.account.chat(self.model, **more)

    def key_ctl(self, command: str, number: int, *options: str) -> None:
        self.stack.site.ctl("key", command, str(self.channel), str(self.ids[number]), *options)

    def settle(self) -> None:
        """Every worker uses what was changed last: the snapshot's version is in its log."""
        version = self.stack.site.main_sql("SELECT version FROM routing_version")[0][0]
        workers = int(self.stack.site.settings["pool.workers"])

        def seen() -> bool:
            text = self.stack.gateway.process.log_text()
            return text.count(f"snapshot {version}:") >= workers

        eventually("all workers have the change", seen, 15)


@pytest.fixture
def make(stack: Stack, account: Account) -> Any:
    def made(count: int, *options: str, mode: str = "", spare: bool = False) -> Ring:
        model = stack.new_model(M_REF)
        if spare:
            stack.channel(f"spare-{next(names)}", [model], "--priority", "0", key=KEYS[8])
        channel = stack.channel(
            f"ring-{next(names)}", [model], "--priority", "5", key=KEYS[0]
        )
        ring = Ring(stack, account, model, channel, KEYS[:count], KEYS[8] if spare else None)
        first = str(ring.rows()[0]["id"])
        if options:
            stack.site.ctl("key", "cap", str(channel), first, *options)
        if count > 1:
            lines = "".join(key + "\n" for key in KEYS[1:count])
            argv = ["key", "add", str(channel), "--key-stdin", *options]
            assert stack.site.ctl(*argv, stdin=lines)["added"] == count - 1
        if mode:
            stack.site.ctl("key", "mode", str(channel), mode)
        ring.ids = [int(row["id"]) for row in ring.rows()]
        ring.settle()
        stack.simulator.reset()
        return ring

    return made


# --- a key fails, the next one serves ---------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_fr101_a_rate_limited_key_rests_and_the_next_one_serves(
    stack: Stack, make: Any, stream: bool
) -> None:
    ring = make(3)
    ring.behave(0, "rate-limit", k=600)
    answer = is_ok(ring.chat(stream=stream))
    if stream:
        whole_stream(answer)
    assert ring.asked() == [KEYS[0], KEYS[1]]
    record = stack.site.record(answer.request_id)
    assert int(record["attempts"]) == 2 and int(record["channel_id"]) == ring.channel
    assert record["key_hint"] == KEYS[1][-4:]
    row = ring.wait_state(0, "resting")
    assert row["state_reason"] == "rate_limited"
    for _ in range(4):  # of all workers
        is_ok(ring.chat())
    assert KEYS[0] not in ring.asked()[1:]
    ring.account.wait_spent(stack.charged_by_simulator())


def test_fr101_after_its_rest_a_key_is_used_again(stack: Stack, make: Any) -> None:
    ring = make(2)
    ring.behave(0, "rate-limit", k=1)
    is_ok(ring.chat())
    ring.behave(0, "ok")

    def used_again() -> bool:
        is_ok(ring.chat())
        return ring.asked()[-1] == KEYS[0]

    eventually("the rest is over", used_again, 15)
    ring.wait_state(0, "active")


def test_a_bad_key_is_suspended_until_an_operator_acts(stack: Stack, make: Any) -> None:
    ring = make(2)
    ring.behave(0, "unauthorized")
    is_ok(ring.chat())
    assert ring.asked() == [KEYS[0], KEYS[1]]
    ring.wait_state(0, "suspended")
    ring.behave(0, "ok")
    for _ in range(6):
        is_ok(ring.chat())
    assert ring.asked()[2:] == [KEYS[1]] * 6
    actions = stack.site.main_sql("SELECT action FROM audit_log ORDER BY id DESC LIMIT 1")
    assert actions == [["channel.key_suspend"]]
    ring.key_ctl("enable", 0)
    ring.settle()
    is_ok(ring.chat())
    assert ring.asked()[-1] == KEYS[0]


def test_a_key_without_money_is_exhausted_until_its_reset(stack: Stack, make: Any) -> None:
    ring = make(2)
    ring.behave(0, "payment")
    is_ok(ring.chat())
    row = ring.wait_state(0, "exhausted")
    assert row["state_reason"] == "no_money" and row["state_until_at"] is not None
    until = stack.site.main_sql(
        "SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), state_until_at) FROM channel_keys "
        f"WHERE id = {ring.ids[0]}"
    )
    assert 0 < int(until[0][0]) <= 3600
    ring.behave(0, "ok")
    is_ok(ring.chat())
    assert ring.asked() == [KEYS[0], KEYS[1], KEYS[1]]


def test_an_exhausted_key_is_looked_at_by_one_request_when_its_time_is_over(
    stack: Stack, make: Any
) -> None:
    ring = make(2)
    stack.site.main_sql(
        "UPDATE channel_keys SET state = 'exhausted', state_event = state_event + 1, "
        f"state_until_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE id = {ring.ids[0]}; "
        "UPDATE routing_version SET version = version + 1"
    )
    stack.site.ctl("key", "mode", str(ring.channel), "order")
    ring.settle()
    ring.behave(0, "slow-headers", ms=1500)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for answer in pool.map(lambda _: ring.chat(), range(8)):
            is_ok(answer)
    assert ring.asked().count(KEYS[0]) == 1
    ring.wait_state(0, "active")
    ring.behave(0, "ok")

    def used_again() -> bool:
        is_ok(ring.chat())
        return ring.asked()[-1] == KEYS[0]

    eventually("the key is used again", used_again, 15)


def test_all_keys_dead_the_next_tier_serves(stack: Stack, make: Any) -> None:
    ring = make(3, spare=True)
    for number, scenario in enumerate(["unauthorized", "rate-limit", "payment"]):
        ring.behave(number, scenario)
    answer = is_ok(ring.chat())
    assert ring.asked() == [*KEYS[:3], KEYS[8]]
    assert int(stack.site.record(answer.request_id)["attempts"]) == 4
    is_ok(ring.chat())
    assert ring.asked()[4:] == [KEYS[8]]  # the channel is out: not one of its keys is asked


def test_at_most_three_keys_of_a_channel_are_tried(stack: Stack, make: Any) -> None:
    ring = make(5, spare=True)
    for number in range(5):
        ring.behave(number, "unauthorized")
    is_ok(ring.chat())
    assert ring.asked() == [*KEYS[:3], KEYS[8]]


def test_nothing_is_left_says_when_there_will_be(stack: Stack, make: Any) -> None:
    ring = make(2)
    for number in range(2):
        ring.behave(number, "rate-limit", k=600 + 600 * number)
    assert ring.chat().status == 429
    answer = ring.chat()
    assert answer.status == 429 and answer.json["error"]["code"] == "channels_exhausted"
    assert int(answer.header("retry-after")) == 300  # clients obey without a limit of their own
    assert len(ring.asked()) == 2


def test_only_suspended_keys_are_no_reason_to_wait(stack: Stack, make: Any) -> None:
    ring = make(1)
    ring.behave(0, "unauthorized")
    assert ring.chat().status == 502  # our account, never the client's token
    assert ring.chat().status in (404, 503)  # 404: the channel is disabled, nobody has the model


@pytest.mark.parametrize("scenario", ["forbidden", "bad-request", "not-found", "overloaded"])
def test_what_is_not_the_key_s_fault_leaves_it_alone(
    stack: Stack, make: Any, scenario: str
) -> None:
    ring = make(2, spare=True)
    ring.behave(0, scenario)
    ring.chat()
    assert KEYS[1] not in ring.asked()
    time_to_store = stack.site.record(ring.chat().request_id)  # behind it in the queue
    assert time_to_store
    assert [row["state"] for row in ring.rows()] == ["active", "active"]


# --- modes ------------------------------------------------------------------------------------


def test_polling_takes_all_keys_in_turn_across_workers(stack: Stack, make: Any) -> None:
    ring = make(3, mode="polling")
    for _ in range(9):
        is_ok(ring.chat())
    assert ring.asked() == [KEYS[0], KEYS[1], KEYS[2]] * 3


def test_random_takes_all_of_them(stack: Stack, make: Any) -> None:
    ring = make(3, mode="random")
    for _ in range(40):
        is_ok(ring.chat())
    assert set(ring.asked()) == set(KEYS[:3])


# --- caps -------------------------------------------------------------------------------------


def test_a_cap_is_used_up_exactly_and_then_what_has_none(stack: Stack, make: Any) -> None:
    ring = make(2)
    ring.key_ctl("cap", 1, "--requests", "3")
    ring.settle()
    for _ in range(5):
        is_ok(ring.chat())
    assert ring.asked() == [KEYS[1]] * 3 + [KEYS[0]] * 2
    eventually("the use is stored", lambda: ring.rows()[1]["used"] == 3, 15)


def test_parallel_requests_cannot_take_the_last_one(stack: Stack, make: Any) -> None:
    ring = make(3, "--requests", "4")
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: ring.chat(), range(20)))
    assert sorted(answer.status for answer in answers) == [200] * 12 + [429] * 8
    assert sorted(ring.asked()) == sorted(KEYS[:3] * 4)
    refused = next(answer for answer in answers if answer.status == 429)
    assert 0 < int(refused.header("retry-after")) <= 86400


def test_what_the_upstream_refused_gives_its_room_back(stack: Stack, make: Any) -> None:
    ring = make(1, "--requests", "2")
    ring.behave(0, "rate-limit", k=1)
    assert ring.chat().status == 429
    ring.behave(0, "ok")

    def served() -> bool:
        return ring.chat().status == 200

    eventually("the rest is over", served, 15)
    is_ok(ring.chat())
    assert ring.chat().status == 429
    assert ring.asked().count(KEYS[0]) == 3


def test_a_cap_in_tokens_counts_what_was_used(stack: Stack, make: Any) -> None:
    ring = make(1, "--tokens", "1000")
    for _ in range(3):  # the room of the one before comes back a moment after its answer
        eventually("there is room", lambda: ring.chat(max_tokens=900).status == 200, 15)
    eventually("tokens are counted", lambda: 0 < ring.rows()[0]["used"] < 100, 15)
    assert ring.chat(max_tokens=1000).status == 429  # there is no room for so many


def test_room_survives_redis_that_forgets(stack: Stack, make: Any) -> None:
    ring = make(1, "--requests", "3")
    for _ in range(2):
        is_ok(ring.chat())
    eventually("the use is stored", lambda: ring.rows()[0]["used"] == 2, 15)
    stack.redis.command("DEL", f"tg:{{c{ring.channel}}}:caps", f"tg:{{c{ring.channel}}}:flight")
    statuses = [ring.chat().status for _ in range(4)]
    assert statuses == [200, 429, 429, 429]


def test_a_killed_worker_takes_no_room_with_it(stack: Stack, make: Any) -> None:
    ring = make(1, "--requests", "5")
    flight = f"tg:{{c{ring.channel}}}:flight"
    stack.redis.command("HSET", f"tg:{{c{ring.channel}}}:caps", str(ring.ids[0]), "1 0 5")
    stack.redis.command("ZADD", flight, "1", f"{ring.ids[0]}:5:of-a-dead-worker")
    assert is_ok(ring.chat())
    assert stack.redis.command("ZSCORE", flight, f"{ring.ids[0]}:5:of-a-dead-worker") == b"$-1\r\n"


# --- many keys --------------------------------------------------------------------------------


def test_five_hundred_keys_at_once(stack: Stack, make: Any) -> None:
    ring = make(1)
    lines = "".join(f"sk-many-{number:04d}-0123456789abcdef\n" for number in range(500))
    argv = ["key", "add", str(ring.channel), "--key-stdin", "--requests", "10"]
    assert stack.site.ctl(*argv, stdin=lines)["added"] == 500
    rows = ring.rows()
    assert len(rows) == 501 and rows[-1]["cap_value"] == 10
    dump = stack.mariadb.dump("tg_main")
    assert "sk-many-" not in dump
    bad = stack.site.run_ctl(*argv, stdin="sk-good-0123456789abcdef\nsk-b\x01d\n")
    assert bad.returncode == 2
    assert len(ring.rows()) == 501  # all or none
    for row in rows[1:4]:
        stack.site.ctl("key", "remove", str(ring.channel), str(row["id"]))
    assert len(ring.rows()) == 498
    stack.site.ctl("channel", "disable", str(ring.channel))


def test_a_field_of_the_command_that_is_wrong(stack: Stack, make: Any) -> None:
    ring = make(1)
    key = str(ring.ids[0])
    wrong = [
        ["cap", str(ring.channel), key, "--requests", "0"],
        ["cap", str(ring.channel), key, "--requests", "5", "--zone", "Mars/Olympus"],
        ["cap", str(ring.channel), key, "--requests", "5", "--reset-hour", "24"],
        ["cap", str(ring.channel), key, "--requests", "5", "--tokens", "5"],
        ["mode", str(ring.channel), "backwards"],
    ]
    for argv in wrong:
        assert stack.site.run_ctl("key", *argv).returncode == 2, argv
    other = stack.channel(f"other-{time.monotonic_ns()}", [ring.model])
    assert stack.site.run_ctl("key", "disable", str(other), key).returncode == 1


@pytest.mark.complains("database", "mysql", "keys", "snapshot", "ledger", "worker", "relay",
                       "reserve", "settle", "channel", "shard", "effects", "conf")  # fmt: skip
def test_what_is_found_out_while_mysql_is_away_is_stored_when_it_is_back(
    stack: Stack, make: Any
) -> None:
    ring = make(4)
    is_ok(ring.chat())
    ring.account.wait_spent(stack.charged_by_simulator())
    stack.mariadb.stop()
    try:
        ring.behave(0, "unauthorized")
        ring.behave(1, "payment")
        ring.behave(2, "rate-limit", k=900)
        for _ in range(4):
            is_ok(ring.chat())
        asked = ring.asked()
        assert asked[-1] == KEYS[3] and asked.count(KEYS[0]) == 2, asked
    finally:
        stack.mariadb.start()
    ring.wait_state(0, "suspended")
    ring.wait_state(1, "exhausted")
    ring.wait_state(2, "resting")
    actions = stack.site.main_sql("SELECT action FROM audit_log ORDER BY id DESC LIMIT 9")
    assert actions.count(["channel.key_suspend"]) >= 1
    before = len(ring.asked())
    is_ok(ring.chat())
    assert ring.asked()[before:] == [KEYS[3]]


def test_a_group_that_spends_free_first_uses_capped_keys_before_others(stack: Stack) -> None:
    """Across channels of one priority; in the usual order weights decide."""
    group = f"free-{next(names)}"
    stack.site.ctl("group", "set", group, "--ratio", "1", "--order", "spend_free_first")
    model = stack.new_model(M_REF)
    stack.channel(f"paid-{group}", [model], "--groups", group, "--weight", "1000", key=KEYS[6])
    free = stack.channel(f"gift-{group}", [model], "--groups", group, key=KEYS[7])
    (key,) = stack.site.ctl("key", "list", str(free))["rows"]
    stack.site.ctl("key", "cap", str(free), str(key["id"]), "--requests", "3")
    account = stack.account(group=group)
    stack.wait_model(account, model)
    stack.simulator.reset()
    for _ in range(5):
        is_ok(account.chat(model))
    asked = [seen.key for seen in stack.simulator.requests()]
    assert asked == [KEYS[7]] * 3 + [KEYS[6]] * 2
    shown = stack.site.ctl("group", "set", group, "--order", "priority")
    assert shown["order_mode"] == ""
    refused = stack.site.run_ctl("group", "set", group, "--order", "cheapest")
    assert refused.returncode == 2 and "spend_free_first" in refused.stderr
    refused = stack.site.run_ctl("group", "set", "auto", "--ratio", "1")
    assert refused.returncode == 2 and "a token's word" in refused.stderr
