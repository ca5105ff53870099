"""Field reports about consoles: the inputs that went wrong elsewhere, and what is right.

Others of the list are tests where their subject is: FR113, FR115, FR121, FR123 in
tests/integration/test_access_reports.py, FR118 in test_warm.py and test_effect.py, FR146 in
test_usage.py; S20 is test_matrix.py, S34 test_audit.py. FR153 asks about budgets by the day,
which there are none of: nothing is projected.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import Person
from harness.console import BASE, Browser
from harness.procs import eventually
from harness.stack import Stack


def test_fr120_a_channel_that_left_a_group_serves_it_no_more(
    root: Browser, stack: Stack
) -> None:
    model = stack.new_model()
    channel = stack.channel(f"groups-{model}", [model], "--groups", "default,svip")
    account = stack.account()
    stack.wait_model(account, model)

    def soon(what: str, status: int) -> None:
        eventually(what, lambda: [account.chat(model).status for _ in range(4)] == [status] * 4, 6)

    root.api("POST", "groups", {"name": "svip", "ratio": "1"})
    done = root.api("POST", f"channels/{channel}", {"groups_list": ["svip"]})
    assert done.status == 200, done.text
    soon("the keys of the group it left are refused", 403)
    done = root.api("POST", f"channels/{channel}", {"groups_list": ["svip", "default"]})
    assert done.status == 200, done.text
    soon("and served when it is back", 200)


def test_fr150_what_failed_is_a_request_and_no_spend(root: Browser, stack: Stack) -> None:
    account = stack.account()

    def total() -> dict[str, int]:
        return root.api("GET", "dashboard?days=1").json["total"]

    before = total()
    assert account.chat().status == 200
    stack.simulator.behave("m-ref", "bad-request")
    assert account.chat().status == 400
    stack.simulator.behave("m-ref", "ok")
    eventually(
        "both requests are in the sums", lambda: total()["requests"] == before["requests"] + 2, 15
    )
    after = total()
    assert after["errors"] == before["errors"] + 1
    assert after["quota"] - before["quota"] == account.spent > 0


@pytest.mark.parametrize("field", ["quota", "role", "group_name", "id", "authver", "status"])
def test_s21_nobody_gives_oneself_more(people: Callable[..., Person], field: str) -> None:
    person = people()
    value = {"quota": 10**9, "role": "root", "group_name": "gold", "id": 1, "authver": 1,
             "status": "enabled"}[field]  # fmt: skip
    before = person.browser.api("GET", "account").json
    profile = person.browser.api("GET", "account/profile").json
    answer = person.browser.api("POST", "account/profile", {field: value})
    assert answer.status in (200, 400, 422), answer.text
    assert person.browser.api("GET", "account").json == before
    assert person.browser.api("GET", "account/profile").json == profile


def test_an_old_page_of_a_bookmark_says_what_is_wrong(root: Browser) -> None:
    page = root.visit(BASE + "users.cgi/999999")
    assert page.status == 404 and "Traceback" not in page.text and "SQL" not in page.text
