"""A site that Debian's own configuration of a web server serves, and the one line for Tollgate."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from harness.httpc import HttpClient
from harness.procs import Process, eventually

EXAMPLES = Path("/usr/share/tollgate/httpd-examples")
PAGE = b"<p>here before Tollgate</p>\n"
PATHS = ["/", "/page.html", "/missing", "/v2/page.html", "/healthz.html"]
Seen = dict[str, tuple[int, list[tuple[str, str]], bytes]]


class Site:
    """Started as Debian's unit starts it; `conf` is the file that gets the line."""

    conf = Path()
    root = Path("/var/www/html")
    line = ""
    before = ""  # the text that the line goes in front of

    def __init__(self) -> None:
        logs = Path("/srv/logs")
        logs.mkdir(exist_ok=True)
        self.process = Process(type(self).__name__.lower(), self.argv(), logs)
        (self.root / "v2").mkdir(parents=True, exist_ok=True)
        for path in ("page.html", "v2/page.html", "healthz.html"):
            (self.root / path).write_bytes(PAGE)
            os.utime(self.root / path, (1e9, 1e9))  # a file of this second has a weak ETag
        self.kept = self.conf.read_text()

    def argv(self) -> list[str]:
        raise NotImplementedError

    def answers(self) -> bool:
        try:
            return HttpClient(80).request("GET", "/page.html").status == 200
        except OSError:
            return False

    def start(self) -> None:
        self.process.start(self.answers)

    def stop(self) -> None:
        self.process.stop()

    def reload(self) -> None:
        self.process.signal(signal.SIGHUP)

    def add_line(self) -> None:
        assert self.kept.count(self.before) == 1, f"{self.conf} is not as Debian has it"
        self.conf.write_text(self.kept.replace(self.before, f"    {self.line}\n{self.before}"))
        self.reload()
        client = HttpClient(80)
        eventually("the line counts", lambda: client.request("GET", "/healthz").status == 200)

    def take_line_back(self) -> None:
        self.conf.write_text(self.kept)
        self.reload()
        client = HttpClient(80)
        eventually("it does not count", lambda: client.request("GET", "/healthz").status == 404)

    def look(self, client: HttpClient) -> Seen:
        """Status, headers and bytes of the site's pages."""
        seen = {}
        for path in PATHS:
            answer = client.request("GET", path)
            headers = [(name, text) for name, text in answer.headers if name.lower() != "date"]
            seen[path] = (answer.status, sorted(headers), answer.body)
        return seen


def run(*argv: str, **options) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"


class Apache(Site):
    conf = Path("/etc/apache2/sites-available/000-default.conf")
    line = f"Include {EXAMPLES}/apache/tollgate.conf"
    before = "</VirtualHost>"

    def argv(self) -> list[str]:
        start = ". /etc/apache2/envvars; mkdir -p $APACHE_RUN_DIR $APACHE_LOCK_DIR"
        return ["sh", "-c", f"{start}; exec /usr/sbin/apache2 -DFOREGROUND"]

    def reload(self) -> None:
        run("a2enmod", "proxy_fcgi")
        run("apache2ctl", "configtest")
        self.process.signal(signal.SIGUSR1)


class Caddy(Site):
    conf = Path("/etc/caddy/Caddyfile")
    root = Path("/usr/share/caddy")
    line = f"import {EXAMPLES}/caddy/tollgate.caddy"
    before = "\troot * /usr/share/caddy\n"

    def argv(self) -> list[str]:
        os.environ["HOME"] = "/var/lib/caddy"
        drop = ["setpriv", "--reuid", "caddy", "--regid", "caddy", "--init-groups"]
        drop += ["--inh-caps", "+net_bind_service", "--ambient-caps", "+net_bind_service"]
        return [*drop, "caddy", "run", "--config", str(self.conf)]

    def reload(self) -> None:
        run("caddy", "reload", "--config", str(self.conf), "--force")


class Nginx(Site):
    conf = Path("/etc/nginx/sites-available/default")
    line = f"include {EXAMPLES}/nginx/tollgate.conf;"
    before = "\tserver_name _;\n"

    def argv(self) -> list[str]:
        return ["/usr/sbin/nginx", "-g", "daemon off;"]


class Lighttpd(Site):
    conf = Path("/etc/lighttpd/lighttpd.conf")
    line = f'include "{EXAMPLES}/lighttpd/tollgate.conf"'
    before = 'include "/etc/lighttpd/conf-enabled/*.conf"'

    def argv(self) -> list[str]:
        return ["/usr/sbin/lighttpd", "-D", "-f", str(self.conf)]

    def reload(self) -> None:
        """A graceful restart: the same process reads its configuration again."""
        run("lighttpd", "-tt", "-f", str(self.conf))
        self.process.signal(signal.SIGUSR1)


SITES = {"apache": Apache, "caddy": Caddy, "nginx": Nginx, "lighttpd": Lighttpd}
