"""Who may call: credential forms, expiry, addresses, models, groups; and how refusals read."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from harness.checks import is_error, is_ok
from harness.money import M_REF
from harness.procs import eventually
from harness.stack import CHAT, Account, Stack, chat_body

JSON_TYPE = ("Content-Type", "application/json")

FORMS = {
    "bearer": lambda token: ([("Authorization", f"Bearer {token}")], CHAT),
    "bearer-lower": lambda token: ([("authorization", f"bearer {token}")], CHAT),
    "bare": lambda token: ([("Authorization", token)], CHAT),
    "x-api-key": lambda token: ([("x-api-key", token)], CHAT),
    "x-goog-api-key": lambda token: ([("x-goog-api-key", token)], CHAT),
    "query": lambda token: ([], f"{CHAT}?key={token}"),
    "mj-api-secret": lambda token: ([("mj-api-secret", token)], CHAT),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_credential_form_is_accepted(stack: Stack, account: Account, form: str) -> None:
    headers, uri = FORMS[form](account.token)
    answer = account.open(chat_body(), [*headers, JSON_TYPE], uri).finish()
    is_ok(answer)
    seen = stack.simulator.only()
    assert account.token.encode() not in json.dumps(seen.raw).encode(), "the token went upstream"
    assert seen.target == "/v1/chat/completions", "the client's query went upstream"


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", "Bearer ")],
        [("Authorization", "Bearer sk-tg" + "A" * 43)],
        [("Authorization", "Bearer sk-other")],
        [("Authorization", "Basic dXNlcjpwYXNz")],
        [("Authorization", "Bearer " + "x" * 5000)],
        [("x-api-key", "\x7f\xff")],
    ],
    ids=["none", "empty", "unknown", "foreign", "basic", "long", "bytes"],
)
def test_a_bad_credential_is_401(stack: Stack, headers: list[tuple[str, str]]) -> None:
    answer = stack.fcgi.request("POST", CHAT, [*headers, JSON_TYPE], chat_body())
    error = is_error(answer, 401, "invalid_request_error", "invalid_api_key")
    for secret in ("sk-tgA", "users", "tokens", "hmac"):
        assert secret not in error["message"]
    assert stack.simulator.requests() == []


def test_a_bad_credential_is_refused_before_the_body(stack: Stack) -> None:
    exchange = stack.fcgi.open("POST", CHAT, [JSON_TYPE], b"", length="1000000", end_body=False)
    is_error(exchange.finish(), 401, "invalid_request_error", "invalid_api_key")


def test_a_token_cut_by_one_character_is_unknown(account: Account) -> None:
    headers = [("Authorization", f"Bearer {account.token[:-1]}"), JSON_TYPE]
    is_error(account.post(chat_body(), headers), 401, "invalid_request_error", "invalid_api_key")


def test_expiry_holds_for_the_very_next_request(stack: Stack, account: Account) -> None:
    soon = datetime.now(timezone.utc) + timedelta(seconds=3)
    made = account.new_token("--expires", soon.strftime("%Y-%m-%dT%H:%M:%SZ"))
    headers = [("Authorization", f"Bearer {made['token']}"), JSON_TYPE]
    is_ok(account.post(chat_body(), headers))
    eventually("the token expires", lambda: account.post(chat_body(), headers).status != 200)
    answer = account.post(chat_body(), headers)
    is_error(answer, 401, "invalid_request_error", "token_expired")


def test_revocation_holds_for_the_very_next_request(stack: Stack, account: Account) -> None:
    is_ok(account.chat())
    stack.site.ctl("token", "revoke", str(account.token_id))
    for _ in range(4):  # whichever worker takes it
        is_error(account.chat(), 401, "invalid_request_error", "token_revoked")


@pytest.mark.parametrize(
    ("allowed", "remote", "passes"),
    [
        ("10.0.0.0/8", "10.255.0.1", True),
        ("10.0.0.0/8", "11.0.0.1", False),
        ("192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7/32", "192.0.2.8", False),
        ("2001:db8::/32", "2001:db8:ffff::1", True),
        ("2001:db8::/32", "2001:db9::1", False),
        ("::1", "::1", True),
        ("10.0.0.0/8,2001:db8::/32", "2001:db8::1", True),
        ("10.0.0.0/8", "::ffff:10.0.0.1", True),
        ("0.0.0.0/0", "2001:db8::1", False),
    ],
)
def test_address_list(account: Account, allowed: str, remote: str, passes: bool) -> None:
    made = account.new_token("--allow", allowed)
    headers = [("Authorization", f"Bearer {made['token']}"), JSON_TYPE]
    answer = account.open(chat_body(), headers, remote=remote).finish()
    if passes:
        is_ok(answer)
    else:
        is_error(answer, 403, "permission_error", "access_denied")


def test_a_forged_forwarded_header_gives_no_access(account: Account) -> None:
    made = account.new_token("--allow", "10.0.0.0/8")
    headers = [("Authorization", f"Bearer {made['token']}"), JSON_TYPE]
    headers += [("X-Forwarded-For", "10.0.0.1"), ("X-Real-IP", "10.0.0.1")]
    answer = account.open(chat_body(), headers, remote="192.0.2.1").finish()
    is_error(answer, 403, "permission_error", "access_denied")


def test_model_list_of_a_token(stack: Stack, account: Account) -> None:
    made = account.new_token("--models", "m-alt,m-call")
    headers = [("Authorization", f"Bearer {made['token']}"), JSON_TYPE]
    is_ok(account.post(chat_body("m-alt"), headers))
    refused = account.post(chat_body("m-ref"), headers)
    is_error(refused, 403, "permission_error", "model_not_allowed")
    listed = stack.fcgi.request("GET", "/v1/models", headers)
    assert {entry["id"] for entry in listed.json["data"]} == {"m-alt", "m-call"}


def test_unknown_model(account: Account) -> None:
    answer = account.chat("no-such-model")
    error = is_error(answer, 404, "invalid_request_error", "model_not_found")
    assert "no-such-model" in error["message"]


@pytest.mark.books_differ("the group's ratio is 2")
def test_groups_decide_which_channels_serve(stack: Stack) -> None:
    stack.site.ctl("group", "set", "gold", "--ratio", "2")
    model = stack.new_model(M_REF)
    stack.channel(f"gold-{model}", [model], "--groups", "gold")
    rich = stack.account(group="gold")
    plain = stack.account()
    stack.wait_model(rich, model)
    is_ok(rich.chat(model, "one two three"))
    answer = plain.chat(model)
    assert answer.status in (403, 404), answer.body
    assert model not in {
        entry["id"] for entry in stack.fcgi.request("GET", "/v1/models", plain.auth()).json["data"]
    }


def test_a_token_of_a_group_that_its_user_may_not_use(stack: Stack, account: Account) -> None:
    stack.site.ctl("group", "set", "closed", "--ratio", "0.5")
    made = account.new_token()
    stack.site.main_sql(f"UPDATE tokens SET group_name = 'closed' WHERE id = {made['id']}")
    headers = [("Authorization", f"Bearer {made['token']}"), JSON_TYPE]
    for _ in range(4):
        is_error(account.post(chat_body(), headers), 403, "permission_error", "access_denied")


@pytest.mark.books_differ("a group ratio")
def test_group_ratio_is_billed(stack: Stack) -> None:
    stack.site.ctl("group", "set", "third", "--ratio", "0.3333")
    model = stack.new_model(M_REF)
    stack.channel(f"third-{model}", [model], "--groups", "third")
    account = stack.account(group="third")
    stack.wait_model(account, model)
    stack.simulator.behave(model, "ok", p=1000, c=77)
    is_ok(account.chat(model))
    # (1000 x 1.5 + 77 x 7.5) x 0.3333 = 692.42...
    account.wait_spent(692)


def test_a_pin_of_an_ordinary_user_is_refused(account: Account) -> None:
    headers = [("Authorization", f"Bearer {account.token}-1"), JSON_TYPE]
    answer = account.post(chat_body(), headers)
    assert answer.status in (401, 403), answer.body


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", CHAT, 405),
        ("DELETE", "/v1/models", 405),
        ("POST", "/v1/nothing", 404),
        ("GET", "/v1/", 404),
        ("GET", "/v1/../etc/passwd", 404),
        ("POST", "/v1/chat%2fcompletions", 404),
        ("POST", "/v1%2Fchat/completions", 404),
        ("POST", "/v1%2fmodels/../chat/completions", 404),
    ],
)
def test_unknown_paths_and_methods(
    stack: Stack, account: Account, method: str, path: str, status: int
) -> None:
    answer = stack.fcgi.request(method, path, account.auth())
    is_error(answer, status, "invalid_request_error", "unknown_url")


@pytest.mark.parametrize("path", ["//v1/chat/completions", "/v1/v1/chat/completions"])
def test_base_url_habits_of_sdks_are_tolerated(account: Account, path: str) -> None:
    is_ok(account.open(chat_body(), uri=path).finish())


def test_a_disabled_user_is_refused_from_the_very_next_request(
    stack: Stack, account: Account
) -> None:
    """Every token of the user, in whichever worker's cache it is; and back again."""
    other = account.new_token()["token"]
    headers = [("Authorization", f"Bearer {other}"), JSON_TYPE]
    for _ in range(2):
        for _ in range(4):
            is_ok(account.chat())
            is_ok(account.post(chat_body(), headers))
        stack.site.ctl("user", "disable", account.name)
        for _ in range(4):
            is_error(account.chat(), 403, "permission_error", "access_denied")
            is_error(account.post(chat_body(), headers), 403, "permission_error", "access_denied")
        stack.site.ctl("user", "enable", account.name)
