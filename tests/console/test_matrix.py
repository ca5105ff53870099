"""Who may do what: every row of the routes' table, tried by everybody.

The cases come from the table itself (tollgate-console --routes), so a new row is tried without a
line here; a pattern whose object is not known to `Objects` fails. A POST carries a field that no
form has: 400 "unknown_field" means that the request was let through to its handler's door.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from conftest import PASSWORD, Person, numbers
from harness.console import Browser, ConsoleApache, Reply
from harness.gateway import SOURCE, build_tree
from harness.stack import Stack

Route = dict
ROLES = ["", "user", "admin", "root"]
STRAY = {"no_such_field": "x"}
# Objects whose names do not go into a path.
QUERIES = {"prices/model": "?name=m-ref"}


def routes() -> list[Route]:
    program = build_tree() / "admin-cgi" / "tollgate-console"
    if not program.exists():
        return []
    return json.loads(subprocess.run([program, "--routes"], capture_output=True, check=True).stdout)


def name_of(route: Route) -> str:
    return f"{route['method']} {route['area']}{route['pattern']}"


@dataclass
class Cast:
    """Everybody who tries, and the objects of a victim."""

    people: dict[str, Person]
    anonymous: Browser
    root: Browser
    victim: Person
    objects: dict[str, int | str]
    pats: dict[str, str]

    def path(self, route: Route) -> str:
        target = route["area"] + route["pattern"]
        if "{id}" in target:
            key = route["owner"] or route["area"]
            assert key in self.objects, f"no object to try {name_of(route)} on: extend cast()"
            target = target.replace("{id}", str(self.objects[key]))
        if "{name}" in target:
            key = route["area"] + "/{name}"
            assert key in self.objects, f"no object to try {name_of(route)} on: extend cast()"
            target = target.replace("{name}", str(self.objects[key]))
        return target + QUERIES.get(target, "")

    def ask(self, browser: Browser, route: Route, token: str = "") -> Reply:
        return browser.api(route["method"], self.path(route), STRAY, token)

    def pat(self, scope: str) -> str:
        """A token of root's with this scope; one person has at most twenty."""
        if scope not in self.pats:
            for row in self.root.api("GET", "account/pats").json["rows"][15:]:
                done = self.root.api("POST", f"account/pats/{row['id']}/revoke")
                assert done.status == 200, done.text
                self.pats.pop(row["name"], None)
            made = self.root.api(
                "POST",
                "account/pats",
                {
                    "name": scope,
                    "scopes": [scope],
                    "expires_at": "2099-01-01T00:00:00Z",
                    "password": PASSWORD,
                },
            )
            assert made.status == 201, made.text
            self.pats[scope] = made.json["token"]
        return self.pats[scope]


@pytest.fixture(scope="module")
def cast(console: ConsoleApache, stack: Stack) -> Iterator[Cast]:
    root = console.browser()
    assert root.login("admin", PASSWORD).status == 200
    people = {}
    number = next(numbers)  # other modules use this cast too, each its own
    for role in ("user", "admin", "victim"):
        name, password = f"matrix-{role}-{number}", "correct horse battery"
        made = root.api(
            "POST",
            "users",
            {
                "username": name,
                "password": password,
                "role": "admin" if role == "admin" else "user",
                "group_name": "default",
            },
        )
        browser = console.browser()
        assert browser.login(name, password).status == 200
        people[role] = Person(int(made.json["id"]), name, password, browser)
    victim = people.pop("victim")
    stack.site.main_sql(
        "INSERT INTO pats (user_id, fingerprint, name, scopes, authver)"
        f" VALUES ({victim.id}, SHA2('{victim.name}', 256), 'x', 'profile:read', 1)"
    )
    token = stack.site.ctl("token", "create", "--user", victim.name)
    channel = stack.channel(f"matrix-{number}", ["m-matrix"])
    request = f"00000000-0000-7000-8000-{number:012x}"
    stack.site.log_sql(
        "INSERT INTO request_log (request_id, created_at) VALUES"
        f" (UNHEX(REPLACE('{request}', '-', '')), '1970-01-01 00:00:01')"
    )
    objects: dict[str, int | str] = {
        "users": victim.id,
        "token": int(token["id"]),
        "tokens": int(token["id"]),
        "channels": channel,
        "session": victim.browser.api("GET", "account/sessions").json["rows"][0]["id"],
        "pat": int(stack.site.main_sql("SELECT MAX(id) FROM pats")[0][0]),
        "channels/{name}": stack.site.ctl("key", "list", str(channel))["rows"][0]["id"],
        "groups/{name}": "default",
        "assets/{name}": "console.css",
        "logs/{name}": request,
        "settings/{name}": "retry.attempts",
    }
    yield Cast(people, console.browser(), root, victim, objects, {})


def is_let_in(route: Route, reply: Reply) -> bool:
    if route["method"] == "POST":
        return reply.status == 400 and reply.json["error"]["code"] == "unknown_field"
    return reply.status == 200


def allowed(route: Route, role: str) -> bool:
    return ROLES.index(role) >= ROLES.index(route["role"])


@pytest.mark.parametrize("route", routes(), ids=name_of)
def test_only_those_who_may_are_let_in(cast: Cast, route: Route) -> None:
    public = route["role"] == ""
    reply = cast.ask(cast.anonymous, route)
    assert is_let_in(route, reply) if public else reply.status == 401, reply.text
    for role, browser in (
        ("user", cast.people["user"].browser),
        ("admin", cast.people["admin"].browser),
        ("root", cast.root),
    ):
        reply = cast.ask(browser, route)
        if not allowed(route, role):
            assert reply.status == 403, f"{role}: {reply.text}"
        elif route["owner"] in ("session", "pat") or (route["owner"] == "token" and role == "user"):
            assert reply.status == 404, f"{role} on another's object: {reply.text}"
        else:
            assert is_let_in(route, reply), f"{role}: {reply.status} {reply.text}"
    check_tokens(cast, route, public)


def check_tokens(cast: Cast, route: Route, public: bool) -> None:
    other = "price:read" if route["scope"] != "price:read" else "profile:read"
    if public or route["scope"] == "*":
        return
    reply = cast.ask(cast.anonymous, route, cast.pat(other))
    assert reply.status == 403 and reply.json["error"]["code"] == "scope_missing", reply.text
    if route["scope"] is not None and route["owner"] is None:
        reply = cast.ask(cast.anonymous, route, cast.pat(route["scope"]))
        assert is_let_in(route, reply), reply.text


def test_what_has_no_row_is_refused(cast: Cast) -> None:
    for path in ("users/1/secrets", "nothing", "users/1/", "users/01x", "users/-1"):
        assert cast.root.api("GET", path).status == 404, path
    for method in ("PUT", "DELETE", "PATCH"):
        assert cast.root.api(method, "users/1").status in (404, 405), method


def test_every_row_names_a_scope_that_is_a_permission() -> None:
    table = routes()
    words = {route["permission"] for route in table}
    for route in table:
        assert route["scope"] in (None, "*") or route["scope"] in words, name_of(route)
        if route["method"] == "POST":
            assert route["permission"].endswith("write") or not route["role"] or (
                route["handler"] == "page_logout"
            ), f"{name_of(route)} changes something with a right to read"


def test_a_handler_without_a_row_does_not_compile(tmp_path) -> None:
    stray = tmp_path / "stray.c"
    stray.write_text(
        '#include "admin-cgi/pages/pages.h"\n'
        "enum tg_class page_stray(struct web_page *page)\n{\n    (void)page;\n"
        "    return TG_OK;\n}\n"
    )
    command = ["gcc", "-std=c11", "-D_GNU_SOURCE", f"-I{SOURCE}", "-fsyntax-only", str(stray)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "page_stray" in done.stderr
    stray.write_text('#include "admin-cgi/pages/pages.h"\nextern int unused;\n')
    assert subprocess.run(command, capture_output=True).returncode == 0


def test_a_token_never_does_more_than_its_owner(
    root: Browser, people: Callable[..., Person]
) -> None:
    person = people("admin")
    wish = {
        "name": "x",
        "scopes": ["user:read", "option:write"],
        "expires_at": "2099-01-01T00:00:00Z",
        "password": person.password,
    }
    answer = person.browser.api("POST", "account/pats", wish)
    assert answer.status == 422 and "scopes" in answer.json["error"]["fields"]
    wish["scopes"] = ["user:read"]
    token = person.browser.api("POST", "account/pats", wish).json["token"]
    browser = Browser(person.browser.port)
    assert browser.api("GET", "users", token=token).status == 200
    deny = {"permission": "user:read", "effect": "deny"}
    assert root.api("POST", f"users/{person.id}/permissions", deny).status == 200
    assert browser.api("GET", "users", token=token).status == 403
    assert root.api("POST", f"users/{person.id}", {"role": "user"}).status == 200
    assert browser.api("GET", "account", token=token).status == 401
