"""Deposits and balances: no money, token limits, the same money never twice, bounded debt."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.checks import is_error, is_ok
from harness.money import quota
from harness.stack import Account, Stack, chat_body

# The deposit of a short request for m-ref with max_tokens=100: 500 x 1.5 + 100 x 7.5 = 1500.
DEPOSIT = 1500
DEPOSIT_USD = "0.003"


def no_money(answer) -> None:
    is_error(answer, 429, "insufficient_quota", "insufficient_quota")
    assert answer.header("x-should-retry") == "false"


def test_no_money_at_all(stack: Stack) -> None:
    account = stack.account("0")
    no_money(account.chat())
    no_money(account.stream())
    assert stack.simulator.requests() == []


@pytest.mark.parametrize(("short", "passes"), [(0, True), (1, False)])
def test_the_deposit_to_the_quota(stack: Stack, short: int, passes: bool) -> None:
    account = stack.account("0")
    assert quota(DEPOSIT_USD) == DEPOSIT
    account.credit(DEPOSIT_USD)
    if short:
        account.credit("-0.000002")
    answer = account.chat(max_tokens=100)
    if passes:
        is_ok(answer)
    else:
        no_money(answer)


def test_new_money_holds_for_the_very_next_request(stack: Stack) -> None:
    account = stack.account("0")
    no_money(account.chat())
    account.credit("1")
    is_ok(account.chat())
    spent = stack.charged_by_simulator()
    account.wait_spent(spent)
    account.credit("-1")
    no_money(account.chat())


def test_a_free_model_needs_no_money(stack: Stack) -> None:
    is_ok(stack.account("0").chat("m-free"))


def test_the_deposit_comes_back(stack: Stack) -> None:
    """Money for one request at a time: every one of a sequence is admitted."""
    account = stack.account("0")
    account.credit("0.0032")
    stack.simulator.behave("m-ref", "ok", p=1, c=0)
    for _ in range(25):
        is_ok(account.chat(max_tokens=100))
    account.wait_spent(25 * 2)


def test_a_refused_request_gives_its_deposit_back(stack: Stack) -> None:
    account = stack.account("0")
    account.credit("0.0031")
    stack.simulator.behave("m-ref", "bad-request")
    for _ in range(3):
        assert account.chat(max_tokens=100).status == 400
    stack.simulator.behave("m-ref", "ok")
    is_ok(account.chat(max_tokens=100))


def test_a_larger_bill_than_the_deposit_is_debt_once(stack: Stack) -> None:
    account = stack.account("0")
    account.credit(DEPOSIT_USD)
    stack.simulator.behave("m-ref", "ok", p=10_000, c=1000)
    is_ok(account.chat(max_tokens=100))
    account.wait_spent(22_500)
    assert account.balance < 0
    no_money(account.chat(max_tokens=100))


def test_a_used_up_token_is_401(stack: Stack, account: Account) -> None:
    made = account.new_token("--limit", DEPOSIT_USD)
    headers = [("Authorization", f"Bearer {made['token']}"), ("Content-Type", "application/json")]
    body = chat_body(max_tokens=100)
    stack.simulator.behave("m-ref", "ok", p=1000, c=100)
    is_ok(account.post(body, headers))
    account.wait_spent(2250)
    answer = account.post(body, headers)
    is_error(answer, 401, "invalid_request_error", "token_exhausted")
    is_ok(account.post(body))


def test_a_token_short_of_the_deposit_is_429(stack: Stack, account: Account) -> None:
    made = account.new_token("--limit", "0.002")
    headers = [("Authorization", f"Bearer {made['token']}"), ("Content-Type", "application/json")]
    answer = account.post(chat_body(max_tokens=100), headers)
    no_money(answer)
    assert "token" in answer.error["message"].lower()


def test_parallel_requests_never_pass_on_the_same_money(stack: Stack) -> None:
    """A balance for 5 deposits, 30 requests at once, all of them still running: 5 are served."""
    account = stack.account("0")
    account.credit("0.015")
    stack.simulator.behave("m-ref", "slow-headers", ms=1500, p=1000, c=100)
    with ThreadPoolExecutor(30) as threads:
        answers = list(threads.map(lambda _: account.chat(max_tokens=100), range(30)))
    served = [answer for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status != 200]
    assert len(served) == 5, [answer.status for answer in answers]
    for answer in refused:
        no_money(answer)
    account.wait_spent(5 * 2250)


def test_parallel_requests_on_one_token(stack: Stack, account: Account) -> None:
    made = account.new_token("--limit", "0.009")
    headers = [("Authorization", f"Bearer {made['token']}"), ("Content-Type", "application/json")]
    stack.simulator.behave("m-ref", "slow-headers", ms=1500, p=1, c=1)
    body = chat_body(max_tokens=100)
    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(lambda _: account.post(body, headers), range(12)))
    assert sum(answer.status == 200 for answer in answers) == 3


def test_many_small_requests_add_up(stack: Stack) -> None:
    """Four users, 200 requests in parallel: every sum is exact."""
    accounts = [stack.account("1") for _ in range(4)]
    stack.simulator.behave("m-ref", "ok", p=7, c=3)

    def one(number: int) -> int:
        return accounts[number % 4].chat(stream=number % 3 == 0).status

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(one, range(200))) == {200}
    for account in accounts:
        account.wait_spent(50 * 33)  # 7 x 1.5 + 3 x 7.5 = 33
