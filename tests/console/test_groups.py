"""Groups: the list, the form, the API; and that a change reaches the workers."""

from __future__ import annotations

from conftest import numbers
from harness.console import BASE, Browser


def test_a_group_is_made_changed_and_deleted(root: Browser) -> None:
    name = f"group-{next(numbers)}"
    root.visit(BASE + "groups.cgi")
    assert "New group" in root.last.text
    root.visit(BASE + "groups.cgi/new")
    page = root.submit("groups.cgi", name=name, ratio="1.5", description="half more")
    assert page.status == 200 and "The group is saved." in page.text
    assert root.form(f"groups.cgi/{name}")["fields"]["ratio"] == "1.5"
    page = root.submit(f"groups.cgi/{name}", ratio="0.25")
    assert page.status == 200
    assert root.api("GET", f"groups/{name}").json["ratio"] == "0.25"
    root.visit(BASE + f"groups.cgi/{name}")
    page = root.submit("/delete")
    assert page.status == 200 and "The group is deleted." in page.text
    assert root.get(BASE + f"groups.cgi/{name}").status == 404


def test_a_wrong_field_keeps_what_was_typed(root: Browser) -> None:
    root.visit(BASE + "groups.cgi/new")
    page = root.submit("groups.cgi", name="x y", ratio="much", description="<b>\"kept\"</b>")
    assert page.status == 422
    assert "this is no decimal number" in page.text
    form = root.form("groups.cgi")
    assert form["fields"]["description"] == '<b>"kept"</b>'
    assert form["fields"]["ratio"] == "much"
    answer = root.api("POST", "groups", {"name": "x", "ratio": "much"})
    assert answer.status == 422
    assert answer.json["error"]["fields"] == {
        "ratio": "this is no decimal number (2.5)"
    }


def test_the_order_in_a_group_is_set(root: Browser) -> None:
    name = f"group-{next(numbers)}"
    root.visit(BASE + "groups.cgi/new")
    page = root.submit("groups.cgi", name=name, ratio="1", order_mode="spend_free_first")
    assert page.status == 200, page.text
    assert root.form(f"groups.cgi/{name}")["fields"]["order_mode"] == "spend_free_first"
    assert root.api("GET", f"groups/{name}").json["order_mode"] == "spend_free_first"
    assert root.api("POST", f"groups/{name}", {"ratio": "2"}).json["order_mode"] != ""
    assert root.api("POST", f"groups/{name}", {"order_mode": "dearest"}).status == 422
    assert root.api("POST", f"groups/{name}", {"order_mode": ""}).json["order_mode"] == ""


def test_no_group_is_named_auto(root: Browser) -> None:
    answer = root.api("POST", "groups", {"name": "auto", "ratio": "1"})
    assert answer.status == 422
    assert "a token's word" in answer.json["error"]["fields"]["name"]


def test_fields_that_are_not_in_the_form_are_refused(root: Browser) -> None:
    answer = root.api("POST", "groups", {"name": "x", "ratio": "1", "role": "root"})
    assert answer.status == 400
    assert answer.json["error"]["code"] == "unknown_field"
