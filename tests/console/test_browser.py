"""Every page as people see it: valid HTML, nothing stored runs, nothing sticks out, light and dark.

Screenshots are kept in build/tests/screenshots (TOLLGATE_TEST_DIR).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import html5lib
import pytest
from playwright.sync_api import sync_playwright

from conftest import ADMIN, PASSWORD, numbers
from harness.chromium import PROGRAM, SIZES, Person
from harness.console import BASE, Browser, ConsoleApache
from harness.stack import Stack
from test_matrix import Cast, cast, name_of, routes  # noqa: F401

PAGES = [r for r in routes() if r["method"] == "GET" and r["template"]]
PAYLOADS = [
    "<script>xss('script')</script>",
    "\"><img src=x onerror=xss('img')>",
    "'><svg/onload=xss('svg')>",
    "</textarea></title></style><script>xss(1)</script>",
    "javascript:xss('url')",
    "<a href=javascript:xss(1)>x</a><b style=x:y>",
    "{{title}}{{> layout}}<iframe srcdoc=x>",
    "<img src=http://beacon.invalid/x>",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield browser
        browser.close()


def page_path(cast: Cast, route: dict) -> str:  # noqa: F811
    area, slash, rest = cast.path(route).partition("/")
    query = ""
    if "?" in area:
        area, _, query = area.partition("?")
    return BASE + area + ".cgi" + slash + rest + (f"?{query}" if query else "")


def check_html(page: str, where: str) -> None:
    parser = html5lib.HTMLParser(strict=False, namespaceHTMLElements=False)
    tree = parser.parse(page)
    assert not parser.errors, f"{where}: {[(at, code) for at, code, _ in parser.errors][:5]}"
    ids = Counter(e.get("id") for e in tree.iter() if e.get("id"))
    assert not [i for i, count in ids.items() if count > 1], f"{where}: an id twice"
    for label in tree.iter("label"):
        assert label.get("for") in ids, f"{where}: a label for nothing: {label.get('for')}"
    labelled = {label.get("for") for label in tree.iter("label")}
    for field in [*tree.iter("input"), *tree.iter("select"), *tree.iter("textarea")]:
        if field.get("type") not in ("hidden", "submit"):
            assert field.get("id") in labelled or field.get("aria-label"), f"{where}: no label"
    assert len(list(tree.iter("h1"))) == 1, f"{where}: not one heading"
    assert tree.find("head/title").text.strip(" -") != "Tollgate", f"{where}: no title"
    assert tree.get("lang") == "en"


@pytest.mark.parametrize("route", PAGES, ids=name_of)
def test_pages_are_valid_html(cast: Cast, route: dict) -> None:  # noqa: F811
    reply = cast.root.get(page_path(cast, route))
    if reply.status == 303:
        return
    assert reply.status == 200, reply.text[:300]
    check_html(reply.text, name_of(route))


def test_errors_are_valid_html_too(root: Browser, console: ConsoleApache) -> None:
    check_html(root.get(BASE + "users.cgi/999999").text, "404")
    check_html(root.get(BASE + "users.cgi?limit=x").text, "400")
    root.visit(BASE + "groups.cgi/new")
    check_html(root.submit("groups.cgi", name="", ratio="x").text, "422")
    check_html(console.browser().visit(BASE + "users.cgi").text, "login")


def store_payloads(stack: Stack, root: Browser) -> None:
    """Where people's and providers' texts lie, whatever the forms would have refused."""
    for payload in PAYLOADS:
        name = f"x-{next(numbers)}"
        root.api("POST", "groups", {"name": name, "ratio": "1", "description": payload})
        made = root.api("POST", "users", {"username": name, "role": "user", "group_name": name})
        root.api("POST", f"users/{made.json['id']}", {"team": payload})
        text = payload.replace("\\", "\\\\").replace("'", "''")
        for table, column, where in (
            ("groups", "description", f"name = '{name}'"),
            ("users", "team", f"username = '{name}'"),
        ):
            stack.site.main_sql(f"UPDATE `{table}` SET {column} = LEFT('{text}', 64) WHERE {where}")
        stack.site.main_sql(
            "INSERT INTO tokens (key_hmac, user_id, name, team) VALUES (SHA2("
            f"'{name}', 256), {made.json['id']}, LEFT('{text}', 64), LEFT('{text}', 64))"
        )
        stack.site.main_sql(
            "INSERT INTO channels (name, base_url, organisation, status_reason, tag, models,"
            f" groups_list) VALUES (LEFT('{text}', 64), 'http://x', LEFT('{text}', 64), '{text}',"
            f" LEFT('{text}', 64), JSON_ARRAY('{text}'), JSON_ARRAY('{text}'))"
        )
        stack.site.log_sql(
            "INSERT INTO request_log (request_id, created_at, requested_model, served_model,"
            " token_name, error_code, group_name, status) VALUES"
            f" (UNHEX(REPLACE(UUID(), '-', '')), NOW(6), '{text}', '{text}', LEFT('{text}', 64),"
            f" LEFT('{text}', 48), LEFT('{text}', 64), 500)"
        )


def test_nothing_that_is_stored_runs(
    cast: Cast, stack: Stack, console: ConsoleApache, chromium: Any  # noqa: F811
) -> None:
    store_payloads(stack, cast.root)
    person = Person(chromium, console.base_url)
    ran: list[str] = []
    person.context.expose_function("xss", lambda what: ran.append(str(what)))
    person.log_in(ADMIN, PASSWORD)
    seen = set()
    for route in PAGES:
        person.page.goto(page_path(cast, route))
        if "xss(" in person.page.inner_text("main"):
            seen.add(route["area"])
        for name in ("a", "input", "button", "summary"):
            for element in person.page.query_selector_all(f"main {name}")[:40]:
                if element.is_visible():
                    element.dispatch_event("mouseover")
                    element.dispatch_event("focus")
        assert ran == [], name_of(route)
        assert person.problems == [], name_of(route)
    assert {"users", "groups"} <= seen, "the payloads were not even shown"
    targets = person.page.evaluate("[...document.querySelectorAll('a')].map(a => a.href)")
    assert not [url for url in targets if not url.startswith(console.base_url)]
    person.close()


@pytest.mark.ends_quick
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_fit_the_window(
    cast: Cast, console: ConsoleApache, chromium: Any, size: str, dark: bool  # noqa: F811
) -> None:
    person = Person(chromium, console.base_url, size, dark)
    person.log_in(ADMIN, PASSWORD)
    for route in PAGES:
        person.page.goto(page_path(cast, route))
        assert person.overflow() <= 0, f"{name_of(route)} is wider than the window"
        theme = person.page.evaluate("document.documentElement.dataset.bsTheme")
        assert theme == ("dark" if dark else "light")
        person.shot(f"{name_of(route)} {'dark' if dark else 'light'}")
    assert person.problems == []
    person.close()


def test_the_keyboard_is_enough_to_make_a_group(console: ConsoleApache, chromium: Any) -> None:
    person = Person(chromium, console.base_url)
    person.log_in(ADMIN, PASSWORD)
    name = f"keys-{next(numbers)}"
    person.page.goto(BASE + "groups.cgi/new")
    person.page.focus("[name=name]")
    person.page.keyboard.type(name)
    person.page.keyboard.press("Tab")
    person.page.keyboard.press("Control+a")
    person.page.keyboard.type("1.5")
    person.page.keyboard.press("Enter")
    person.page.wait_for_selector(f"h1:has-text('{name}')")
    assert person.page.locator("[name=ratio]").input_value() == "1.5"
    assert person.problems == []
    person.close()
