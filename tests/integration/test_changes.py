"""user set, token set, audit-log: changes of users and tokens hold for the very next request."""

from __future__ import annotations

import json

import pytest
from harness.checks import is_error, is_ok
from harness.stack import Account, Stack


def document(stack: Stack, *argv: str) -> dict:
    return json.loads(stack.site.run_ctl(*argv).stdout)


def test_a_token_whose_models_changed_refuses_the_very_next_request(
    stack: Stack, account: Account
) -> None:
    token = str(account.token_id)
    is_ok(account.chat())
    stack.site.ctl("token", "set", token, "--models", "other")
    assert account.chat().status == 403
    stack.site.ctl("token", "set", token, "--models", "none")
    assert account.chat().status == 403
    stack.site.ctl("token", "set", token, "--models", "all")
    is_ok(account.chat())


def test_an_address_list_holds_for_the_very_next_request(stack: Stack, account: Account) -> None:
    token = str(account.token_id)
    is_ok(account.chat())
    stack.site.ctl("token", "set", token, "--allow", "192.0.2.1")
    assert account.chat().status == 403
    stack.site.ctl("token", "set", token, "--allow", "all")
    is_ok(account.chat())


def test_a_disabled_token_and_an_expired_one(stack: Stack, account: Account) -> None:
    token = str(account.token_id)
    is_ok(account.chat())
    stack.site.ctl("token", "set", token, "--status", "disabled")
    assert account.chat().status == 401
    past = "2020-01-01T00:00:00Z"
    stack.site.ctl("token", "set", token, "--status", "enabled", "--expires", past)
    is_error(account.chat(), 401, "invalid_request_error", "token_expired")
    stack.site.ctl("token", "set", token, "--expires", "never")
    is_ok(account.chat())
    stack.site.ctl("token", "set", token, "--status", "revoked")
    assert account.chat().status == 401
    done = stack.site.run_ctl("token", "set", token, "--status", "enabled")
    assert done.returncode == 1 and "revoked" in done.stderr


def test_a_limit_is_what_is_left_to_spend(stack: Stack, account: Account) -> None:
    token = str(account.token_id)
    is_ok(account.chat())
    stack.site.ctl("token", "set", token, "--limit", "0")
    answer = account.chat()
    assert answer.status in (401, 402, 403, 429), answer.status
    stack.site.ctl("token", "set", token, "--limit", "5")
    is_ok(account.chat())
    stack.site.ctl("token", "set", token, "--unlimited")
    is_ok(account.chat())


def test_a_group_that_does_not_serve_the_model(stack: Stack, account: Account) -> None:
    stack.site.ctl("group", "set", "empty", "--ratio", "1")
    is_ok(account.chat())
    stack.site.ctl("user", "set", account.name, "--group", "empty")
    assert account.chat().status in (403, 404, 503)
    stack.site.ctl("user", "set", account.name, "--group", "default")
    is_ok(account.chat())


def test_a_user_who_was_disabled(stack: Stack, account: Account) -> None:
    is_ok(account.chat())
    stack.site.ctl("user", "set", account.name, "--status", "disabled")
    assert account.chat().status == 403
    stack.site.ctl("user", "set", account.name, "--status", "enabled", "--team", "blue")
    is_ok(account.chat())
    assert account.show()["team"] == "blue"


@pytest.mark.parametrize(
    "options, code",
    [([], 2), (["--role", "king"], 2), (["--status", "asleep"], 2), (["--group", "nowhere"], 1)],
    ids=["nothing", "role", "status", "group"],
)  # fmt: skip
def test_bad_changes_change_nothing(
    stack: Stack, account: Account, options: list[str], code: int
) -> None:
    before = account.show()["authver"]
    done = stack.site.run_ctl("user", "set", account.name, *options)
    assert done.returncode == code, (done.returncode, done.stderr)
    assert account.show()["authver"] == before


def test_the_audit_log_tells_who_changed_what(stack: Stack, account: Account) -> None:
    stack.site.ctl("user", "set", account.name, "--team", "green")
    user = str(account.show()["id"])
    page = document(stack, "audit-log", "list", "--type", "user", "--object", user, "--limit", "1")
    (row,) = page["rows"]
    assert row["action"] == "user.change"
    assert row["after_json"] == {"team": "green"}
    assert page["next"]
    argv = ["audit-log", "list", "--type", "user", "--object", user, "--after", page["next"]]
    older = document(stack, *argv)
    assert [one["id"] for one in older["rows"]] < [row["id"]]
    done = stack.site.run_ctl("audit-log", "list", "--limit", "3", as_json=False)
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["id", "at", "actor"]
    assert len(lines) == 4


def test_a_changed_row_of_the_audit_log_is_found(stack: Stack, account: Account) -> None:
    assert document(stack, "audit-log", "verify") == {"whole": True}
    page = document(stack, "audit-log", "list", "--limit", "1")
    row = page["rows"][0]["id"]
    stack.site.main_sql(f"UPDATE audit_log SET address = 'forged' WHERE id = {row}")
    try:
        done = stack.site.run_ctl("audit-log", "verify")
        assert done.returncode == 1
        assert json.loads(done.stdout) == {"whole": False, "first_broken_id": row}
    finally:
        stack.site.main_sql(f"UPDATE audit_log SET address = '' WHERE id = {row}")
    assert document(stack, "audit-log", "verify") == {"whole": True}
