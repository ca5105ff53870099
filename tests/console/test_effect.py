"""A change made in the console works on every worker within two seconds, a refusal at once."""

from __future__ import annotations

import pytest
from harness.console import Browser
from harness.money import quota
from harness.procs import eventually
from harness.stack import Account, Stack

SOON = 6.0  # threefold the two seconds that are promised
WORKERS_TRIED = 10  # so many in a row that no worker can have been left out


def changed(root: Browser, path: str, value: dict) -> None:
    reply = root.api("POST", path, value)
    assert reply.status in (200, 201), reply.text


def user_id(account: Account) -> int:
    return int(account.show()["id"])


def statuses(account: Account, model: str = "m-ref") -> set[int]:
    return {account.chat(model).status for _ in range(WORKERS_TRIED)}


def test_a_disabled_user_is_refused_from_the_very_next_request(
    root: Browser, stack: Stack
) -> None:
    account = stack.account()
    assert statuses(account) == {200}
    changed(root, f"users/{user_id(account)}", {"status": "disabled"})
    assert statuses(account) == {403}
    changed(root, f"users/{user_id(account)}", {"status": "enabled"})
    assert statuses(account) == {200}


def test_another_group_counts_from_the_very_next_request(root: Browser, stack: Stack) -> None:
    account = stack.account()
    changed(root, "groups", {"name": "effect-empty", "ratio": "1"})
    eventually(
        "every worker knows the group",
        lambda: all(account.chat().status == 200 for _ in range(WORKERS_TRIED)),
        SOON,
    )
    assert statuses(account) == {200}
    changed(root, f"users/{user_id(account)}", {"group_name": "effect-empty"})
    assert 200 not in statuses(account), "no channel serves that group"
    changed(root, f"users/{user_id(account)}", {"group_name": "default"})
    assert statuses(account) == {200}


@pytest.mark.books_differ("a group ratio")
def test_a_group_with_a_new_ratio_is_billed_so(root: Browser, stack: Stack) -> None:
    changed(root, "groups", {"name": "effect-ratio", "ratio": "1"})
    model = stack.new_model()
    stack.channel(f"effect-{model}", [model], "--groups", "effect-ratio")
    account = stack.account(group="effect-ratio")
    stack.wait_model(account, model)

    def billed() -> int:
        reply = account.chat(model)
        assert reply.status == 200
        return int(stack.site.record(reply.header("x-request-id"))["quota"])

    once = billed()
    assert once > 0
    changed(root, "groups/effect-ratio", {"ratio": "3"})
    eventually(
        "every worker bills threefold",
        lambda: {billed() for _ in range(WORKERS_TRIED)} == {3 * once},
        SOON,
    )


def test_quota_that_is_given_can_be_spent(root: Browser, stack: Stack) -> None:
    account = stack.account("0.000002")
    assert account.chat().status in (402, 403, 429)
    reply = root.api("POST", f"users/{user_id(account)}/credit", {"amount": "5", "reason": "pay"})
    assert reply.status == 200 and reply.json["pushed"]
    account.credited += quota("5")
    assert account.chat().status == 200
