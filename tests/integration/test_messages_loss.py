"""Loss policies: allow, safe and strict of channels and tokens, and what the record says of it."""

from __future__ import annotations

import json

import pytest
from harness.checks import is_error, is_ok
from harness.gateway import CtlError
from harness.messages import CHAT, NATIVE, ask, prepare, refused, whole
from harness.money import M_REF
from harness.procs import eventually
from harness.stack import Account, Stack

# Of severity info, warn and error on the way to a chat channel.
MILD = {"metadata": {"user_id": "a@b.example"}}
WARNED = {"speed": "fast"}
WRONG = {"inference_geo": "eu"}


@pytest.fixture(autouse=True)
def channels(stack: Stack) -> None:
    prepare(stack)
    stack.simulator.settings(strict=True)


def with_policy(stack: Stack, account: Account, policy: str) -> Account:
    made = account.new_token("--loss", policy)
    account.token, account.token_id = made["token"], int(made["id"])
    return account


def detail(stack: Stack, request_id: str) -> list[dict]:
    stack.site.record(request_id)
    shown = stack.site.ctl("show", "request", request_id)
    return shown["diagnostics_json"] or []


@pytest.mark.parametrize(
    "policy, more, refuses",
    [
        ("allow", WRONG, False),
        ("safe", WARNED, False),
        ("safe", WRONG, True),
        ("strict", MILD, False),
        ("strict", WARNED, True),
        ("strict", {"x_unknown": 1}, True),
    ],
)
def test_a_tokens_policy(
    stack: Stack, account: Account, policy: str, more: dict, refuses: bool
) -> None:
    with_policy(stack, account, policy)
    answer = ask(account, CHAT, **more)
    if not refuses:
        whole(answer)
        return
    message = refused(answer, 400, "invalid_request_error")
    assert next(iter(more)) in message
    assert stack.simulator.requests() == [], "refused before any cost"
    account.wait_spent(0)
    record = stack.site.record(answer.request_id)
    assert (record["error_code"], record["attempts"]) == ("conversion_loss", 0)
    assert [d["path"] for d in detail(stack, answer.request_id)] == list(more)


def test_a_native_channel_loses_nothing(stack: Stack, account: Account) -> None:
    with_policy(stack, account, "strict")
    whole(ask(account, NATIVE, **WARNED, **WRONG))
    assert stack.simulator.only().json["speed"] == "fast"


def test_a_channels_policy_takes_it_out_of_the_choice(stack: Stack, account: Account) -> None:
    model = stack.new_model(M_REF)
    stack.channel(f"first-{model}", [model], "--priority", "9", "--loss", "strict")
    stack.channel(f"second-{model}", [model], "--priority", "1", "--provider", "anthropic")
    stack.wait_model(account, model)
    whole(ask(account, model))
    whole(ask(account, model, **WARNED))
    paths = [seen.path for seen in stack.simulator.requests()]
    assert paths == ["/v1/chat/completions", "/v1/messages"]


def test_a_chat_client_is_refused_in_its_own_words(stack: Stack, account: Account) -> None:
    with_policy(stack, account, "safe")
    error = is_error(account.chat(NATIVE, n=2), 400, "invalid_request_error", "conversion_loss")
    assert error["param"] == "n" and "N_UNSUPPORTED" in error["message"]
    stack.simulator.behave(NATIVE, "ok")
    is_ok(account.chat(NATIVE, seed=7))


def test_what_was_lost_is_in_the_record(stack: Stack, account: Account) -> None:
    answer = ask(account, CHAT, **WARNED, **WRONG)
    whole(answer)
    found = {(d["path"], d["code"], d["severity"]) for d in detail(stack, answer.request_id)}
    assert ("speed", "PARAM_DROPPED", "warn") in found
    assert ("inference_geo", "PARAM_DROPPED", "error") in found
    native = ask(account, NATIVE)
    assert detail(stack, whole(native) and native.request_id) == []


def test_a_change_holds_for_the_next_request(stack: Stack, account: Account) -> None:
    whole(ask(account, CHAT, **WRONG))
    stack.site.ctl("token", "set", str(account.token_id), "--loss", "safe")
    refused(ask(account, CHAT, **WRONG), 400, "invalid_request_error")
    assert stack.site.ctl("show", "token", str(account.token_id))["loss_policy"] == "safe"
    stack.site.ctl("token", "set", str(account.token_id), "--loss", "allow")
    whole(ask(account, CHAT, **WRONG))


def test_only_known_policies_are_taken(stack: Stack, account: Account) -> None:
    for argv in (
        ("token", "create", "--user", account.name, "--loss", "some"),
        ("token", "set", str(account.token_id), "--loss", "some"),
        ("channel", "set", "1", "--loss", "some"),
    ):
        with pytest.raises(CtlError, match="loss policy"):
            stack.site.ctl(*argv)
    with pytest.raises(CtlError, match="loss policy"):
        stack.channel("some", ["m-some"], "--loss", "some")


def test_a_channel_that_changes_is_read_again(stack: Stack, account: Account) -> None:
    model = stack.new_model(M_REF)
    channel = stack.channel(f"loss-{model}", [model])
    stack.wait_model(account, model)
    whole(ask(account, model, **WRONG))
    stack.site.ctl("channel", "set", str(channel), "--loss", "safe")
    eventually("it refuses", lambda: ask(account, model, **WRONG).status == 400, 15)
    assert json.loads(ask(account, model, **WRONG).body)["error"]["type"]
