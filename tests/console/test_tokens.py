"""Tokens: shown once, limited, changed, revoked; and that the gateway knows at the next request."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from conftest import Person, numbers
from harness.console import BASE, Browser
from harness.money import quota
from harness.procs import eventually
from harness.stack import Account, Stack

MADE = re.compile(r"sk-tg[A-Za-z0-9_-]+")


@pytest.fixture
def spender(stack: Stack, people: Callable[..., Person]) -> Callable[..., tuple[Person, Account]]:
    """A person of the console with money, and what sends requests with a token made by the API."""

    def make(role: str = "user", **wish: object) -> tuple[Person, Account]:
        person = people(role)
        stack.site.ctl("credit", person.name, "5")
        made = person.browser.api("POST", "tokens", {"name": "first", **wish})
        assert made.status == 201, made.text
        account = Account(stack, person.name, quota("5"), made.json["token"], made.json["id"])
        eventually("the credit has arrived", lambda: account.balance == quota("5"), 15)
        return person, account

    return make


def test_the_text_is_shown_once(people: Callable[..., Person], stack: Stack) -> None:
    person = people()
    person.browser.visit(BASE + "tokens.cgi/new")
    assert "username" not in person.browser.last.text.replace("tg-who", ""), "admins' field"
    page = person.browser.submit("tokens.cgi", name="laptop", limit="2.50")
    assert page.status == 201
    text = MADE.search(page.text).group()
    assert page.header("cache-control") == "no-store"
    rows = person.browser.api("GET", "tokens").json["rows"]
    assert [(row["name"], row["hint"]) for row in rows] == [("laptop", text[-4:])]
    assert rows[0]["remain_quota"] == quota("2.5") and rows[0]["unlimited"] is False
    for path in ("tokens.cgi", f"tokens.cgi/{rows[0]['id']}"):
        assert text not in person.browser.visit(BASE + path).text
    stored = stack.site.main_sql(f"SELECT * FROM tokens WHERE id = {rows[0]['id']}")
    assert text not in str(stored)
    noted = stack.site.main_sql("SELECT * FROM audit_log ORDER BY id DESC LIMIT 5")
    assert text not in str(noted) and person.name in str(noted)


def test_the_curl_line_asks_for_a_model_that_is_there(people: Callable[..., Person]) -> None:
    person = people()
    made = person.browser.api("POST", "tokens", {"name": "x"}).json
    assert made["model"] and f'"model":"{made["model"]}"' in made["curl"]
    host = f"http://127.0.0.1:{person.browser.port}/v1/chat/completions"
    assert made["curl"].startswith(f"curl {host} -H 'Authorization: Bearer {made['token']}'")
    made = person.browser.api("POST", "tokens", {"name": "x", "model_limits": ["m-alt"]}).json
    assert made["model"] == "m-alt"


def test_everybody_sees_their_own(root: Browser, people: Callable[..., Person]) -> None:
    one, other = people(), people()
    for person in (one, other):
        assert person.browser.api("POST", "tokens", {"name": person.name}).status == 201
    names = [row["name"] for row in one.browser.api("GET", "tokens").json["rows"]]
    assert names == [one.name]
    assert one.browser.api("GET", f"tokens?username={other.name}").status == 403
    id = other.browser.api("GET", "tokens").json["rows"][0]["id"]
    assert one.browser.get(BASE + f"tokens.cgi/{id}").status == 404
    for path, wish in ((f"tokens/{id}", {"name": "x"}), (f"tokens/{id}/limit", {"limit": "1"}),
                       (f"tokens/{id}/revoke", {})):  # fmt: skip
        assert one.browser.api("POST", path, wish).status == 404, path
    wish = {"name": "x", "username": other.name}
    assert one.browser.api("POST", "tokens", wish).status == 422
    rows = root.api("GET", f"tokens?username={other.name}").json["rows"]
    assert [(row["name"], row["username"]) for row in rows] == [(other.name, other.name)]
    assert root.api("POST", "tokens", wish).status == 201


def test_admins_leave_higher_tokens_alone(root: Browser, people: Callable[..., Person]) -> None:
    admin, other = people("admin"), people("admin")
    id = other.browser.api("POST", "tokens", {"name": "mine"}).json["id"]
    assert admin.browser.api("GET", f"tokens/{id}").status == 200
    assert admin.browser.api("POST", f"tokens/{id}", {"name": "x"}).status == 403
    assert admin.browser.api("POST", f"tokens/{id}/revoke").status == 403
    made = admin.browser.api("POST", "tokens", {"name": "x", "username": "admin"})
    assert made.status == 422 and "username" in made.json["error"]["fields"]
    assert root.api("POST", f"tokens/{id}/revoke").status == 200


def test_pages_of_a_list_do_not_overlap(people: Callable[..., Person]) -> None:
    api = people().browser.api
    for i in range(7):
        assert api("POST", "tokens", {"name": f"t{i}", "limit": str(7 - i)}).status == 201
    for sort, wanted in (("name", [f"t{i}" for i in range(7)]),
                         ("remain_quota", [f"t{6 - i}" for i in range(7)])):  # fmt: skip
        seen: list[str] = []
        after = ""
        for _ in range(4):
            page = api("GET", f"tokens?limit=3&sort={sort}&after={after}").json
            seen += [row["name"] for row in page["rows"]]
            after = page["next"]
            if after is None:
                break
        assert seen == wanted, sort
    assert api("GET", "tokens?sort=key_hmac").status == 400
    assert [row["name"] for row in api("GET", "tokens?search=t3").json["rows"]] == ["t3"]


def test_a_revoked_token_is_refused_at_the_very_next_request(
    spender: Callable[..., tuple[Person, Account]],
) -> None:
    person, account = spender()
    assert account.chat().status == 200
    person.browser.visit(BASE + f"tokens.cgi/{account.token_id}")
    page = person.browser.submit("/revoke")
    assert account.chat().status == 401
    assert page.status == 200 and "The token is revoked." in page.text
    reply = person.browser.api("POST", f"tokens/{account.token_id}", {"status": "enabled"})
    assert reply.status == 409 and reply.json["error"]["code"] == "token_revoked"
    assert account.chat().status == 401


def test_changes_work_at_the_next_request(spender: Callable[..., tuple[Person, Account]]) -> None:
    person, account = spender()

    def change(**wish: object) -> None:
        reply = person.browser.api("POST", f"tokens/{account.token_id}", wish)
        assert reply.status == 200, reply.text

    assert account.chat("m-ref").status == 200
    change(model_limits=["m-alt"])
    assert account.chat("m-ref").status == 403 and account.chat("m-alt").status == 200
    change(limit_models=True, model_limits=[])
    assert account.chat("m-alt").status == 403, "an empty list allows nothing"
    change(limit_models=False)
    assert account.chat("m-ref").status == 200
    change(allow_addresses=["192.0.2.0/24", "2001:db8::/32"])
    assert account.chat().status == 403
    change(allow_addresses="")
    assert account.chat().status == 200
    change(expires_at="2001-01-01T00:00:00Z")
    assert account.chat().status == 401
    change(expires_at="")
    change(status="disabled")
    assert account.chat().status == 401
    change(status="enabled")
    assert account.chat().status == 200


def test_a_limit_goes_through_the_books(
    spender: Callable[..., tuple[Person, Account]], stack: Stack
) -> None:
    person, account = spender(limit="1")
    path = f"tokens/{account.token_id}/limit"
    assert account.chat().status == 200
    assert person.browser.api("POST", path, {"limit": "0"}).json["pushed"] is True
    eventually("nothing is left for it", lambda: account.chat().status != 200, 6)
    person.browser.visit(BASE + f"tokens.cgi/{account.token_id}/limit")
    page = person.browser.submit("/limit", limit="")
    assert page.status == 200 and "The limit is set" in page.text
    eventually("it spends again", lambda: account.chat().status == 200, 6)
    shown = person.browser.visit
    path_of_page = BASE + f"tokens.cgi/{account.token_id}"
    eventually("it is shown", lambda: "no limit of its own" in shown(path_of_page).text, 15)
    for wrong in ("-1", "much", "0.0000001"):
        reply = person.browser.api("POST", path, {"limit": wrong})
        assert reply.status == 422 and "limit" in reply.json["error"]["fields"], wrong
    stack.site.wait_clean()


def test_a_group_must_be_open_to_the_account(
    root: Browser, people: Callable[..., Person], stack: Stack
) -> None:
    group = f"inner-{next(numbers)}"
    assert root.api("POST", "groups", {"name": group, "ratio": "0.01"}).status == 201
    person = people()
    person.browser.visit(BASE + "tokens.cgi/new")
    assert group not in person.browser.last.text and "default" in person.browser.last.text
    for path, wish in (("tokens", {"name": "x", "group_name": group}), ("tokens", {"name": "x"})):
        made = person.browser.api("POST", path, wish)
        assert made.status == (422 if "group_name" in wish else 201), made.text
    change = person.browser.api("POST", f"tokens/{made.json['id']}", {"group_name": group})
    assert change.status == 422 and "group_name" in change.json["error"]["fields"]
    stack.site.main_sql(
        "INSERT INTO group_access (user_group, used_group, allowed)"
        f" VALUES ('default', '{group}', 1)"
    )
    change = person.browser.api("POST", f"tokens/{made.json['id']}", {"group_name": group})
    assert change.status == 200, change.text


def test_wrong_fields_are_named_and_kept(people: Callable[..., Person]) -> None:
    browser = people().browser
    browser.visit(BASE + "tokens.cgi/new")
    page = browser.submit("tokens.cgi", name="keep me", limit="a lot", model_limits="a b\nc",
                          allow_addresses="10.0.0.0/99")  # fmt: skip
    assert page.status == 422
    fields = browser.form("tokens.cgi")["fields"]
    assert fields["name"] == "keep me" and fields["limit"] == "a lot"
    assert fields["allow_addresses"].strip() == "10.0.0.0/99"
    assert "is no address and no network" in page.text and "USD in decimals" in page.text
    page = browser.submit("tokens.cgi", limit="1", allow_addresses="", model_limits="",
                          expires_at="2001-01-01T00:00:00Z")  # fmt: skip
    assert page.status == 422 and "a moment to come" in page.text


def test_the_form_of_a_token_changes_nothing_by_itself(people: Callable[..., Person]) -> None:
    """Shown and sent as it is: no second of expiry, no empty list becomes another."""
    browser = people().browser
    wish = {"name": "n", "expires_at": "2031-05-06T07:08:00Z", "limit_models": True,
            "model_limits": [], "allow_addresses": ["10.1.0.0/16"], "limit": "3"}  # fmt: skip
    id = browser.api("POST", "tokens", wish).json["id"]
    before = browser.api("GET", f"tokens/{id}").json
    assert before["model_limits"] == [] and before["allow_addresses"] == ["10.1.0.0/16"]
    browser.visit(BASE + f"tokens.cgi/{id}")
    assert browser.submit(f"tokens.cgi/{id}").status == 200
    assert browser.api("GET", f"tokens/{id}").json == before
