"""The console as CGI under Apache; a browser without scripts, and the API, as its clients."""

from __future__ import annotations

import grp
import http.client
import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

from harness.gateway import SOURCE, Site
from harness.procs import Process
from harness.webservers import Apache

BASE = "/tollgate/"
COMPLAINTS = re.compile(r"Sanitizer|runtime error|ERROR console|assertion", re.IGNORECASE)


@dataclass
class Reply:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return None

    @property
    def cookies(self) -> list[str]:
        return [value for key, value in self.headers if key.lower() == "set-cookie"]


class Forms(HTMLParser):
    """The forms of a page: action, and the values that their fields have."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[dict[str, Any]] = []
        self.select = ""
        self.area: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        a = {key: value or "" for key, value in attrs}
        if tag == "form":
            self.forms.append({"action": a.get("action", ""), "method": a["method"], "fields": {}})
            return
        if not self.forms:
            return
        fields = self.forms[-1]["fields"]
        if tag == "input" and (a.get("type") != "checkbox" or "checked" in a):
            fields[a["name"]] = a.get("value", "")
        elif tag == "select":
            self.select = a["name"]
            fields[self.select] = ""
        elif tag == "option" and "selected" in a:
            fields[self.select] = a.get("value", "")
        elif tag == "textarea":
            self.area = a["name"]
            fields[self.area] = ""

    def handle_data(self, data: str) -> None:
        if self.area is not None:
            self.forms[-1]["fields"][self.area] += data.removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.area = None


@dataclass
class Browser:
    """Keeps cookies, follows nothing by itself; `visit` and `submit` do what a person does."""

    port: int
    host: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    last: Reply | None = None
    where: str = BASE

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Host": self.host or f"127.0.0.1:{self.port}", **(headers or {})}
        if self.cookies and "Cookie" not in sent:
            sent["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        reply = Reply(response.status, list(response.getheaders()), response.read())
        connection.close()
        for cookie in reply.cookies:
            name, _, rest = cookie.partition("=")
            value = rest.split(";")[0]
            if value:
                self.cookies[name] = value
            else:
                self.cookies.pop(name, None)
        self.last = reply
        return reply

    def get(self, path: str, **headers: str) -> Reply:
        self.where = urljoin(self.where, path)
        return self.request("GET", self.where, headers={"Accept": "text/html", **headers})

    def visit(self, path: str) -> Reply:
        """GET, and on to where the answer sends."""
        reply = self.get(path)
        for _ in range(5):
            if reply.status != 303:
                break
            reply = self.get(reply.header("location") or "")
        return reply

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Reply:
        body = urlencode(fields).encode()
        return self.request(
            "POST",
            urljoin(self.where, path),
            body,
            {
                "Accept": "text/html",
                "Content-Type": "application/x-www-form-urlencoded",
                **headers,
            },
        )

    def forms(self) -> list[dict[str, Any]]:
        assert self.last is not None
        return Forms(self.last.text).forms

    def form(self, action: str) -> dict[str, Any]:
        """The form of the page in view whose action ends so."""
        found = [f for f in self.forms() if f["action"].endswith(action)]
        assert found, f"no form for {action} among {[f['action'] for f in self.forms()]}"
        return found[0]

    def submit(self, action: str, **changes: str) -> Reply:
        form = self.form(action)
        reply = self.post(form["action"], {**form["fields"], **changes})
        return self.visit(reply.header("location") or "") if reply.status == 303 else reply

    @property
    def csrf(self) -> str:
        return next(f["fields"]["csrf"] for f in self.forms() if "csrf" in f["fields"])

    def login(self, name: str, password: str) -> Reply:
        assert self.visit(BASE + "login.cgi").status == 200
        return self.submit("login.cgi", username=name, password=password)

    def api(
        self, method: str, path: str, value: Any = None, token: str = "", **headers: str
    ) -> Reply:
        """A call of the API; with the session's cookies unless a token is given."""
        sent = {"Accept": "application/json", **headers}
        if token:
            sent["Authorization"] = f"Bearer {token}"
            sent["Cookie"] = ""
        elif method != "GET" and "Origin" not in sent:
            sent["Origin"] = f"http://{self.host or f'127.0.0.1:{self.port}'}"
        body = None
        if method != "GET":
            sent.setdefault("Content-Type", "application/json")
            body = json.dumps(value if value is not None else {}).encode()
        return self.request(method, "/api/" + path, body, sent)


def let_www_data_read(site: Site) -> None:
    """The programs run as www-data: conf, secrets and passwords are for its group."""
    group = grp.getgrnam("www-data").gr_gid
    for path in (
        site.conf,
        site.directory / "console.secrets",
        site.mariadb.password_file,
        site.redis.password_file,
    ):
        os.chown(path, -1, group)
        path.chmod(0o640)
    for store in (site.mariadb, site.redis):
        folder = store.password_file.parent
        folder.chmod(folder.stat().st_mode | 0o011)
        for socket in (path for path in folder.iterdir() if path.is_socket()):
            socket.chmod(socket.stat().st_mode | 0o006)


class ConsoleApache(Apache):
    """Apache with the gateway and the console, by the two files of httpd-examples."""

    name = "console"

    def __init__(self, directory: Path, site: Site) -> None:
        self.site = site
        super().__init__(directory, site.socket)

    def make(self) -> Process:
        process = super().make()
        process.argv += ["-D", "CGI"]
        process.env.update(
            TG_CGI=str(self.site.build / "admin-cgi" / "cgi-bin"),
            TG_CONF=str(self.site.conf),
            TOLLGATE_DATADIR=str(SOURCE),
        )
        return process

    @property
    def error_log(self) -> Path:
        return self.directory / "apache2.log"

    def complaints(self, offset: int) -> list[str]:
        text = self.error_log.read_text(errors="replace") if self.error_log.exists() else ""
        return [line for line in text[offset:].splitlines() if COMPLAINTS.search(line)]

    def log_size(self) -> int:
        return len(self.error_log.read_text(errors="replace")) if self.error_log.exists() else 0

    def open_way(self) -> None:
        super().open_way()
        let_www_data_read(self.site)

    def browser(self) -> Browser:
        return Browser(self.port)


class ConsoleFastCgi:
    """tollgate-console as a server of its own, or fcgiwrap in front of the same programs."""

    def __init__(self, site: Site, directory: Path, wrapped: bool = False) -> None:
        self.socket = directory / ("wrap.sock" if wrapped else "console.sock")
        program = site.build / "admin-cgi" / "tollgate-console"
        argv = [str(program), "--listen", f"unix:{self.socket}", "--children", "2"]
        if wrapped:
            argv = ["/usr/sbin/fcgiwrap", "-f", "-c", "2", "-s", f"unix:{self.socket}"]
        env = {**site.env, "TOLLGATE_CONF": str(site.conf)}
        self.process = Process(argv[0].rpartition("/")[2], argv, directory, env=env)
        self.wrapped = wrapped
        self.variables = {
            "TOLLGATE_CONSOLE": str(self.socket),
            "TOLLGATE_CGI": str(site.build / "admin-cgi" / "cgi-bin"),
            "TOLLGATE_CONF": str(site.conf),
        }

    def start(self) -> None:
        self.process.start(self.socket.exists)
        self.socket.chmod(0o666)

    def stop(self) -> None:
        if self.wrapped:
            self.process.kill()  # fcgiwrap leaves its children behind when it is asked to end
        else:
            self.process.stop()


def run_cgi(site: Site, path: str, method: str = "GET", body: bytes = b"", **env: str) -> Reply:
    """One run of a program as a web server would start it, with variables of the test's choice.
    `path` is "users.cgi/7?search=x"."""
    target, _, query = path.partition("?")
    name, slash, rest = target.partition("/")
    variables = {
        **site.env,
        "TOLLGATE_CONF": str(site.conf),
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": BASE + name,
        "PATH_INFO": slash + rest,
        "REQUEST_URI": BASE + path,
        "QUERY_STRING": query,
        "REMOTE_ADDR": "192.0.2.7",
        "HTTP_HOST": "console.example",
        "CONTENT_LENGTH": str(len(body)),
        **env,
    }
    program = site.build / "admin-cgi" / "tollgate-console"
    done = subprocess.run([program], input=body, capture_output=True, env=variables, timeout=60)
    assert not COMPLAINTS.search(done.stderr.decode(errors="replace")) or "ERROR" in str(
        done.stderr
    ), done.stderr.decode()
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    headers = [
        (key, value.strip())
        for key, _, value in (line.partition(":") for line in head.decode().split("\r\n"))
    ]
    status = int(dict((key.lower(), value) for key, value in headers)["status"].split()[0])
    return Reply(status, headers, content)
