"""The web servers, private and on free ports, with the files of httpd-examples as they stand."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from harness.gateway import SOURCE
from harness.httpc import HttpClient
from harness.procs import Process, free_port

QUICKSTART = SOURCE / "conf" / "quickstart.d"


class WebServer:
    """`client` sends requests through it to the FastCGI socket given at the start."""

    name = ""

    def __init__(
        self, directory: Path, fcgi_socket: Path, console: dict[str, str] | None = None
    ) -> None:
        """`console`: the variables of the console's example (TOLLGATE_CONSOLE, …)."""
        self.console = console or {}
        self.directory = directory / self.name
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o755)
        self.fcgi_socket = fcgi_socket
        self.port = free_port()
        self.client = HttpClient(self.port)
        self.process = self.make()

    def make(self) -> Process:
        raise NotImplementedError

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answers(self) -> bool:
        try:
            return self.client.request("GET", "/").status > 0
        except OSError:
            return False

    def start(self) -> None:
        if os.geteuid() == 0:
            self.open_way()
        self.process.start(self.answers)

    def stop(self) -> None:
        self.process.stop()

    def open_way(self) -> None:
        """Started by root, the workers are www-data: let them reach socket and folder."""
        for path in (self.fcgi_socket, *self.fcgi_socket.parents, *self.directory.parents):
            if not path.exists() or path.stat().st_mode & 0o001:
                continue
            path.chmod(path.stat().st_mode | (0o006 if path.is_socket() else 0o011))


class Apache(WebServer):
    """The example is Included from a minimal server configuration, the one of conf/quickstart."""

    name = "apache"
    program = "/usr/sbin/apache2"

    def make(self) -> Process:
        (self.directory / "htdocs").mkdir(exist_ok=True)
        env = {
            "TG_WEB": str(self.directory),
            "TG_PORT": str(self.port),
            "TG_SOCKET": str(self.fcgi_socket),
            "TG_TOP": str(SOURCE),
            "TG_CONSOLE": self.console.get("TOLLGATE_CONSOLE", ""),
        }
        conf = QUICKSTART / "apache.conf"
        root = ["-D", "ROOT"] if os.geteuid() == 0 else []
        console = ["-D", "CONSOLE"] if self.console else []
        argv = [self.program, "-f", str(conf), *root, *console, "-D", "FOREGROUND"]
        return Process("apache2", argv, self.directory, env=env)


class Caddy(WebServer):
    """The example Caddyfile as it stands; address and socket come from its own variables."""

    name = "caddy"

    def make(self) -> Process:
        example = SOURCE / "httpd-examples" / "caddy" / "Caddyfile"
        env = {
            "TOLLGATE_SITE": f"http://127.0.0.1:{self.port}",
            "TOLLGATE_SOCKET": str(self.fcgi_socket),
            "TOLLGATE_CADDY_ADMIN": "off",
            "HOME": str(self.directory),
            "XDG_CONFIG_HOME": str(self.directory),
            "XDG_DATA_HOME": str(self.directory),
            **self.console,
        }
        program = shutil.which("caddy") or "/usr/bin/caddy"
        argv = [program, "run", "--config", str(example), "--adapter", "caddyfile"]
        return Process("caddy", argv, self.directory, env=env)


class Nginx(WebServer):
    """The example is included from the server block of conf/quickstart's nginx.conf."""

    name = "nginx"
    program = "/usr/sbin/nginx"

    def make(self) -> Process:
        (self.directory / "htdocs").mkdir(exist_ok=True)
        text = (QUICKSTART / "nginx.conf").read_text()
        fields = {
            "PORT": str(self.port),
            "SOCKET": str(self.fcgi_socket),
            "TOP": str(SOURCE),
            "USER": "user www-data;" if os.geteuid() == 0 else "",
            "CONSOLE": self.console.get("TOLLGATE_CONSOLE", "none"),
            "CGI": self.console.get("TOLLGATE_CGI", "none"),
            "CONF": self.console.get("TOLLGATE_CONF", "none"),
        }
        for name, value in fields.items():
            text = text.replace(f"@{name}@", value)
        conf = self.directory / "nginx.conf"
        conf.write_text(text)
        argv = [self.program, "-p", str(self.directory), "-c", str(conf), "-e", "stderr"]
        return Process("nginx", argv, self.directory)


class Lighttpd(WebServer):
    """The example is included from conf/quickstart's lighttpd.conf; the socket is its variable."""

    name = "lighttpd"
    program = "/usr/sbin/lighttpd"

    def make(self) -> Process:
        (self.directory / "htdocs").mkdir(exist_ok=True)
        env = {
            "TG_WEB": str(self.directory),
            "TG_PORT": str(self.port),
            "TG_TOP": str(SOURCE),
            "TOLLGATE_SOCKET": str(self.fcgi_socket),
            **self.console,
        }
        argv = [self.program, "-D", "-f", str(QUICKSTART / "lighttpd.conf")]
        return Process("lighttpd", argv, self.directory, env=env)


SERVERS: dict[str, type[WebServer]] = {
    "apache": Apache,
    "caddy": Caddy,
    "nginx": Nginx,
    "lighttpd": Lighttpd,
}
