"""Failures reported from the field, as far as they touch money."""

from __future__ import annotations

from harness.checks import is_error, is_ok
from harness.crowd import open_holds
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.stack import Account, Stack


def applied(stack: Stack, account: Account) -> None:
    quota = f"SELECT quota FROM users WHERE username = '{account.name}'"
    wanted = [[str(account.credited)]]
    eventually("the credit is applied", lambda: stack.site.main_sql(quota) == wanted, 30)


def test_fr33_a_deposit_does_not_drift(stack: Stack) -> None:
    """Five calls that cost a thousandth of what each must deposit: none is refused."""
    account = stack.account("0.004")  # 2,000 quota; a deposit is 825, a bill 33
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    for number in range(1, 6):
        is_ok(account.chat(max_tokens=10))
        account.wait_spent(number * 33)
        assert open_holds(stack) == 0
    rows = f"SELECT used_quota FROM users WHERE username = '{account.name}'"
    assert stack.site.main_sql(rows) == [["165"]]


def test_fr35_one_call_cannot_drive_an_account_below_zero(stack: Stack) -> None:
    account = stack.account("0.000002")  # one quota
    applied(stack, account)
    before = len(stack.simulator.requests())
    answer = account.chat(max_tokens=2000)
    is_error(answer, 429, "insufficient_quota", "insufficient_quota")
    assert len(stack.simulator.requests()) == before
    assert account.balance == 1


def test_fr20_fr21_a_refund_is_made_once(stack: Stack, account: Account) -> None:
    """A failed call gives its deposit back once, however often that is told."""
    stack.simulator.behave("m-ref", "fail")
    assert account.chat().status >= 500
    stack.site.wait_clean()
    rows = f"SELECT kind, amount_quota FROM ledger_entry WHERE token_id = {account.token_id}"
    eventually("the refund is in the books", lambda: stack.site.main_sql(rows) != [])
    assert stack.site.main_sql(rows) == [["refund", "0"]]
    # All that the workers wrote down, three times more, as the file of one that died.
    folder = stack.directory / "spool"
    lines = b"".join(file.read_bytes() for file in folder.glob("node1.*.spool"))
    assert str(account.token_id).encode() in lines
    again = folder / "node1.1000.1.spool"
    (folder / "again").write_bytes(lines * 3)
    (folder / "again").rename(again)
    eventually("the lines are known", lambda: not again.exists(), 30)
    assert account.balance == account.credited
    assert stack.site.main_sql(rows) == [["refund", "0"]]
    stack.site.wait_clean()


def test_fr30_two_charges_without_a_key(stack: Stack, account: Account) -> None:
    """With an Idempotency-Key one (test_idempotency.py); without, two calls are two."""
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    is_ok(account.chat())
    is_ok(account.chat())
    account.wait_spent(2 * bill({"prompt_tokens": 7, "completion_tokens": 3}, M_REF))
