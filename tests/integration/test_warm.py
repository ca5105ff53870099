"""What a worker remembers of a credential: it asks nobody, and yet every change holds at once."""

from __future__ import annotations

import re

import pytest
from harness.checks import is_error, is_ok
from harness.money import M_REF
from harness.procs import eventually
from harness.stack import Account, Stack, chat_body

ROUNDS = 8  # enough for every worker to have taken one


def warm(account: Account) -> None:
    for _ in range(ROUNDS):
        is_ok(account.chat())


def credential_key(stack: Stack, account: Account) -> str:
    rows = stack.site.main_sql(f"SELECT key_hmac FROM tokens WHERE id = {account.token_id}")
    return f"tg:{{{rows[0][0]}}}:cred"


def user_id(stack: Stack, account: Account) -> int:
    return int(
        stack.site.main_sql(f"SELECT user_id FROM tokens WHERE id = {account.token_id}")[0][0]
    )


def live_authver(stack: Stack, user: int) -> int:
    reply = stack.redis.command("HGET", f"tg:{{s{user % 64:02d}}}:user:{user}", "authver")
    return int(reply.split(b"\r\n")[1])


def change(stack: Stack, account: Account, statement: str) -> None:
    """What the console does for any change of a token or its user; returns when it is known."""
    user = user_id(stack, account)
    before = live_authver(stack, user)
    stack.redis.command("DEL", credential_key(stack, account))
    stack.site.main_sql(
        f"START TRANSACTION; {statement.format(token=account.token_id, user=user)};"
        f"UPDATE users SET authver = authver + 1 WHERE id = {user};"
        "INSERT INTO adjustments (entry_id, user_id, authver) SELECT"
        f" UNHEX(CONCAT(LPAD(HEX(FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)), 12, '0'), '7001',"
        f" LEFT(MD5(RAND()), 16))), id, authver FROM users WHERE id = {user}; COMMIT"
    )
    eventually("the live books know", lambda: live_authver(stack, user) > before)


def gets(stack: Stack) -> int:
    text = stack.redis.command("INFO", "commandstats").decode()
    found = re.search(r"cmdstat_get:calls=(\d+)", text)
    return int(found[1]) if found else 0


def test_a_warm_door_asks_nobody(stack: Stack, account: Account) -> None:
    warm(account)
    before = gets(stack)
    for _ in range(40):
        is_ok(account.chat())
    assert gets(stack) - before <= 4, "credentials are read again and again"


def test_revocation_between_two_requests(stack: Stack, account: Account) -> None:
    warm(account)
    stack.site.ctl("token", "revoke", str(account.token_id))
    for _ in range(ROUNDS):
        is_error(account.chat(), 401, "invalid_request_error", "token_revoked")


def test_a_revoked_token_gets_nothing_else_either(stack: Stack, account: Account) -> None:
    """No free answer, no error of the request's own, no list: each would be a yes."""
    warm(account)
    stack.site.ctl("token", "revoke", str(account.token_id))
    for body in (chat_body("m-free"), b"no json", chat_body("no-such-model"), chat_body(5)):
        for _ in range(ROUNDS):
            is_error(account.post(body), 401, "invalid_request_error", "token_revoked")
    listed = stack.fcgi.request("GET", "/v1/models", account.auth())
    is_error(listed, 401, "invalid_request_error", "token_revoked")


def test_a_disabled_user_gets_no_free_answer(stack: Stack, account: Account) -> None:
    warm(account)
    for _ in range(ROUNDS):
        is_ok(account.chat("m-free"))
    stack.site.ctl("user", "disable", account.name)
    for _ in range(ROUNDS):
        is_error(account.chat("m-free"), 403, "permission_error", "access_denied")
    stack.site.ctl("user", "enable", account.name)
    for _ in range(ROUNDS):
        is_ok(account.chat("m-free"))
        is_ok(account.chat())


@pytest.mark.books_differ("the second group's ratio is 3")
def test_a_moved_user_pays_the_new_group_s_price(stack: Stack) -> None:
    """Also by a request that is caught in the middle: its price is made again."""
    for group, ratio in (("near", "1"), ("far", "3")):
        stack.site.ctl("group", "set", group, "--ratio", ratio)
    model = stack.new_model(M_REF)
    stack.channel(f"both-{model}", [model], "--groups", "near,far")
    account = stack.account(group="near")
    stack.wait_model(account, model)
    stack.simulator.behave(model, "ok", p=1000, c=0)
    for _ in range(ROUNDS):
        is_ok(account.chat(model))
    account.wait_spent(ROUNDS * 1500)
    change(stack, account, "UPDATE users SET group_name = 'far' WHERE id = {user}")
    for _ in range(ROUNDS):
        is_ok(account.chat(model))
    account.wait_spent(ROUNDS * (1500 + 4500))


def test_model_limits_narrowed_and_widened(stack: Stack, account: Account) -> None:
    warm(account)
    sql = "UPDATE tokens SET model_limits = '[\"m-alt\"]' WHERE id = {token}"
    change(stack, account, sql)
    for _ in range(ROUNDS):
        is_error(account.chat(), 403, "permission_error", "model_not_allowed")
        is_ok(account.chat("m-alt"))
    change(stack, account, "UPDATE tokens SET model_limits = NULL WHERE id = {token}")
    warm(account)


def test_addresses_taken_away(stack: Stack, account: Account) -> None:
    def ask() -> object:
        return account.open(chat_body(), remote="192.0.2.1").finish()

    for _ in range(ROUNDS):
        is_ok(ask())
    sql = "UPDATE tokens SET allow_addresses = '[\"10.0.0.0/8\"]' WHERE id = {token}"
    change(stack, account, sql)
    for _ in range(ROUNDS):
        is_error(ask(), 403, "permission_error", "access_denied")


def test_what_is_refused_was_just_read(stack: Stack, account: Account) -> None:
    """A remembered credential never refuses: here nobody has told the live books."""
    warm(account)
    sql = "UPDATE tokens SET model_limits = '[\"m-alt\"]' WHERE id = {token}"
    change(stack, account, sql)
    for _ in range(ROUNDS):
        is_ok(account.chat("m-alt"))
    stack.site.main_sql(f"UPDATE tokens SET model_limits = NULL WHERE id = {account.token_id}")
    stack.redis.command("DEL", credential_key(stack, account))
    warm(account)


def test_a_limit_that_came_with_a_change(stack: Stack, account: Account) -> None:
    warm(account)
    sql = "UPDATE tokens SET expires_at = NOW() - INTERVAL 1 HOUR WHERE id = {token}"
    change(stack, account, sql)
    for _ in range(ROUNDS):
        is_error(account.chat(), 401, "invalid_request_error", "token_expired")
