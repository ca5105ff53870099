"""The console behind nginx (fcgiwrap) and lighttpd; under Apache it has a suite of its own."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.console import BASE, Browser, let_www_data_read
from harness.gateway import SOURCE, Site
from harness.httpc import HttpClient
from harness.procs import Process
from harness.stack import Stack
from harness.webservers import QUICKSTART, Lighttpd, Nginx, WebServer

ADMIN, PASSWORD = "admin", "an admin's password"
EXAMPLES = SOURCE / "httpd-examples"


class NginxConsole(Nginx):
    """With fcgiwrap beside it, as www-data where root can make it so."""

    def __init__(self, directory: Path, site: Site) -> None:
        self.site = site
        super().__init__(directory, site.socket)

    def make(self) -> Process:
        folder = self.directory / "wrap"
        folder.mkdir()
        socket = folder / "s"
        drop = []
        if os.geteuid() == 0:
            os.chown(folder, pwd.getpwnam("www-data").pw_uid, -1)
            drop = ["setpriv", "--reuid", "www-data", "--regid", "www-data", "--init-groups"]
        argv = [*drop, "/usr/sbin/fcgiwrap", "-c", "4", "-s", f"unix:{socket}"]
        env = {"TOLLGATE_DATADIR": str(SOURCE)}
        self.wrap = Process("fcgiwrap", argv, self.directory, env=env)
        self.wrap_socket = socket
        (self.directory / "more.conf").write_text(
            f"include {EXAMPLES}/nginx/console.conf;\n"
            f"set $tollgate_cgi {self.site.build}/admin-cgi/cgi-bin;\n"
            f"set $tollgate_conf {self.site.conf};\n"
            f"set $tollgate_fcgiwrap unix:{socket};\n"
        )
        return super().make()

    def start(self) -> None:
        if os.geteuid() == 0:
            self.open_way()
        self.wrap.start(self.wrap_socket.exists)
        super().start()

    def stop(self) -> None:
        super().stop()
        self.wrap.stop()


class LighttpdConsole(Lighttpd):
    def __init__(self, directory: Path, site: Site) -> None:
        self.site = site
        super().__init__(directory, site.socket)

    def make(self) -> Process:
        process = super().make()
        conf = self.directory / "lighttpd.conf"
        conf.write_text(
            f'include "{QUICKSTART}/lighttpd.conf"\n'
            f'include "{EXAMPLES}/lighttpd/console.conf"\n'
            '$HTTP["url"] =~ "^/tollgate/" {\n'
            f'    setenv.add-environment = ( "TOLLGATE_DATADIR" => "{SOURCE}" )\n}}\n'
        )
        process.argv[-1] = str(conf)
        process.env["TOLLGATE_CGI"] = f"{self.site.build}/admin-cgi/cgi-bin"
        process.env["TOLLGATE_CONF"] = str(self.site.conf)
        return process


@pytest.fixture(scope="module", params=[NginxConsole, LighttpdConsole], ids=["nginx", "lighttpd"])
def console(request: pytest.FixtureRequest, stack: Stack) -> Iterator[WebServer]:
    server = request.param(stack.directory / request.param.__name__.lower(), stack.site)
    if os.geteuid() == 0:
        let_www_data_read(stack.site)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def root(console: WebServer) -> Browser:
    browser = Browser(console.port)
    reply = browser.login(ADMIN, PASSWORD)
    assert reply.status == 200, reply.text[:500]
    return browser


def test_the_short_address_leads_to_the_login(console: WebServer) -> None:
    for path in ("/tollgate", "/tollgate/"):
        browser = Browser(console.port)
        reply = browser.visit(path)
        assert reply.status == 200
        assert browser.where.startswith(BASE + "login.cgi")


def test_pages_and_forms(root: Browser) -> None:
    reply = root.visit(BASE + "account.cgi")
    assert reply.status == 200 and ADMIN in reply.text
    assert (reply.header("content-type") or "").startswith("text/html")


@pytest.mark.parametrize("length", ["counted", "chunked"])
def test_the_api_is_the_same_programs(root: Browser, length: str) -> None:
    assert root.api("GET", "account").json["username"] == ADMIN
    name = f"group-{root.port}-{length}"
    made = root.api("POST", "groups", {"name": name, "ratio": "1.5"})
    assert made.status == 201, made.text
    assert root.api("GET", f"groups/{name}?a=b%2F").json["name"] == name
    assert root.api("GET", "groups/no-such-group").status == 404


def test_without_a_session_there_is_nothing(console: WebServer) -> None:
    browser = Browser(console.port)
    assert browser.api("GET", "account").status == 401
    assert browser.get(BASE + "groups.cgi").status == 303


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
def test_nothing_else_is_run_or_shown(console: WebServer, path: str) -> None:
    with console.client.connect("GET", path, [("Connection", "close")]) as sock:
        data = b""
        while piece := sock.recv(65536):
            data += piece
    assert int(data.split()[1]) in (303, 400, 401, 403, 404), data[:200]
    assert b"root:" not in data and b"ELF" not in data


def test_the_gateway_beside_it_serves(console: WebServer, stack: Stack) -> None:
    account = stack.account()
    account.client = HttpClient(console.port)
    assert account.chat().status == 200
