"""What an attacker tries at the console's door (the S numbers are those of the security checks)."""

from __future__ import annotations

import fcntl
import json
import re
import resource
import time
from collections.abc import Callable
from urllib.parse import quote, urlencode

import pytest

from conftest import ADMIN, PASSWORD, Person, numbers
from harness.console import BASE, Browser, ConsoleApache, Reply, run_cgi
from harness.gateway import SOURCE, render
from harness.stack import Stack
from test_matrix import name_of, routes

FORM = "application/x-www-form-urlencoded"
QUOTES = [
    "' OR '1'='1", "x'; DROP TABLE users;-- ", '"', "\\", "1 UNION SELECT 1", "`", "%", "_",
    "1; SELECT SLEEP(5)", "/*", "\u2019", "-1", "99999999999999999999", "0x1", "\x7f", "a" * 900,
]  # fmt: skip


# --- S13: a change that nobody wanted -------------------------------------------------------------


def test_no_form_is_taken_without_its_token(root: Browser, people: Callable[..., Person]) -> None:
    stranger = people()
    stranger.browser.visit(BASE + "account.cgi")
    foreign = stranger.browser.csrf
    posts = [route for route in routes() if route["method"] == "POST" and route["role"]]
    assert len(posts) > 10
    for route in posts:
        path = route["area"] + ".cgi" + route["pattern"].replace("{id}", "1")
        path = BASE + path.replace("{name}", "default")
        for token in ("", foreign, "0" * 64):
            reply = root.post(path, {"csrf": token})
            assert reply.status == 403, f"{name_of(route)} with {token!r}: {reply.status}"
    root.visit(BASE + "groups.cgi/new")
    fields = {**root.form("groups.cgi")["fields"], "name": f"g{next(numbers)}"}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "multipart/form-data; boundary=x"},
    ):
        assert root.post(BASE + "groups.cgi", fields, **headers).status == 403, headers
    own = f"http://127.0.0.1:{root.port}"
    assert root.post(BASE + "groups.cgi", fields, Origin=own).status == 303


def test_the_api_takes_a_session_from_this_site_only(root: Browser) -> None:
    body = {"ratio": "1"}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "", "Sec-Fetch-Site": "cross-site"},
        {"Origin": ""},
        {"Content-Type": "text/plain"},
    ):
        assert root.api("POST", "groups/default", body, **headers).status == 403, headers
    sent = {"Origin": "", "Sec-Fetch-Site": "same-origin"}
    assert root.api("POST", "groups/default", body, **sent).status == 200


def test_the_login_form_has_a_token_too(console: ConsoleApache) -> None:
    browser, other = console.browser(), console.browser()
    browser.visit(BASE + "login.cgi")
    other.visit(BASE + "login.cgi")
    fields = {"username": ADMIN, "password": PASSWORD}
    assert browser.post(BASE + "login.cgi", {**fields, "csrf": other.csrf}).status == 403
    assert browser.post(BASE + "login.cgi", fields).status == 403


# --- S14: scripts in stored texts -----------------------------------------------------------------


def test_stored_payloads_stay_text(root: Browser) -> None:
    payload = "\"><script>alert(1)</script><img src=x onerror=a()>' on='x"
    name = f"xss-{next(numbers)}"
    made = root.api("POST", "groups", {"name": name, "ratio": "1", "description": payload})
    assert made.status == 201
    for path in ("groups.cgi", f"groups.cgi/{name}", f"groups.cgi?search={quote(payload[:60])}"):
        page = root.get(BASE + path).text
        assert "<script>alert" not in page and "<img src=x" not in page, path
    assert root.api("GET", f"groups/{name}").json["description"] == payload


def test_every_answer_carries_what_keeps_a_page_safe(root: Browser) -> None:
    for reply in (
        root.get(BASE + "account.cgi"),
        root.get(BASE + "users.cgi/nothing"),
        root.api("GET", "users"),
        root.get(BASE + "assets.cgi/console.css"),
    ):
        policy = reply.header("content-security-policy") or ""
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert reply.header("x-content-type-options") == "nosniff"
        assert reply.header("access-control-allow-origin") is None
    assert root.get(BASE + "account.cgi").header("cache-control") == "no-store"


def test_pages_hold_no_inline_script_or_style(root: Browser) -> None:
    for path in ("account.cgi", "users.cgi", "groups.cgi/new", "login.cgi", "users.cgi/1"):
        page = root.get(BASE + path).text
        assert not re.search(r"<script(?![^>]*\ssrc=)", page), path
        assert not re.search(r"\s(on\w+|style)\s*=", page), path


# --- S15: cookies under TLS -----------------------------------------------------------------------


def test_under_tls_cookies_are_bound_to_the_host(console: ConsoleApache, stack: Stack) -> None:
    reply = run_cgi(stack.site, "login.cgi", HTTPS="on")
    assert reply.status == 200
    (cookie,) = reply.cookies
    assert cookie.startswith("__Host-tg_visitor=")
    assert "; Secure" in cookie and "Path=/" in cookie
    assert reply.header("strict-transport-security")
    told = run_cgi(stack.site, "login.cgi", HTTP_X_FORWARDED_PROTO="https")
    assert "Secure" not in told.cookies[0], "a header of anybody's is believed"


# --- S9, S16: guessing ----------------------------------------------------------------------------


def guess(stack: Stack, name: str, password: str, address: str) -> Reply:
    body = json.dumps({"username": name, "password": password}).encode()
    return run_cgi(
        stack.site,
        "login.cgi",
        "POST",
        body,
        REMOTE_ADDR=address,
        CONTENT_TYPE="application/json",
        HTTP_ACCEPT="application/json",
        HTTP_ORIGIN="http://console.example",
    )


def backdate(stack: Stack, seconds: int = 61) -> None:
    """The wait between two attempts is over."""
    stack.site.main_sql(f"UPDATE login_attempts SET at = at - INTERVAL {seconds} SECOND")


def test_an_account_takes_twenty_wrong_guesses_an_hour(
    people: Callable[..., Person], stack: Stack
) -> None:
    person = people(log_in=False)
    checked = refused = 0
    for number in range(24):
        reply = guess(stack, person.name, "wrong", f"198.51.100.{number}")
        assert reply.status in (401, 429)
        checked += reply.status == 401
        refused += reply.status == 429
        backdate(stack)
    assert (checked, refused) == (20, 4)
    stack.site.main_sql("UPDATE login_attempts SET at = at - INTERVAL 1 HOUR")
    assert guess(stack, person.name, person.password, "198.51.100.1").status == 200


def test_the_wait_grows_and_an_address_has_its_own_limit(
    people: Callable[..., Person], stack: Stack
) -> None:
    person = people(log_in=False)
    codes = [guess(stack, person.name, "wrong", "203.0.113.9").status for _ in range(7)]
    assert codes[:5] == [401] * 5 and 429 in codes[5:]
    backdate(stack)
    for _ in range(5):
        guess(stack, person.name, "wrong", "203.0.113.9")
        backdate(stack)
    assert guess(stack, person.name, person.password, "203.0.113.9").status == 429
    assert guess(stack, person.name, person.password, "203.0.113.10").status == 200


def test_unknown_names_get_the_same_answer_and_the_same_work(
    people: Callable[..., Person], stack: Stack
) -> None:
    person = people(log_in=False)

    def cost(name: str) -> tuple[float, Reply]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        reply = guess(stack, name, "wrong password", f"192.0.2.{next(numbers) % 250}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        backdate(stack)
        return after.ru_utime - before.ru_utime, reply

    known = [cost(person.name) for _ in range(4)]
    unknown = [cost(f"nobody-{next(numbers)}") for _ in range(4)]
    bodies = {reply.body for _, reply in [*known, *unknown]}
    assert len(bodies) == 1 and known[0][1].status == 401
    least = min(seconds for seconds, _ in known)
    assert min(seconds for seconds, _ in unknown) > 0.5 * least


def test_four_passwords_at_once_and_no_more(people: Callable[..., Person], stack: Stack) -> None:
    person = people(log_in=False)
    folder = SOURCE / "admin-cgi" / "templates"
    held = [open(folder / f"{name}.html") for name in ("layout", "login", "error", "form")]
    for file in held:
        fcntl.flock(file, fcntl.LOCK_EX)
    busy = guess(stack, person.name, person.password, "192.0.2.1")
    assert busy.status == 503 and busy.json["error"]["code"] == "login_busy"
    held.pop().close()
    assert guess(stack, person.name, person.password, "192.0.2.1").status == 200
    for file in held:
        file.close()


# --- S17, S18: texts that reach the database ------------------------------------------------------


@pytest.mark.parametrize("path", ["users", "groups"])
def test_no_text_becomes_sql(root: Browser, path: str) -> None:
    fields = next(
        route["fields"]
        for route in routes()
        if route["area"] == path and route["method"] == "GET" and route["pattern"] == ""
    )
    for name in [*fields, "sort", "after", "limit"]:
        for value in QUOTES:
            reply = root.api("GET", f"{path}?{urlencode({name: value})}")
            assert reply.status in (200, 400, 422), f"{name}={value!r}: {reply.text}"


def test_no_token_becomes_sql(console: ConsoleApache) -> None:
    browser = console.browser()
    for value in [*QUOTES, "tgp_" + "a" * 43, "tgp_" + "'" * 43, "sk-tg" + "a" * 43]:
        token = re.sub(r"[^ -~]", "", value).strip() or "x"
        reply = browser.api("GET", "users", token=token)
        assert reply.status == 401, token
        assert reply.json["error"]["code"] == "invalid_token"


def test_wildcards_are_letters(root: Browser) -> None:
    started = time.monotonic()
    reply = root.api("GET", f"users?{urlencode({'search': '%_' * 32})}")
    assert reply.status == 200 and reply.json["rows"] == []
    assert time.monotonic() - started < 10
    assert root.api("GET", "users?search=%25").json["rows"] == []


# --- S19, S29: paths and hosts --------------------------------------------------------------------


def test_assets_are_those_of_a_table(console: ConsoleApache, stack: Stack) -> None:
    for name in ("../../common/base/base.h", "..%2f..%2fx", "/etc/passwd", "console.css%00", "."):
        reply = console.browser().get(BASE + "assets.cgi/" + name)
        assert reply.status in (400, 404), name
    for info in ("/../../conf/tollgate.conf", "/..", "/console.css/..", "/\x01", "/a\\b"):
        reply = run_cgi(stack.site, "assets.cgi", PATH_INFO=info)
        assert reply.status in (400, 404), info
    assert console.browser().get(BASE + "assets.cgi/bootstrap.css").status == 200
    assert console.browser().get(BASE + "assets.cgi/chart.js").status == 200


def test_no_page_repeats_the_host_header(console: ConsoleApache, stack: Stack) -> None:
    evil = "evil.example"
    reply = run_cgi(stack.site, "login.cgi", HTTP_HOST=evil)
    assert reply.status == 200 and evil not in reply.text
    for host in ("", "a b", "a/b", "a@b", "a\r\nX: y", "<script>", "a" * 300):
        assert run_cgi(stack.site, "login.cgi", HTTP_HOST=host).status == 400, host
    moved = run_cgi(stack.site, "users.cgi", HTTP_HOST=evil)
    assert moved.status == 303
    assert moved.header("location") == BASE + "login.cgi?next=users.cgi"


def test_hosts_may_be_named(stack: Stack, tmp_path) -> None:
    conf = tmp_path / "hosts.conf"
    conf.write_text(
        render({**stack.site.settings, "console.hosts": "console.example, [::1],10.0.0.1"})
    )

    def status(host: str) -> int:
        return run_cgi(
            stack.site, "login.cgi", TOLLGATE_CONF=str(conf), HTTP_HOST=host
        ).status

    for host in ("console.example", "Console.Example:8443", "[::1]:8080", "10.0.0.1"):
        assert status(host) == 200, host
    for host in ("console.example.evil", "evil", "[::2]", "10.0.0.10", "sole.example", ","):
        assert status(host) == 400, host


def test_the_way_back_after_a_login_is_a_page_of_ours(stack: Stack, root: Browser) -> None:
    for next_page in ("https://evil.example", "//evil.example", "users.cgi/../..", "a.cgi\\x",
                      "javascript:alert(1)", "login.cgi/out", "users.cgi?x"):  # fmt: skip
        reply = run_cgi(stack.site, f"login.cgi?next={quote(next_page)}")
        assert 'name="next" value=""' in reply.text, next_page
    reply = run_cgi(stack.site, "login.cgi?next=users.cgi%2F7")
    assert 'name="next" value="users.cgi/7"' in reply.text


# --- S35: what an error tells ---------------------------------------------------------------------

LEAKS = re.compile(r"SELECT|INSERT|mysql|mariadb|/tmp|/work|\.c:\d|errno|argon2|\$v=", re.I)


@pytest.mark.complains("ERROR console")
def test_errors_have_one_shape_and_tell_nothing(
    root: Browser, people: Callable[..., Person], console: ConsoleApache, stack: Stack, tmp_path
) -> None:
    user = people().browser
    away = tmp_path / "away.conf"
    settings = {**stack.site.settings, "database.main": "mysql://x@localhost/x?socket=/tmp/none"}
    away.write_text(render(settings))
    wrong = tmp_path / "wrong.conf"
    wrong.write_text("nonsense")
    cases = {
        "no_route": root.api("GET", "users/nothing/at/all"),
        "login_required": console.browser().api("GET", "users"),
        "permission_denied": user.api("GET", "users"),
        "user_not_found": root.api("GET", "users/999999"),
        "method_not_allowed": root.api("PUT", "users"),
        "unknown_field": root.api("POST", "groups", {"x": "y"}),
        "invalid_fields": root.api("POST", "groups", {"name": "x"}),
        "last_root": root.api("POST", "users/1", {"role": "user"}),
        "invalid_json": root.request(
            "POST",
            "/api/groups",
            b"{",
            {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{root.port}"},
        ),
        "invalid_sort": root.api("GET", "users?sort=password_hash"),
        "db_down": run_cgi(
            stack.site,
            "groups.cgi",
            TOLLGATE_CONF=str(away),
            HTTP_ACCEPT="application/json",
            HTTP_AUTHORIZATION="Bearer tgp_" + "a" * 43,
        ),
    }
    for code, reply in cases.items():
        assert set(reply.json) == {"error"}, code
        assert {"status", "code", "message"} <= set(reply.json["error"]), code
        assert reply.json["error"]["code"] == code, reply.text
        assert reply.status == reply.json["error"]["status"]
        assert not LEAKS.search(reply.text), reply.text
    assert cases["db_down"].status == 503
    assert "the main database" in cases["db_down"].json["error"]["message"]
    broken = run_cgi(stack.site, "groups.cgi", TOLLGATE_CONF=str(wrong))
    assert broken.status == 500 and not LEAKS.search(broken.text)


def test_large_and_crowded_requests_are_refused(root: Browser) -> None:
    root.visit(BASE + "groups.cgi/new")
    csrf = root.csrf
    many = {f"x{number}": "1" for number in range(300)}
    assert root.post(BASE + "groups.cgi", {"csrf": csrf, **many}).status == 400
    large = root.post(BASE + "groups.cgi", {"csrf": csrf, "description": "x" * (1 << 20)})
    assert large.status == 413
