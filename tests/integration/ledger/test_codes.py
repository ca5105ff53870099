"""Redemption codes (FR38): of many who redeem one code at the same moment, exactly one wins."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from harness.procs import eventually
from harness.stack import Account, Stack


def redeem(stack: Stack, account: Account, code: str) -> str:
    done = stack.site.run_ctl("code", "redeem", account.name, "--code-stdin", stdin=code + "\n")
    return "ok" if done.returncode == 0 else done.stdout


def make(stack: Stack, *options: str) -> str:
    (code,) = stack.site.ctl("code", "create", "0.01", *options)["codes"]
    return code


def credited(stack: Stack, accounts: list[Account]) -> int:
    names = ", ".join(f"'{account.name}'" for account in accounts)
    rows = stack.site.main_sql(
        "SELECT COALESCE(SUM(c.amount_quota), 0) FROM credits c JOIN users u ON u.id = c.user_id"
        f" WHERE c.kind = 'code' AND u.username IN ({names})"
    )
    return int(rows[0][0])


def test_fr38_forty_at_once(stack: Stack) -> None:
    accounts = [stack.account("1"), stack.account("1")]
    code = make(stack)
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda n: redeem(stack, accounts[n % 2], code), range(40)))
    assert said.count("ok") == 1
    assert all("code_used" in word for word in said if word != "ok"), said
    assert credited(stack, accounts) == 5000
    winner = 0 if said.index("ok") % 2 == 0 else 1
    accounts[winner].credited += 5000
    eventually("the money is there", lambda: sum(a.balance for a in accounts) == 1_005_000, 20)
    stack.site.wait_clean()


def test_what_is_no_code(stack: Stack, account: Account) -> None:
    assert "code_unknown" in redeem(stack, account, "tgc-00000000000000000000000000000000")
    late = make(stack, "--expires", "2020-01-01T00:00:00Z")
    assert "code_expired" in redeem(stack, account, late)
    assert credited(stack, [account]) == 0


def test_a_code_is_not_kept(stack: Stack, account: Account) -> None:
    code = make(stack)
    assert redeem(stack, account, code) == "ok"
    account.credited += 5000
    assert code not in stack.mariadb.dump("tg_main")
