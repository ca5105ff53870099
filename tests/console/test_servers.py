"""The console behind every web server of httpd-examples: plain CGI, FastCGI, fcgiwrap."""

from __future__ import annotations

import http.client
import os
import signal
from collections.abc import Iterator

import pytest

from conftest import ADMIN, PASSWORD, numbers
from harness.console import BASE, Browser, ConsoleApache, ConsoleFastCgi
from harness.fcgi import FcgiClient
from harness.procs import children, eventually
from harness.stack import Stack
from harness.webservers import SERVERS

WAYS = ["apache-cgi", "apache-fastcgi", "caddy-fastcgi", "caddy-fcgiwrap", "nginx-fastcgi",
        "nginx-fcgiwrap", "lighttpd-fastcgi"]  # fmt: skip


@pytest.fixture(scope="module", params=WAYS)
def port(
    request: pytest.FixtureRequest,
    stack: Stack,
    console: ConsoleApache,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[int]:
    name, _, how = request.param.partition("-")
    if how == "cgi":
        yield console.port
        return
    directory = stack.directory / request.param
    directory.mkdir()
    program = ConsoleFastCgi(stack.site, directory, wrapped=how == "fcgiwrap")
    program.start()
    server = SERVERS[name](directory, stack.site.socket, program.variables)
    server.start()
    yield server.port
    server.stop()
    program.stop()


def test_pages_forms_and_the_api_work(port: int) -> None:
    browser = Browser(port)
    assert browser.get("/tollgate/").status in (301, 302, 303)
    page = browser.visit(BASE + "groups.cgi")
    assert page.status == 200 and "Log in" in page.text
    page = browser.submit("login.cgi", username=ADMIN, password=PASSWORD)
    assert page.status == 200 and "<h1>Groups</h1>" in page.text, "back where one wanted to go"
    name = f"way-{next(numbers)}"
    browser.visit(BASE + "groups.cgi/new")
    page = browser.submit("groups.cgi", name=name, ratio="2", description="\u00e4 & <b>")
    assert page.status == 200 and "The group is saved." in page.text
    reply = browser.api("GET", f"groups/{name}")
    assert reply.status == 200 and reply.json["description"] == "\u00e4 & <b>"
    assert reply.header("content-type") == "application/json"
    assert browser.api("POST", f"groups/{name}", {"ratio": "3"}).json["ratio"] == "3"
    found = browser.get(BASE + f"groups.cgi?search={name}&after=&limit=5")
    assert name in found.text and reply.header("status") is None
    style = browser.get(BASE + "assets.cgi/console.css")
    assert style.status == 200 and "text/css" in (style.header("content-type") or "")
    assert browser.get(BASE + "nothing.cgi").status in (403, 404)
    assert browser.api("GET", "nothing").status in (403, 404)


def test_authorization_arrives(port: int) -> None:
    browser = Browser(port)
    assert browser.login(ADMIN, PASSWORD).status == 200
    for row in browser.api("GET", "account/pats").json["rows"][15:]:
        assert browser.api("POST", f"account/pats/{row['id']}/revoke").status == 200
    made = browser.api(
        "POST",
        "account/pats",
        {
            "name": "way",
            "scopes": ["group:read"],
            "expires_at": "2099-01-01T00:00:00Z",
            "password": PASSWORD,
        },
    )
    assert made.status == 201, made.text
    assert Browser(port).api("GET", "groups", token=made.json["token"]).status == 200
    assert Browser(port).api("GET", "users", token=made.json["token"]).status == 403
    # An account has at most 20 of them.
    assert browser.api("POST", f"account/pats/{made.json['id']}/revoke").status == 200


def test_other_addresses_cannot_be_claimed(port: int, stack: Stack) -> None:
    browser = Browser(port)
    for header in ("X-Forwarded-For", "X_Forwarded_For"):
        reply = browser.api(
            "POST", "login", {"username": "x", "password": "y"}, **{header: "6.6.6.6"}
        )
        assert reply.status in (401, 429)
    rows = stack.site.main_sql("SELECT DISTINCT address FROM login_attempts WHERE account = 'x'")
    assert rows == [["127.0.0.1"]]
    stack.site.main_sql("DELETE FROM login_attempts")


def test_a_large_body_gets_a_plain_answer(port: int) -> None:
    browser = Browser(port)
    assert browser.login(ADMIN, PASSWORD).status == 200
    body = {"name": "x", "ratio": "1", "description": "x" * (1 << 20)}
    assert browser.api("POST", "groups", body).status == 413


def test_a_stray_program_name_starts_nothing(port: int) -> None:
    browser = Browser(port)
    for path in ("login", "../tollgatectl", "%2e%2e/tollgatectl", "login.cgi.bak", "Login.cgi"):
        reply = browser.get(BASE + path)
        assert reply.status in (400, 403, 404) or reply.body == b"", path


def test_the_server_of_its_own_reads_its_conf_again(stack: Stack) -> None:
    directory = stack.directory / "reload"
    directory.mkdir()
    program = ConsoleFastCgi(stack.site, directory)
    program.start()
    client = FcgiClient(f"unix:{program.socket}")

    def status() -> int:
        headers = [("Host", "other.example")]
        return client.request("GET", "/api/login", headers).status

    try:
        eventually("it answers", lambda: status() == 200)
        before = set(children(program.process.pid))
        stack.site.write_conf(console__hosts="console.example")
        program.process.signal(signal.SIGHUP)
        eventually("it knows its name", lambda: status() == 400)
        eventually("all are new", lambda: not before & set(children(program.process.pid)))
        os.kill(next(iter(children(program.process.pid))), signal.SIGKILL)
        eventually("the killed one is replaced", lambda: len(children(program.process.pid)) == 2)
    finally:
        stack.site.write_conf()
        program.stop()


def test_it_ends_whatever_it_is_doing_when_it_is_told_to(stack: Stack) -> None:
    """Told to reload and, while it does, to end: the second signal is not lost."""
    directory = stack.directory / "told"
    directory.mkdir()
    for _ in range(10):
        program = ConsoleFastCgi(stack.site, directory)
        program.start()
        program.process.signal(signal.SIGHUP)
        program.stop()


@pytest.mark.parametrize(
    "path",
    [
        "/tollgate/nothing.cgi",
        "/tollgate/../../etc/passwd",
        "/tollgate/..%2f..%2fetc/passwd",
        "/tollgate/made",
        "/tollgate/Account.cgi",
        "/api/../tollgate.conf",
        "/api/made",
    ],
)
def test_nothing_else_is_run_or_shown(port: int, path: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    # Caddy answers what nobody handles with nothing at all.
    assert answer.status in (303, 400, 401, 403, 404) or data == b"", data[:200]
    assert b"root:" not in data and b"ELF" not in data
