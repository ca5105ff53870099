"""Field reports on access: what went wrong elsewhere, with the inputs that showed it."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from harness.checks import is_error, is_ok
from harness.money import M_REF
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import CHAT, Account, Stack, chat_body

JSON_TYPE = ("Content-Type", "application/json")


def bearer(token: str) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {token}"), JSON_TYPE]


def channel_of(stack: Stack, model: str) -> int:
    rows = stack.site.main_sql(f"SELECT channel_id FROM abilities WHERE model = '{model}'")
    return int(rows[0][0])


# --- FR113: a pin is an administrator's, whichever way it is tried --------------------------------


def test_fr113_no_pin_for_a_common_user(stack: Stack, account: Account) -> None:
    channel = channel_of(stack, "m-ref")
    error = is_error(
        account.post(chat_body(), bearer(f"{account.token}-{channel}")),
        403,
        "permission_error",
        "access_denied",
    )
    assert account.token not in error["message"]
    for uri in (f"/v1/oneapi/proxy/{channel}/v1/chat/completions", f"/v1/proxy/{channel}"):
        answer = account.open(chat_body(), uri=uri).finish()
        is_error(answer, 404, "invalid_request_error", "unknown_url")
    for model in (f"{channel}/m-ref", f"channel-{channel}:m-ref"):
        is_error(account.chat(model), 404, "invalid_request_error", "model_not_found")
    assert stack.simulator.requests() == []


@pytest.mark.books_differ("a model of its own")
def test_fr113_an_administrator_s_pin_has_the_token_s_limits(stack: Stack) -> None:
    model = stack.new_model(M_REF)
    channel = stack.channel(f"pinned-{model}", [model, "m-ref"])
    admin = stack.account()
    stack.site.ctl("user", "set", admin.name, "--role", "admin")
    stack.wait_model(admin, model)
    is_ok(admin.post(chat_body(model), bearer(f"{admin.token}-{channel}")))
    limited = admin.new_token("--models", "m-alt")["token"]
    refused = admin.post(chat_body(model), bearer(f"{limited}-{channel}"))
    is_error(refused, 403, "permission_error", "model_not_allowed")


# --- FR115: an empty or dangling restriction grants nothing ---------------------------------------


def test_fr115_an_empty_list_allows_nothing(stack: Stack, account: Account) -> None:
    stack.site.ctl("token", "set", str(account.token_id), "--models", "none")
    is_error(account.chat(), 403, "permission_error", "model_not_allowed")
    assert stack.simulator.requests() == []


@pytest.mark.parametrize("group", ["empty", "gone"])
def test_fr115_a_group_without_channels_or_without_a_row(
    stack: Stack, account: Account, group: str
) -> None:
    if group == "empty":
        stack.site.ctl("group", "set", group, "--ratio", "1")
    stack.site.main_sql(f"UPDATE tokens SET group_name = '{group}' WHERE id = {account.token_id}")
    eventually("the group counts", lambda: account.chat().status != 200, timeout=90)
    assert account.chat().status in (403, 404)


# --- FR123: what is no token reaches no statement -------------------------------------------------

ODD = ["' OR '1'='1", "x'; DROP TABLE tokens;-- ", "%", "_", "sk-" + "x" * 10000, "\\", "a\tb"]


@pytest.mark.parametrize("token", ODD)
@pytest.mark.parametrize("carrier", ["Authorization", "x-api-key", "query"])
def test_fr123_odd_tokens_are_unknown(stack: Stack, token: str, carrier: str) -> None:
    before = stack.site.main_sql("SELECT COUNT(*), SUM(CRC32(key_hmac)) FROM tokens")
    if carrier == "query":
        answer = stack.fcgi.request("POST", f"{CHAT}?key={quote(token)}", [JSON_TYPE], chat_body())
    else:
        value = f"Bearer {token}" if carrier == "Authorization" else token
        answer = stack.fcgi.request("POST", CHAT, [(carrier, value), JSON_TYPE], chat_body())
    assert answer.status in (400, 401), answer.status
    assert stack.site.main_sql("SELECT COUNT(*), SUM(CRC32(key_hmac)) FROM tokens") == before
    assert stack.simulator.requests() == []


def test_fr123_tokens_are_compared_exactly(stack: Stack, account: Account) -> None:
    for token in (account.token.upper(), account.token + " x", account.token.swapcase()):
        assert account.post(chat_body(), bearer(token)).status == 401


# --- FR121: no key in what people see -------------------------------------------------------------


@pytest.mark.parametrize("scenario", ["leaky-error", "bad-json", "reset-before"])
def test_fr121_a_failing_upstream_shows_no_key(
    stack: Stack, account: Account, scenario: str
) -> None:
    stack.simulator.behave("m-ref", scenario)
    answer = account.chat()
    said = answer.body + json.dumps(answer.headers).encode()
    for key in KEYS:
        assert key.encode() not in said
