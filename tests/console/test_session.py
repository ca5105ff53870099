"""Sessions: login, the proof of 15 minutes, the refresh token that rotates, and every end."""

from __future__ import annotations

from collections.abc import Callable

from conftest import ADMIN, PASSWORD, Person
from harness.console import BASE, Browser, ConsoleApache
from harness.stack import Stack


def age(stack: Stack, person: Person, column: str, seconds: int) -> None:
    """Moves a moment of the person's sessions back."""
    stack.site.main_sql(
        f"UPDATE console_sessions SET {column} = {column} - INTERVAL {seconds} SECOND"
        f" WHERE user_id = {person.id}"
    )


def refresh_only(browser: Browser) -> Browser:
    """The same person a quarter of an hour later: the proof is gone."""
    return Browser(browser.port, cookies={"tg_refresh": browser.cookies["tg_refresh"]})


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(console: ConsoleApache) -> None:
    browser = console.browser()
    browser.visit(BASE + "login.cgi")
    form = browser.form("login.cgi")
    fields = {**form["fields"], "username": ADMIN, "password": PASSWORD}
    reply = browser.post(form["action"], fields)
    assert reply.status == 303
    set_cookies = {cookie.split("=")[0]: cookie for cookie in reply.cookies}
    for name in ("tg_session", "tg_refresh"):
        assert "HttpOnly" in set_cookies[name] and "SameSite=Strict" in set_cookies[name]


def test_a_session_id_from_before_the_login_is_not_kept(
    people: Callable[..., Person], console: ConsoleApache
) -> None:
    person = people(log_in=False)
    browser = console.browser()
    browser.cookies["tg_refresh"] = "1." + "a" * 64
    browser.login(person.name, person.password)
    assert browser.cookies["tg_refresh"] != "1." + "a" * 64
    first = browser.cookies["tg_refresh"]
    browser.login(person.name, person.password)
    assert browser.cookies["tg_refresh"].split(".")[0] != first.split(".")[0]


def test_requests_of_one_page_share_one_rotation(people: Callable[..., Person]) -> None:
    person = people()
    old = person.browser.cookies["tg_refresh"]
    first, second = refresh_only(person.browser), refresh_only(person.browser)
    assert first.api("GET", "account").status == 200
    assert second.api("GET", "account").status == 200
    assert first.cookies["tg_refresh"] == second.cookies["tg_refresh"] != old


def test_the_token_before_the_last_ends_the_session(people: Callable[..., Person]) -> None:
    person = people()
    thief = refresh_only(person.browser)
    owner = refresh_only(person.browser)
    assert owner.api("GET", "account").status == 200
    owner = refresh_only(owner)
    assert owner.api("GET", "account").status == 200
    answer = thief.api("GET", "account")
    assert answer.status == 401 and answer.json["error"]["code"] == "session_reused"
    assert owner.api("GET", "account").status == 401


def test_the_token_before_lives_for_thirty_seconds_only(
    people: Callable[..., Person], stack: Stack
) -> None:
    person = people()
    late = refresh_only(person.browser)
    owner = refresh_only(person.browser)
    assert owner.api("GET", "account").status == 200
    age(stack, person, "rotated_at", 31)
    assert late.api("GET", "account").status == 401
    assert owner.api("GET", "account").status == 401


def test_a_session_ends_by_idleness_and_by_age(
    people: Callable[..., Person], stack: Stack
) -> None:
    idle, old = people(), people()
    age(stack, idle, "last_seen_at", 29 * 60)
    assert idle.browser.api("GET", "account").status == 200
    age(stack, idle, "last_seen_at", 31 * 60)
    assert idle.browser.api("GET", "account").status == 401
    age(stack, old, "expires_at", 12 * 3600)
    assert old.browser.api("GET", "account").status == 401


def test_logout_ends_it_for_good(people: Callable[..., Person]) -> None:
    person = people()
    kept = Browser(person.browser.port, cookies=dict(person.browser.cookies))
    person.browser.visit(BASE + "account.cgi")
    page = person.browser.submit("login.cgi/out")
    assert page.status == 200 and "Log in" in page.text
    assert "tg_session" not in person.browser.cookies
    assert kept.api("GET", "account").status == 401


def test_a_changed_password_ends_all_other_sessions(
    people: Callable[..., Person], console: ConsoleApache
) -> None:
    person = people()
    other = console.browser()
    assert other.login(person.name, person.password).status == 200
    kept = Browser(person.browser.port, cookies=dict(person.browser.cookies))
    new = "another long one"
    person.browser.visit(BASE + "account.cgi/password")
    page = person.browser.submit(
        "/password", old_password=person.password, password=new, again=new
    )
    assert page.status == 200 and "all other sessions have ended" in page.text
    assert person.browser.api("GET", "account").status == 200
    assert other.api("GET", "account").status == 401
    assert kept.api("GET", "account").status == 401
    assert console.browser().login(person.name, new).status == 200


def test_the_old_password_is_needed_for_a_new_one(people: Callable[..., Person]) -> None:
    person = people()
    wrong = {"old_password": "guessed", "password": "another long one"}
    answer = person.browser.api("POST", "account/password", wrong)
    assert answer.status == 422 and "old_password" in answer.json["error"]["fields"]


def test_a_change_that_is_none_of_logins_keeps_them(
    root: Browser, people: Callable[..., Person]
) -> None:
    person = people()
    assert root.api("POST", f"users/{person.id}", {"team": "red"}).status == 200
    assert person.browser.api("GET", "account").json["team"] == "red"


def test_sessions_are_listed_and_ended_one_by_one(
    people: Callable[..., Person], console: ConsoleApache
) -> None:
    person, stranger = people(), people()
    other = console.browser()
    assert other.login(person.name, person.password).status == 200
    rows = person.browser.api("GET", "account/sessions").json["rows"]
    assert [row["current"] for row in rows].count(True) == 1 and len(rows) == 2
    target = next(row["id"] for row in rows if not row["current"])
    assert stranger.browser.api("POST", f"account/sessions/{target}/end").status == 404
    assert other.api("GET", "account").status == 200
    assert person.browser.api("POST", f"account/sessions/{target}/end").status == 200
    assert other.api("GET", "account").status == 401


def test_forged_proofs_are_worth_nothing(people: Callable[..., Person]) -> None:
    proof = people().browser.cookies["tg_session"]
    head, claims, mark = proof.split(".")
    none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0"
    forged = [f"{none}.{claims}.", f"{head}.{claims}.", f"{head}.{claims}.{mark[:-2]}xx"]
    for value in [*forged, "x" * 3000, "..", "' OR '1'='1"]:
        browser = Browser(people().browser.port, cookies={"tg_session": value})
        assert browser.api("GET", "account").status == 401
