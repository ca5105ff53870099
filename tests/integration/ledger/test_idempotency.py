"""Idempotency-Key: one request, however often it is sent; never billed twice (FR30)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.checks import is_error, is_ok
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.stack import Account, Stack, chat_body

EACH = bill({"prompt_tokens": 7, "completion_tokens": 3}, M_REF)  # 33


def send(account: Account, key: str, text: str = "hi", **more):
    headers = [*account.auth(), ("Idempotency-Key", key)]
    return account.post(chat_body(text=text, **more), headers)


def entries(stack: Stack, account: Account) -> int:
    rows = stack.site.main_sql(
        f"SELECT COUNT(*) FROM ledger_entry WHERE token_id = {account.token_id}"
        " AND amount_quota > 0"
    )
    return int(rows[0][0])


@pytest.fixture(autouse=True)
def usage(stack: Stack) -> None:
    stack.simulator.behave("m-ref", "ok", p=7, c=3)


def test_the_answer_is_given_again(stack: Stack, account: Account) -> None:
    first = is_ok(send(account, "7f0d-1"))
    again = is_ok(send(account, "7f0d-1"))
    assert again.body == first.body
    assert again.header("idempotent-replayed") == "true"
    assert first.header("idempotent-replayed") is None
    assert len(stack.simulator.charges()) == 1
    account.wait_spent(EACH)
    is_ok(send(account, "7f0d-2"))
    is_ok(account.chat())
    account.wait_spent(3 * EACH)


def test_another_body_under_the_same_key(stack: Stack, account: Account) -> None:
    is_ok(send(account, "k"))
    is_error(send(account, "k", "ho"), 422, "invalid_request_error", "idempotency_mismatch")
    account.wait_spent(EACH)


def test_keys_belong_to_a_token(stack: Stack, account: Account) -> None:
    other = stack.account()
    is_ok(send(account, "shared"))
    is_ok(send(other, "shared", "something else"))
    account.wait_spent(EACH)
    other.wait_spent(EACH)


def test_while_it_runs(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "slow-tokens", ms=60, x=30)
    stream = account.open(
        chat_body(stream=True), [*account.auth(), ("Idempotency-Key", "running")]
    )
    stream.read_until(b"word1")
    refused = send(account, "running", stream=True)
    is_error(refused, 409, "invalid_request_error", "idempotency_running")
    assert int(refused.header("retry-after") or 0) >= 1
    stream.finish()
    done = send(account, "running", stream=True)
    is_error(done, 409, "invalid_request_error", "idempotency_done")
    account.wait_spent(stack.charged_by_simulator())


def test_twenty_at_once(stack: Stack, account: Account) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: send(account, "burst"), range(20)))
    assert {answer.status for answer in answers} <= {200, 409}
    assert sum(answer.status == 200 for answer in answers) >= 1
    assert len(stack.simulator.charges()) == 1
    account.wait_spent(EACH)


def test_what_failed_for_nothing_may_be_tried_again(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "fail")
    assert send(account, "again").status >= 500
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    is_ok(send(account, "again"))
    account.wait_spent(EACH)


def test_a_key_that_is_too_long(stack: Stack, account: Account) -> None:
    is_error(send(account, "x" * 256), 400, "invalid_request_error", "invalid_idempotency_key")
    is_ok(send(account, "x" * 255))


@pytest.mark.complains("worker", "sweep", "hold")
@pytest.mark.breaks_http
@pytest.mark.books_differ("an answer cut by a kill may have been charged by the provider")
def test_a_killed_worker_does_not_hold_the_key(stack: Stack, account: Account) -> None:
    """What it delivered was charged, so the key is used; what never began may begin."""
    stack.simulator.behave("m-ref", "slow-tokens", ms=100, x=100)
    headers = [*account.auth(), ("Idempotency-Key", "killed")]
    stream = account.open(chat_body(stream=True), headers)
    stream.read_until(b"word12")
    renewed = time.monotonic() + 1.5  # renewals carry what was earned
    while time.monotonic() < renewed:
        stream.read_once()
    stack.gateway.kill_all_workers()
    stream.close()
    eventually("what was earned is charged", lambda: entries(stack, account) == 1, 60)
    stack.simulator.behave("m-ref", "ok", p=7, c=3)

    def decided() -> bool:
        answer = send(account, "killed", stream=True)
        return answer.status == 409 and answer.error["code"] == "idempotency_done"

    eventually("the key is done", decided, 30)
    assert entries(stack, account) == 1
