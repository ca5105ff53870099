"""Settings: every option with its source; what is set holds in every worker within two seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from conftest import Person
from harness.console import BASE, Browser
from harness.procs import eventually
from harness.stack import Account, Stack

SOON = 6.0  # threefold the two seconds that are promised


@pytest.fixture(autouse=True)
def nothing_stays(stack: Stack) -> Iterator[None]:
    yield
    for (name,) in stack.site.main_sql("SELECT name FROM options"):
        stack.site.ctl("config", "reset", name)


def setting(root: Browser, name: str) -> dict:
    return root.api("GET", f"settings/{name}").json


def all_workers_answer(account: Account, status: int) -> None:
    def once() -> bool:
        return all(account.chat(text="x" * 2000).status == status for _ in range(12))

    eventually(f"all answers are {status}", once, SOON)


def test_every_option_is_listed_with_its_source(root: Browser) -> None:
    rows = {row["name"]: row for row in root.api("GET", "settings").json["rows"]}
    assert rows["retry.attempts"]["source"] == "default" and rows["retry.attempts"]["changeable"]
    assert rows["database.main"]["source"] == "file" and not rows["database.main"]["changeable"]
    assert rows["pool.workers"]["needs_restart"]
    assert rows["body.limit"]["meaning"] and rows["body.limit"]["default"] == "128MiB"
    page = root.visit(BASE + "settings.cgi")
    assert page.status == 200 and "largest request body" in page.text
    assert "password-of-the-tests" not in page.text


def test_what_is_set_holds_in_every_worker(root: Browser, stack: Stack) -> None:
    account = stack.account()
    all_workers_answer(account, 200)
    root.visit(BASE + "settings.cgi/body.limit")
    page = root.submit("settings.cgi/body.limit", value="1KiB")
    assert page.status == 200 and "It is set for all nodes." in page.text
    all_workers_answer(account, 413)
    assert setting(root, "body.limit")["source"] == "database"
    root.visit(BASE + "settings.cgi/body.limit")
    page = root.submit("body.limit/reset")
    assert page.status == 200 and "holds again" in page.text
    all_workers_answer(account, 200)
    assert setting(root, "body.limit")["source"] == "default"
    rows = root.api("GET", "audit?object_type=option&object_id=body.limit").json["rows"]
    assert [row["after_json"]["value"] for row in rows][:2] == [None, "1KiB"]


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [("retry.attempts", "many", 422), ("body.limit", "1", 422), ("pool.workers", "3", 422),
     ("no.such", "1", 404)],
)  # fmt: skip
def test_what_does_not_fit_is_refused(root: Browser, name: str, value: str, status: int) -> None:
    reply = root.api("POST", f"settings/{name}", {"value": value})
    assert reply.status == status, reply.text
    if status == 422:
        assert "value" in reply.json["error"]["fields"]


def test_only_root_sees_and_changes_settings(people: Callable[..., Person]) -> None:
    for role in ("user", "admin"):
        browser = people(role).browser
        assert browser.api("GET", "settings").status == 403
        assert browser.api("POST", "settings/retry.attempts", {"value": "2"}).status == 403
