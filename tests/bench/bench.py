"""Figures, one `name value unit` line each. Started by tests/bench/run, which builds first.

rps_nginx_proxy       requests/s of nginx proxying the stub plainly
rps_gateway           requests/s of the same requests through nginx and Tollgate, fully accounted
rps_vs_nginx_proxy    the second over the first, same run, same wrk
added_median_ms_c1    median latency that Tollgate adds at one connection
ledger_vs_ping        deposit and bill in Redis over two PINGs on the same connection
cgi_page_ms           median of the console's list of users as a cold CGI process, 300 users
journal_applied_per_s entries from the journal into MySQL
rebuild_s_100k        Redis killed with 100,000 accounts live: until every shard is on again
audit_s_100k          one audit of them
log_page_ms_1m        the slowest page of a request log of a million rows: first, deep, filtered
convert_100k_ms       a request of 100 KB through the converters, the slower direction
convert_event_us      one event of a stream and hop, the slower direction
select_us             the choice of a channel for one call, 10,000 abilities
failover_ms           what a client waits longer when the first of two channels answers 500, beyond
                      the time of that answer: median of 200
stream_kib_4000       resident memory of each of 4,000 streams at once, in KiB
stream_p99_ms_4000    99th percentile of an event's age when the client has it, 4,000 streams
stream_tls_kib_1000   the same memory with 1,000 streams whose upstream speaks TLS
tls_connect_cpu_ms    processor time of the gateway for TLS, per new upstream connection
rss_flat              resident memory after 100,000 requests over that after 1,000
cpu                   cpu_us_per_request_<process> and their sum, the records in the log included;
                      the plain proxy's sum, and that over the first. To first order these do not
                      depend on what else runs on the machine.
"""

from __future__ import annotations

import getpass
import http.client
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH.parent / "lib"))

import cpu  # noqa: E402
import streams  # noqa: E402
from harness.console import run_cgi  # noqa: E402
from harness.gateway import SOURCE, build_tree  # noqa: E402
from harness.money import M_REF, bill  # noqa: E402
from harness.procs import Process, free_port  # noqa: E402
from harness.simclient import KEYS  # noqa: E402
from harness.stack import Account, Stack, chat_body  # noqa: E402

SECONDS = int(os.environ.get("TOLLGATE_BENCH_SECONDS", "8"))
ROUNDS = int(os.environ.get("TOLLGATE_BENCH_ROUNDS", "3"))
MODEL = "bench"
USAGE = {"prompt_tokens": 9, "completion_tokens": 5}


class Bench(streams.Measures):
    def __init__(self) -> None:
        self.stack = Stack.create()
        self.directory = self.stack.directory
        self.gateway_port, self.plain_port, self.stub_port = (free_port() for _ in range(3))
        stub = str(build_tree() / "bench-upstream")
        self.stub = Process("bench-upstream", [stub, str(self.stub_port)], self.directory)
        self.nginx = Process("nginx", [self._nginx(), "-c", self._conf()], self.directory)
        self.done: dict[str, float] = {}
        self.failing: http.client.HTTPConnection | None = None

    @staticmethod
    def _nginx() -> str:
        return shutil.which("nginx", path="/usr/sbin:/usr/bin") or "nginx"

    def _conf(self) -> str:
        values = {
            "DIR": str(self.directory),
            "WORKERS": str(os.cpu_count() or 1),
            "USER": "user root;" if getpass.getuser() == "root" else "",
            "GATEWAY_PORT": str(self.gateway_port),
            "PLAIN_PORT": str(self.plain_port),
            "STUB_PORT": str(self.stub_port),
            "SOCKET": str(self.stack.site.socket),
        }
        text = (BENCH / "nginx.conf").read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        path = self.directory / "nginx.conf"
        path.write_text(text)
        return str(path)

    def start(self) -> Account:
        stack = self.stack
        # The figures are of the defaults: only what makes the run private is set.
        for name in [key for key in stack.site.settings if key.startswith(("hold.", "stream."))]:
            del stack.site.settings[name]
        stack.site.settings["pool.workers"] = os.cpu_count() or 1
        stack.start()
        self.stub.start("upstream: ready")
        stack.price(MODEL, M_REF)
        stack.channel(MODEL, [MODEL], base_url=f"http://127.0.0.1:{self.stub_port}/v1")
        account = self.account = stack.account("10000")
        stack.wait_model(account, MODEL)
        self.nginx.start(lambda: self.ports_answer())
        self._write_script(account)
        return account

    def ports_answer(self) -> bool:
        for port in (self.gateway_port, self.plain_port):
            with socket.socket() as sock:
                if sock.connect_ex(("127.0.0.1", port)):
                    return False
        return True

    def _write_script(self, account: Account) -> None:
        text = "Measure this, please. " * 20
        body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": text}]})
        (self.directory / "post.lua").write_text(
            f"wrk.method = 'POST'\nwrk.body = [==[{body}]==]\n"
            f"wrk.headers['Authorization'] = 'Bearer {account.token}'\n"
            "wrk.headers['Content-Type'] = 'application/json'\n"
        )

    def wrk_argv(self, port: int, connections: int, seconds: int = SECONDS) -> list[str]:
        threads = min(2, connections)
        argv = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency", "-s"]
        post = str(self.directory / "post.lua")
        return [*argv, post, f"http://127.0.0.1:{port}/v1/chat/completions"]

    def wrk(self, port: int, connections: int, seconds: int = SECONDS) -> tuple[float, float]:
        """Requests per second and the median latency in milliseconds; every answer must be good."""
        argv = self.wrk_argv(port, connections, seconds)
        output = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in output or "Socket errors" in output:
            raise SystemExit(
                f"not every answer was good:\n{output}{self.stack.gateway.process.tail()}"
            )
        rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
        median = re.search(r"50%\s+([\d.]+)(us|ms|s)\b", output)
        assert rate and median, output
        scale = {"us": 0.001, "ms": 1.0, "s": 1000.0}[median[2]]
        return float(rate[1]), float(median[1]) * scale

    # --- figures ----------------------------------------------------------------------------

    def throughput(self) -> None:
        """Rounds alternate, so that a noisy neighbour hits both sides; medians are compared."""
        for port in (self.plain_port, self.gateway_port):
            self.wrk(port, 64, 2)
        plain, gateway = [], []
        for _ in range(ROUNDS):
            plain.append(self.wrk(self.plain_port, 64)[0])
            gateway.append(self.wrk(self.gateway_port, 64)[0])
        self.done["rps_nginx_proxy"] = statistics.median(plain)
        self.done["rps_gateway"] = statistics.median(gateway)
        self.done["rps_vs_nginx_proxy"] = statistics.median(gateway) / statistics.median(plain)

    def latency(self) -> None:
        plain, gateway = [], []
        for _ in range(ROUNDS):
            plain.append(self.wrk(self.plain_port, 1, max(2, SECONDS // 2))[1])
            gateway.append(self.wrk(self.gateway_port, 1, max(2, SECONDS // 2))[1])
        self.done["added_median_ms_c1"] = statistics.median(gateway) - statistics.median(plain)

    def cpu(self) -> None:
        """Everything that works for a request counts, until its record is in the log."""
        stack = self.stack
        pids = {
            "gateway": stack.gateway.process.pid,
            "redis": stack.redis.process.pid,
            "mariadb": stack.mariadb.process.pid,
            "ledger": stack.ledger.process.pid,
            "nginx": self.nginx.pid,
            "stub": self.stub.pid,
        }
        self.wrk(self.gateway_port, 64, 2)
        cpu.wait_applied(stack)
        argv = self.wrk_argv(self.gateway_port, 64)
        gateway = cpu.measure(argv, pids, lambda: cpu.wait_applied(stack))
        plain = cpu.measure(
            self.wrk_argv(self.plain_port, 64), {name: pids[name] for name in ("nginx", "stub")}
        )
        for name, used in gateway.items():
            self.done[f"cpu_us_per_request_{name}"] = used.total
        for name in ("gateway", "redis"):
            self.done[f"cpu_us_per_request_{name}_user"] = gateway[name].user
            self.done[f"cpu_us_per_request_{name}_system"] = gateway[name].system
        sums = [sum(used.total for used in each.values()) for each in (gateway, plain)]
        self.done["cpu_us_per_request"], self.done["cpu_us_per_request_plain"] = sums
        self.done["cpu_vs_nginx_proxy"] = sums[1] / sums[0]

    def ledger(self) -> None:
        argv = [str(build_tree() / "bench-ledger")]
        environment = {**os.environ, "TOLLGATE_SOURCE": str(SOURCE)}
        done = subprocess.run(argv, capture_output=True, text=True, check=True, env=environment)
        self.done["ledger_vs_ping"] = float(done.stdout.split()[1])

    def books(self) -> None:
        argv = [str(build_tree() / "bench-books")]
        environment = {**os.environ, "TOLLGATE_SOURCE": str(SOURCE)}
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        figures = dict(line.split()[:2] for line in done.stdout.splitlines())
        self.done["journal_applied_per_s"] = float(figures["journal_applied_per_s"])
        self.done["rebuild_s_100k"] = float(figures["rebuild_s"])
        self.done["audit_s_100k"] = float(figures["audit_s"])

    def log_page(self) -> None:
        argv = [str(build_tree() / "bench-log-page")]
        environment = {**os.environ, "TOLLGATE_SOURCE": str(SOURCE)}
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        self.done["log_page_ms_1m"] = float(done.stdout.split()[1])

    def convert(self) -> None:
        argv = [str(build_tree() / "bench-convert")]
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True)
        for line in done.stdout.splitlines():
            name, value = line.split()[:2]
            self.done[name] = float(value)

    def select(self) -> None:
        argv = [str(build_tree() / "bench-select")]
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True)
        self.done["select_us"] = float(done.stdout.split()[1])

    def failover(self) -> None:
        """Three calls in turn: to the good channel alone, to both, and to what fails."""
        stack, model = self.stack, "bench-failover"
        stub = f"http://127.0.0.1:{self.stub_port}/v1"
        for name in ("good", model):
            stack.price(name, M_REF)
        stack.channel("failover-bad", [model], "--priority", "9", key=KEYS[1])
        stack.channel("failover-good", [model, "good"], base_url=stub)
        stack.simulator.behave(f"{KEYS[1]}/{model}", "fail")
        stack.wait_model(self.account, model)
        taken: dict[str, list[float]] = {"good": [], model: [], "bad": []}
        # An open breaker would hide what is measured.
        with stack.gateway.with_settings(breaker__failures=0):
            for _ in range(220):
                for name in ("good", model):
                    started = time.perf_counter()
                    if self.account.chat(name).status != 200:
                        raise SystemExit(f"no answer of {name}")
                    taken[name].append((time.perf_counter() - started) * 1000)
                taken["bad"].append(self._failure_ms(model))
        if len(stack.simulator.requests()) < 440:
            raise SystemExit("the failing channel was not asked each time")
        good, both, bad = (statistics.median(values[20:]) for values in taken.values())
        self.done["failover_ms"] = both - good - bad

    def _failure_ms(self, model: str) -> float:
        """The failing answer itself, on a kept connection as the gateway has one."""
        if self.failing is None:
            self.failing = http.client.HTTPConnection("127.0.0.1", self.stack.simulator.port)
            self.failing.connect()
        headers = {"Authorization": f"Bearer {KEYS[1]}", "Content-Type": "application/json"}
        started = time.perf_counter()
        self.failing.request("POST", "/v1/chat/completions", chat_body(model), headers)
        answer = self.failing.getresponse()
        answer.read()
        if answer.status != 500:
            raise SystemExit(f"the failing channel answered {answer.status}")
        return (time.perf_counter() - started) * 1000

    def cgi_page(self) -> None:
        """From the start of the process to its last byte: connect, session, list, page."""
        site = self.stack.site
        rows = ", ".join(f"('bench-{number}')" for number in range(300))
        site.main_sql(f"INSERT INTO users (username) VALUES {rows}")
        login = json.dumps({"username": "admin", "password": "an admin's password"}).encode()
        reply = run_cgi(
            site,
            "login.cgi",
            "POST",
            login,
            CONTENT_TYPE="application/json",
            HTTP_ACCEPT="application/json",
            HTTP_ORIGIN="http://console.example",
        )
        cookie = "; ".join(value.split(";")[0] for value in reply.cookies)
        taken = []
        for _ in range(100):
            started = time.perf_counter()
            reply = run_cgi(site, "users.cgi", HTTP_COOKIE=cookie, HTTP_ACCEPT="text/html")
            taken.append((time.perf_counter() - started) * 1000)
            if reply.status != 200 or b"bench-299" not in reply.body:
                raise SystemExit(f"no list of users: {reply.status} {reply.text[:500]}")
        self.done["cgi_page_ms"] = statistics.median(taken)

    def check_books(self, account: Account) -> None:
        """A fast gateway that loses money is no figure: every request is in the books."""
        self.stack.site.wait_clean(120)
        spent = account.spent
        each = bill(USAGE, M_REF)
        if spent <= 0 or spent % each:
            raise SystemExit(f"the books are wrong: {spent} is no multiple of {each}")

    def stop(self) -> None:
        for process in (self.nginx, self.stub):
            process.stop()
        self.stack.stop()

    def kill(self) -> None:
        for process in (self.nginx, self.stub):
            process.kill()
        self.stack.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


UNITS = {
    **streams.UNITS,
    "rps_nginx_proxy": "requests/s",
    "rps_gateway": "requests/s",
    "added_median_ms_c1": "ms",
    "log_page_ms_1m": "ms",
    "convert_100k_ms": "ms",
    "convert_event_us": "us",
    "select_us": "us",
    "failover_ms": "ms",
    "cgi_page_ms": "ms",
    "journal_applied_per_s": "1/s",
    "rebuild_s_100k": "s",
    "audit_s_100k": "s",
}
MEASURES: dict[Callable[[Bench], None], set[str]] = {
    Bench.throughput: {"rps_nginx_proxy", "rps_gateway", "rps_vs_nginx_proxy"},
    Bench.latency: {"added_median_ms_c1"},
    Bench.ledger: {"ledger_vs_ping"},
    Bench.books: {"journal_applied_per_s", "rebuild_s_100k", "audit_s_100k"},
    Bench.log_page: {"log_page_ms_1m"},
    Bench.convert: {"convert_100k_ms", "convert_event_us"},
    Bench.select: {"select_us"},
    Bench.failover: {"failover_ms"},
    Bench.cgi_page: {"cgi_page_ms"},
    Bench.cpu: {"cpu", "cpu_vs_nginx_proxy"},
    Bench.streams: {"stream_kib_4000", "stream_p99_ms_4000"},
    Bench.tls: {"stream_tls_kib_1000", "tls_connect_cpu_ms"},
    Bench.rss: {"rss_flat"},
}


def unit(name: str) -> str:
    return UNITS.get(name, "us" if name.startswith("cpu_us") else "ratio")


def main(names: list[str]) -> None:
    known = set().union(*MEASURES.values())
    if set(names) - known:
        raise SystemExit(f"no such figure; there are {', '.join(sorted(known))}")
    wanted = set(names or known)
    bench = Bench()
    try:
        account = bench.start()
        for measure, gives in MEASURES.items():
            if gives & wanted:
                measure(bench)
        if {name for name in wanted if name.startswith(("rps", "added", "cpu"))}:
            bench.check_books(account)
        bench.stop()
    finally:
        bench.kill()
    for name, value in bench.done.items():
        if name in wanted or ("cpu" in wanted and name.startswith("cpu_")):
            print(f"{name} {value:.3f} {unit(name)}")


if __name__ == "__main__":
    main(sys.argv[1:])
