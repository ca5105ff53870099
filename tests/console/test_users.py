"""Users: made, changed, given quota with a reason, let in and kept out."""

from __future__ import annotations

from collections.abc import Callable

from conftest import Person, numbers
from harness.console import BASE, Browser
from harness.money import quota
from harness.procs import eventually
from harness.stack import Stack


def test_a_user_is_made_by_the_form_and_found(root: Browser) -> None:
    name = f"ann-{next(numbers)}"
    root.visit(BASE + "users.cgi/new")
    assert root.form("users.cgi")["fields"]["group_name"] == "default"
    page = root.submit("users.cgi", username=name, password="long enough words")
    assert page.status == 200 and "The user is made." in page.text
    found = root.api("GET", f"users?search={name}").json["rows"]
    assert [row["username"] for row in found] == [name]
    assert "password" not in str(found).lower().replace("has_password", "")
    again = root.api("POST", "users", {"username": name, "role": "user", "group_name": "default"})
    assert again.status == 422 and "username" in again.json["error"]["fields"]


def test_quota_goes_through_the_books(
    root: Browser, people: Callable[..., Person], stack: Stack
) -> None:
    person = people(log_in=False)
    root.visit(BASE + f"users.cgi/{person.id}/credit")
    page = root.submit("/credit", amount="2.5", reason="welcome")
    assert page.status == 200 and "It is in the books." in page.text
    assert root.api("POST", f"users/{person.id}/credit", {"amount": "-1", "reason": "fee"}).json[
        "pushed"
    ]

    def booked() -> bool:
        return root.api("GET", f"users/{person.id}").json["quota"] == quota("1.5")

    eventually("the applier has booked both", booked, 15)
    rows = stack.site.main_sql(f"SELECT kind, reason FROM credits WHERE user_id = {person.id}")
    assert sorted(rows) == [["admin", "fee"], ["admin", "welcome"]]
    assert root.api("POST", f"users/{person.id}/credit", {"amount": "1"}).status == 422
    stack.site.wait_clean()


def test_a_disabled_user_is_out_at_once(root: Browser, people: Callable[..., Person]) -> None:
    person = people()
    assert person.browser.api("GET", "account").status == 200
    assert root.api("POST", f"users/{person.id}", {"status": "disabled"}).status == 200
    assert person.browser.api("GET", "account").status == 401
    assert person.browser.login(person.name, person.password).status == 401
    assert root.api("POST", f"users/{person.id}", {"status": "enabled"}).status == 200
    assert person.browser.login(person.name, person.password).status == 200


def test_admins_touch_only_those_below(root: Browser, people: Callable[..., Person]) -> None:
    admin, other, user = people("admin"), people("admin"), people()
    api = admin.browser.api
    assert api("POST", f"users/{user.id}", {"team": "blue"}).status == 200
    for target in (other.id, admin.id, 1):
        assert api("POST", f"users/{target}", {"team": "x"}).status == 403
        assert api("POST", f"users/{target}/credit", {"amount": "1", "reason": "x"}).status == 403
        assert api("POST", f"users/{target}/password", {"password": "x" * 12}).status == 403
    assert api("POST", f"users/{user.id}", {"role": "admin"}).status == 403
    new = {"username": f"n-{next(numbers)}", "role": "admin", "group_name": "default"}
    assert api("POST", "users", new).status == 403
    assert root.api("GET", f"users/{user.id}").json["role"] == "user"


def test_the_last_root_stays(root: Browser) -> None:
    answer = root.api("POST", "users/1", {"role": "user"})
    assert answer.status == 409
    assert answer.json["error"]["code"] == "last_root"


def test_denials_count_for_more_than_grants_and_roles(
    root: Browser, people: Callable[..., Person]
) -> None:
    admin, user = people("admin"), people()
    grant = {"permission": "group:read", "effect": "deny"}
    assert admin.browser.api("GET", "groups").status == 200
    assert root.api("POST", f"users/{admin.id}/permissions", grant).status == 200
    assert admin.browser.api("GET", "groups").status == 403
    assert user.browser.api("GET", "groups").status == 403
    grant["effect"] = "allow"
    assert root.api("POST", f"users/{user.id}/permissions", grant).status == 200
    assert user.browser.api("GET", "groups").status == 200
    assert user.browser.api("GET", "users").status == 403
    wrong = {"permission": "no:such", "effect": "allow"}
    assert root.api("POST", f"users/{user.id}/permissions", wrong).status == 422
    grant["effect"] = ""
    assert root.api("POST", f"users/{user.id}/permissions", grant).status == 200
    assert user.browser.api("GET", "groups").status == 403
