"""Figures of many streams at once, of TLS to upstreams, and of memory over many requests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.gateway import build_tree
from harness.money import M_REF
from harness.procs import Process, eventually, free_port
from harness.rawup import Authority

UNITS = {
    "stream_kib_4000": "KiB",
    "stream_p99_ms_4000": "ms",
    "stream_tls_kib_1000": "KiB",
    "tls_connect_cpu_ms": "ms",
}
STREAMS = int(os.environ.get("TOLLGATE_BENCH_STREAMS", "4000"))
REQUESTS = int(os.environ.get("TOLLGATE_BENCH_REQUESTS", "100000"))
EVENTS = int(os.environ.get("TOLLGATE_BENCH_EVENTS", "60"))  # one a second
SYSTEM_CERTIFICATES = Path("/etc/ssl/certs")

TLS_CONF = """
daemon off;
pid {dir}/tls.pid;
error_log {dir}/tls-error.log warn;
worker_processes 1;
{user}
events {{ worker_connections 8192; }}
http {{
    access_log off;
    client_body_temp_path {dir}/tls-client;
    proxy_temp_path {dir}/tls-proxy;
    fastcgi_temp_path {dir}/tls-fastcgi;
    uwsgi_temp_path {dir}/tls-uwsgi;
    scgi_temp_path {dir}/tls-scgi;
    keepalive_timeout 0;
    proxy_buffering off;
    proxy_http_version 1.1;
    server {{
        listen 127.0.0.1:{tls_port} ssl backlog=4096;
        ssl_certificate {cert};
        ssl_certificate_key {key};
        location / {{ proxy_pass http://127.0.0.1:{stub_port}; }}
    }}
    server {{
        listen 127.0.0.1:{plain_port};
        location / {{ proxy_pass http://127.0.0.1:{stub_port}; }}
    }}
}}
"""


def resident_kib(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                total += int(line.split()[1])
    return total


def processor_ms(pids: list[int]) -> float:
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


class Measures:
    """Part of Bench: needs its stack, its directory, its stub and its result."""

    stack: Any
    directory: Path
    done: dict[str, float]
    account: Any

    @contextmanager
    def flowing(self, port: int) -> Iterator[None]:
        """A second stub, which sends an event a second."""
        program = str(build_tree() / "bench-upstream")
        argv = [program, str(port), str(EVENTS), "1000"]
        stub = Process("bench-flow", argv, self.directory)
        stub.start("upstream: ready")
        try:
            yield
        finally:
            stub.stop()

    def channel_for(self, model: str, base_url: str) -> None:
        self.stack.price(model, M_REF)
        self.stack.channel(model, [model], base_url=base_url)
        self.stack.wait_model(self.account, model)

    def open_streams(self, model: str, count: int) -> tuple[float, list[str]]:
        """KiB a stream while all are open; and what the clients say at the end."""
        workers = self.stack.gateway.workers()
        before = resident_kib(workers)
        clients = subprocess.Popen(
            [str(build_tree() / "bench-streams"), str(self.stack.site.socket), model, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "BENCH_TOKEN": self.account.token},
        )
        assert clients.stdin and clients.stdout
        line = clients.stdout.readline()
        if line != "open\n":
            raise SystemExit(f"the clients say {line!r}:\n{self.stack.gateway.process.tail()}")
        each = (resident_kib(workers) - before) / count
        clients.stdin.write("go\n")
        clients.stdin.flush()
        words = clients.stdout.readline().split()
        clients.wait()
        if self.stack.gateway.workers() != workers or not words or words[0] != "done":
            raise SystemExit(f"not every stream lived: {words}")
        if int(words[1]) > 0:
            raise SystemExit(f"{words[1]} of {count} streams were lost")
        return each, words

    def streams(self) -> None:
        """An event a second in each; their ages count once all are open."""
        port = free_port()
        with self.flowing(port):
            self.channel_for("flow", f"http://127.0.0.1:{port}/v1")
            each, words = self.open_streams("flow", STREAMS)
        self.done["stream_kib_4000"] = each
        self.done["stream_p99_ms_4000"] = int(words[4]) / 1000

    # --- TLS --------------------------------------------------------------------------------

    def _trust(self) -> tuple[Path, Path]:
        """The system's certificates with one more, and that one's server."""
        authority = Authority(self.directory / "ca")
        authority.server("upstream")
        for file in SYSTEM_CERTIFICATES.iterdir():
            target = authority.folder / file.name
            if not target.exists():
                target.symlink_to(file.resolve())
        self.stack.site.settings["upstream.ca_path"] = str(authority.folder)
        self.stack.site.write_conf()
        self.stack.gateway.restart()
        return authority.directory / "upstream.pem", authority.directory / "upstream.key"

    def tls(self) -> None:
        """nginx before the stub: every request has a connection of its own."""
        cert, key = self._trust()
        ports = {name: free_port() for name in ("tls_port", "plain_port", "stub_port")}
        user = "user root;" if os.geteuid() == 0 else ""
        conf = self.directory / "tls.conf"
        conf.write_text(TLS_CONF.format(dir=self.directory, user=user, cert=cert, key=key, **ports))
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin") or "nginx"
        proxy = Process("tls-nginx", [nginx, "-c", str(conf)], self.directory)
        with self.flowing(ports["stub_port"]):
            proxy.start(lambda: (self.directory / "tls.pid").exists())
            try:
                self.channel_for("tls", f"https://127.0.0.1:{ports['tls_port']}/v1")
                self.channel_for("plain", f"http://127.0.0.1:{ports['plain_port']}/v1")
                self.done["stream_tls_kib_1000"], _ = self.open_streams("tls", STREAMS // 4)
                self.done["tls_connect_cpu_ms"] = self._connect_cost()
            finally:
                proxy.stop()

    def _connect_cost(self, count: int = 400) -> float:
        """Processor time of requests over TLS less that of the same requests without."""
        used = {}
        workers = self.stack.gateway.workers()
        for model in ("plain", "tls"):
            for number in range(count + 20):
                if number == 20:  # the first ones make handles, caches, sessions
                    before = processor_ms(workers)
                if self.account.chat(model).status != 200:
                    raise SystemExit(f"a request over {model} failed")
            used[model] = (processor_ms(workers) - before) / count
        return used["tls"] - used["plain"]

    # --- memory over time -------------------------------------------------------------------

    def rss(self) -> None:
        """Requests through nginx, 16 at a time: threads and pools are there after a thousand."""
        self.stack.gateway.restart()
        workers = self.stack.gateway.workers()
        served = 0.0
        first = 0
        while served < REQUESTS:
            seconds = 1 if first == 0 else 5
            served += self.wrk(self.gateway_port, 16, seconds)[0] * seconds
            if first == 0 and served >= 1000:
                first = resident_kib(workers)
        eventually("the books are up to date", lambda: self.stack.site.audit()["clean"], 120)
        if self.stack.gateway.workers() != workers:
            raise SystemExit("a worker died")
        self.done["rss_flat"] = resident_kib(workers) / first
