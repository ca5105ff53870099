"""The attempt loop: the next channel after a failure, none after content, what is recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from harness.checks import is_ok, whole_stream
from harness.money import M_REF
from harness.simclient import KEYS
from harness.stack import Account, Stack, chat_body


@dataclass
class Pair:
    """A model of two channels: the first is preferred, the second is the way out."""

    model: str
    first: int
    second: int
    first_key: str
    second_key: str

    def behave(self, stack: Stack, scenario: str, **params: int) -> None:
        stack.simulator.behave(f"{self.first_key}/{self.model}", scenario, **params)


@pytest.fixture
def pair(stack: Stack, account: Account) -> Pair:
    model = stack.new_model(M_REF)
    second = stack.channel(f"second-{model}", [model], "--priority", "1", key=KEYS[2])
    first = stack.channel(f"first-{model}", [model], "--priority", "5", key=KEYS[1])
    stack.wait_model(account, model)
    made = Pair(model, first, second, KEYS[1], KEYS[2])
    # The snapshot of every worker holds both channels once the preferred one is always asked first.
    used: list[str] = []
    for _ in range(40):
        is_ok(account.chat(model))
        used = [seen.key for seen in stack.simulator.requests()]
        if used[-8:] == [KEYS[1]] * 8:
            break
    assert used[-8:] == [KEYS[1]] * 8, "the higher priority is preferred"
    account.wait_spent(stack.charged_by_simulator())
    return made


FAILURES = ["fail", "overloaded", "rate-limit", "unauthorized", "payment", "forbidden", "not-found",
            "error-first", "bad-gateway-html", "close-before", "reset-before"]  # fmt: skip


@pytest.mark.parametrize("scenario", FAILURES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_second_channel_serves(
    stack: Stack, account: Account, pair: Pair, scenario: str, stream: bool
) -> None:
    pair.behave(stack, scenario)
    before = len(stack.simulator.requests())
    answer = is_ok(account.chat(pair.model, stream=stream))
    if stream:
        whole_stream(answer)
    tried = stack.simulator.requests()[before:]
    keys = [seen.key for seen in tried]
    if scenario in ("close-before", "reset-before"):
        # A kept connection that dies unanswered is opened anew once before the attempt has failed.
        keys = list(dict.fromkeys(keys))
    assert keys == [pair.first_key, pair.second_key]
    if not stream:
        assert tried[0].body == tried[-1].body
    record = stack.site.record(answer.request_id)
    assert int(record["channel_id"]) == pair.second
    assert int(record["attempts"]) == 2
    assert record["status"] == 200
    account.wait_spent(stack.charged_by_simulator())


@pytest.mark.books_differ("the provider charges for the empty answer, the user does not pay it")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_an_empty_answer_goes_to_the_second_channel(
    stack: Stack, account: Account, pair: Pair, stream: bool
) -> None:
    start = account.spent
    pair.behave(stack, "empty", p=1000, c=0)
    before = len(stack.simulator.requests())
    answer = is_ok(account.chat(pair.model, stream=stream))
    assert answer.text == "Hello from the simulator: every word counts."
    keys = [seen.key for seen in stack.simulator.requests()[before:]]
    assert keys == [pair.first_key, pair.second_key]
    account.wait_spent(start + 54)  # 1 x 1.5 + 7 x 7.5, the second's alone


@pytest.mark.parametrize("scenario", ["bad-request", "unprocessable", "content-filter"])
def test_the_clients_own_fault_stays_with_the_first(
    stack: Stack, account: Account, pair: Pair, scenario: str
) -> None:
    pair.behave(stack, scenario)
    before = len(stack.simulator.requests())
    assert account.chat(pair.model).status in (400, 422)
    assert [seen.key for seen in stack.simulator.requests()[before:]] == [pair.first_key]


@pytest.mark.books_differ("counted locally")
@pytest.mark.parametrize("scenario", ["reset-mid", "cut-mid", "error-mid"])
def test_never_after_content(stack: Stack, account: Account, pair: Pair, scenario: str) -> None:
    pair.behave(stack, scenario)
    before = len(stack.simulator.requests())
    answer = account.stream(pair.model)
    assert answer.status == 200 and not answer.done
    assert len(stack.simulator.requests()) == before + 1


def test_a_keep_alive_does_not_bind(stack: Stack, account: Account, pair: Pair) -> None:
    """Headers and a ping have gone out, content has not: the second channel may still serve."""
    stack.simulator.behave(f"{pair.first_key}/{pair.model}", "close-silent", ms=4500)
    before = len(stack.simulator.requests())
    answer = whole_stream(account.stream(pair.model))
    assert answer.body.startswith(b":")
    keys = [seen.key for seen in stack.simulator.requests()[before:]]
    assert keys == [pair.first_key, pair.second_key]


def test_all_channels_fail(stack: Stack, account: Account, pair: Pair) -> None:
    stack.simulator.behave(pair.model, "fail")
    before = len(stack.simulator.requests())
    answer = account.chat(pair.model)
    assert answer.status == 500 and answer.error["type"]
    assert answer.header("x-should-retry") == "false"
    tried = [seen.key for seen in stack.simulator.requests()[before:]]
    assert tried[:2] == [pair.first_key, pair.second_key] and len(tried) <= 4
    record = stack.site.record(answer.request_id)
    assert record["quota"] == 0


@pytest.mark.books_differ("the administrator pays a part")
def test_an_administrators_pin_chooses_the_channel(
    stack: Stack, account: Account, pair: Pair
) -> None:
    """One attempt, whatever the priorities say; nobody else may."""
    stack.site.ctl("credit", "admin", "1")
    token = stack.site.ctl("token", "create", "--user", "admin")["token"]
    headers = [("Authorization", f"Bearer {token}-{pair.second}"),
               ("Content-Type", "application/json")]  # fmt: skip
    before = len(stack.simulator.requests())
    for _ in range(6):
        is_ok(account.post(chat_body(pair.model), headers))
    keys = {seen.key for seen in stack.simulator.requests()[before:]}
    assert keys == {pair.second_key}
    stack.simulator.behave(f"{pair.second_key}/{pair.model}", "fail")
    before = len(stack.simulator.requests())
    assert account.post(chat_body(pair.model), headers).status == 500
    assert len(stack.simulator.requests()) == before + 1


def test_a_disabled_channel_is_left_out(stack: Stack, account: Account, pair: Pair) -> None:
    stack.site.ctl("channel", "disable", str(pair.first))
    listed = {row["id"]: row for row in rows(stack.site.ctl("channel", "list"))}
    assert listed[pair.first]["status"] == "disabled"
    used: list[str] = []
    for _ in range(60):
        before = len(stack.simulator.requests())
        is_ok(account.chat(pair.model))
        used += [seen.key for seen in stack.simulator.requests()[before:]]
        if used[-8:] == [pair.second_key] * 8:
            return
    raise AssertionError(f"the disabled channel is still asked: {used[-8:]}")


def rows(value) -> list[dict]:
    return (
        value if isinstance(value, list) else next(v for v in value.values() if isinstance(v, list))
    )


def test_attempts_are_recorded(stack: Stack, account: Account, pair: Pair) -> None:
    pair.behave(stack, "fail")
    answer = is_ok(account.chat(pair.model))
    stack.site.record(answer.request_id)
    detail = stack.site.log_sql(
        "SELECT d.attempts_json FROM request_detail d JOIN request_log l USING (request_id)"
        f" WHERE l.token_id = {account.token_id} ORDER BY l.created_at DESC LIMIT 1"
    )
    attempts = json.loads(detail[0][0])
    assert len(attempts) == 2
    text = json.dumps(attempts)
    assert "500" in text and "retry" in text
    assert pair.first_key not in text, "keys are named by their last four characters"


def test_weights_share_a_tier(stack: Stack, account: Account) -> None:
    model = stack.new_model(M_REF)
    stack.channel(f"heavy-{model}", [model], "--weight", "9", key=KEYS[3])
    stack.channel(f"light-{model}", [model], "--weight", "1", key=KEYS[4])
    stack.wait_model(account, model)
    for _ in range(120):
        is_ok(account.chat(model))
    keys = [seen.key for seen in stack.simulator.requests()[20:]]
    # 100 draws of 9 : 1; fewer than 60 would happen once in 10^13.
    assert keys.count(KEYS[3]) > 60
