"""tollgate-fcgi, tollgate-ledger and tollgatectl of the tree under test, and their conf file."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.procs import SANITIZER_OPTIONS, Process, children, eventually
from harness.stores import REDIS_USER, MariaDB, Redis

SOURCE = Path(__file__).resolve().parents[3]


def build_tree() -> Path:
    """The tree whose programs are tested: TOLLGATE_BUILD, else build/ of the source tree."""
    return Path(os.environ.get("TOLLGATE_BUILD", SOURCE / "build")).resolve()


def render(settings: dict[str, str | int | bool]) -> str:
    """tollgate.conf of dotted keys."""
    groups: dict[str, list[str]] = {}
    for key, value in settings.items():
        group, _, name = key.partition(".")
        if isinstance(value, bool):
            text = "true" if value else "false"
        elif isinstance(value, int):
            text = str(value)
        else:
            text = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        groups.setdefault(group, []).append(f"    {name} = {text};\n")
    return "".join(f"{name}: {{\n{''.join(lines)}}};\n" for name, lines in groups.items())


class CtlError(RuntimeError):
    def __init__(self, argv: list[str], done: subprocess.CompletedProcess[str]) -> None:
        super().__init__(
            f"tollgatectl {' '.join(argv)}: {done.returncode}\n{done.stdout}{done.stderr}"
        )
        self.code = done.returncode
        self.stdout = done.stdout
        self.stderr = done.stderr


class Site:
    """One installation: directory, conf, secrets, and the three programs that use them."""

    def __init__(
        self, directory: Path, mariadb: MariaDB, redis: Redis, main: str, log: str
    ) -> None:
        self.directory = directory
        self.build = build_tree()
        self.mariadb = mariadb
        self.redis = redis
        self.main_database = main
        self.log_database = log
        self.conf = directory / "tollgate.conf"
        self.socket = directory / "tollgate.sock"
        self.address = f"unix:{self.socket}"
        self.stop_file = directory / "stop"
        self.clock_file = directory / "clock"
        self.clock_file.write_bytes(bytes(8))
        self.env = {
            **SANITIZER_OPTIONS,
            "TOLLGATE_DATADIR": str(SOURCE),
            "TOLLGATE_STOP": str(self.stop_file),
            "TOLLGATE_CLOCK": str(self.clock_file),
        }
        self.settings: dict[str, str | int | bool] = {
            "listen.address": self.address,
            "listen.mode": "0666",
            "node.name": "node1",
            "node.run_dir": str(directory / "run"),
            "pool.workers": 2,
            "database.main": mariadb.dsn(main),
            "database.main_password_file": str(mariadb.password_file),
            "database.log": mariadb.dsn(log),
            "database.log_password_file": str(mariadb.password_file),
            "redis.address": redis.address,
            "redis.user": REDIS_USER,
            "redis.password_file": str(redis.password_file),
            "secrets.file": str(directory / "tollgate.secrets"),
            "secrets.console_file": str(directory / "console.secrets"),
            "ledger.spool_dir": str(directory / "spool"),
            "net.channel_allow": "127.0.0.0/8, ::1/128",
            # Seconds of the defaults made short: what is tested is the rule, not the wait.
            "hold.lease": "4s",
            "hold.renew": "1s",
            "stream.keepalive_first": "3s",
            "stream.keepalive_every": "1s",
            "stream.gone_check": "1s",
            "stream.send_timeout": "2s",
            "retry.backoff_base": "10ms",
            # Upstreams fail on purpose all the time; the suite schedule switches these on.
            "breaker.failures": 0,
            "retry.key_tries": 0,
            "auto_disable.on": False,
            "snapshot.interval": "2s",
        }
        self.gateway = Gateway(self)
        self.ledger = Ledger(self)

    def step_clock(self, seconds: int) -> None:
        """The wall clock of all our programs is that far ahead (builds with sanitizers)."""
        with self.clock_file.open("r+b") as file:
            file.write(struct.pack("=q", seconds * 1_000_000))

    def program(self, path: str) -> str:
        return str(self.build / path)

    def write_conf(self, **changes: str | int | bool) -> None:
        """Writes the conf file; `pool__workers=1` changes pool.workers in this file only."""
        changed = {key.replace("__", "."): value for key, value in changes.items()}
        self.conf.write_text(render({**self.settings, **changed}))

    def init(self) -> None:
        """conf and secrets by `tollgatectl init`; then the conf of the tests in their place."""
        for name in ("run", "spool"):
            (self.directory / name).mkdir(exist_ok=True)
        self.ctl(
            "init",
            "--directory", str(self.directory),
            "--main", str(self.settings["database.main"]),
            "--log", str(self.settings["database.log"]),
            "--redis", self.redis.address,
            "--listen", self.address,
            conf=False,
        )  # fmt: skip
        self.write_conf()
        self.ctl("migrate")

    def run_ctl(
        self, *argv: str, stdin: str = "", conf: bool = True, as_json: bool = True, env=None
    ) -> subprocess.CompletedProcess[str]:
        command = [self.program("admin-cgi/tollgatectl")]
        command += ["--conf", str(self.conf)] if conf else []
        command += ["--json"] if as_json else []
        return subprocess.run(
            [*command, *argv],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **self.env, **(env or {})},
        )

    def ctl(self, *argv: str, stdin: str = "", conf: bool = True) -> Any:
        """The JSON that a command prints; raises CtlError when it failed."""
        done = self.run_ctl(*argv, stdin=stdin, conf=conf)
        if done.returncode != 0:
            raise CtlError(list(argv), done)
        return json.loads(done.stdout) if done.stdout.strip() else None

    # --- looking into the books --------------------------------------------------------------

    def main_sql(self, statement: str) -> list[list[str]]:
        return self.mariadb.sql(statement, self.main_database)

    def log_sql(self, statement: str) -> list[list[str]]:
        return self.mariadb.sql(statement, self.log_database)

    def record(self, request_id: str, timeout: float = 10) -> dict[str, Any]:
        """The request_log row of a request, once the ledger has written it."""
        binary = f"UNHEX(REPLACE('{request_id}','-',''))"

        def row() -> dict[str, Any] | None:
            columns = [name for (name,) in self._request_log_columns()]
            fields = ", ".join(f"'{name}', `{name}`" for name in columns if name != "request_id")
            rows = self.log_sql(
                f"SELECT JSON_OBJECT({fields}) FROM request_log WHERE request_id = {binary}"
            )
            assert len(rows) <= 1, f"{len(rows)} request_log rows of {request_id}"
            return json.loads(rows[0][0]) if rows else None

        return eventually(f"request_log row of {request_id}", row, timeout)

    def _request_log_columns(self) -> list[list[str]]:
        return self.log_sql(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE()"
            " AND table_name = 'request_log' AND data_type NOT IN ('binary', 'varbinary', 'blob')"
        )

    def audit(self) -> dict[str, Any]:
        done = self.run_ctl("audit")
        if done.returncode not in (0, 1):
            raise CtlError(["audit"], done)
        result = json.loads(done.stdout)
        if result["clean"] != (done.returncode == 0):
            raise CtlError(["audit"], done)
        return result

    def wait_clean(self, timeout: float = 30) -> dict[str, Any]:
        last: dict[str, Any] = {}

        def clean() -> bool:
            last.clear()
            last.update(self.audit())
            return last["clean"]

        try:
            eventually("audit clean", clean, timeout, every=0.25)
        except AssertionError:
            raise AssertionError(f"the audit stays red: {json.dumps(last)[:3000]}") from None
        return last


class Gateway:
    def __init__(self, site: Site) -> None:
        self.site = site
        argv = [site.program("fcgi-app/tollgate-fcgi"), "--conf", str(site.conf)]
        self.process = Process("tollgate-fcgi", argv, site.directory, env=site.env)

    def start(self) -> None:
        self.process.start("tollgate-fcgi: ready, listening on")

    def stop(self) -> None:
        code = self.process.stop(90)
        assert code == 0, f"tollgate-fcgi ended with {code}:\n{self.process.tail()}"

    def restart(self) -> None:
        self.stop()
        self.start()

    def reload(self) -> None:
        self.process.signal(signal.SIGHUP)

    @contextmanager
    def restarted_with(self, **changes: str | int | bool) -> Iterator[None]:
        """Started anew with other settings, and with the usual ones again afterwards."""
        self.site.write_conf(**changes)
        self.restart()
        try:
            yield
        finally:
            self.site.write_conf()
            if self.process.running:
                self.stop()
            self.start()

    @contextmanager
    def with_settings(self, **changes: str | int | bool) -> Iterator[None]:
        """Other settings by SIGHUP, known to all workers, and the usual ones afterwards."""

        def apply(values: dict[str, str | int | bool]) -> None:
            self.site.write_conf(**values)
            offset = self.process.log_size()
            self.reload()
            eventually(
                "every worker has the new settings",
                lambda: self.process.log_text(offset).count("new settings,") >= len(self.workers()),
                30,
            )

        apply(changes)
        try:
            yield
        finally:
            apply({})

    def workers(self) -> list[int]:
        return children(self.process.pid)

    def kill_worker(self, pid: int) -> None:
        """kill -9 of one worker; returns when the master has put another in its place."""
        before = set(self.workers())
        assert pid in before
        os.kill(pid, signal.SIGKILL)
        eventually(
            "the master replaces the killed worker",
            lambda: pid not in self.workers() and len(self.workers()) >= len(before),
        )

    def kill_all_workers(self) -> None:
        for pid in self.workers():
            self.kill_worker(pid)

    def snapshot(self, worker: int) -> int:
        """The version of the routing tables that a worker said last it has read."""
        before, _, said = self.process.log_text().rpartition(f"[{worker}]: route: snapshot ")
        return int(said.partition(":")[0]) if before else -1

    def connections(self, worker: int, port: int) -> int:
        """Open TCP connections of a worker to a port of the loopback (its upstream calls)."""
        remote = f":{port:04X}"
        inodes = set()
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[2].endswith(remote) and fields[3] == "01":
                inodes.add(f"socket:[{fields[9]}]")
        count = 0
        for link in Path(f"/proc/{worker}/fd").iterdir():
            try:
                count += os.readlink(link) in inodes
            except OSError:
                continue
        return count


class Ledger:
    def __init__(self, site: Site) -> None:
        self.site = site
        argv = [site.program("fcgi-app/tollgate-ledger"), "--conf", str(site.conf)]
        self.process = Process("tollgate-ledger", argv, site.directory, env=site.env)

    def start(self) -> None:
        self.process.start("tollgate-ledger: ready")

    def stop(self) -> None:
        code = self.process.stop(60)
        assert code == 0, f"tollgate-ledger ended with {code}:\n{self.process.tail()}"

    def kill(self) -> None:
        self.process.kill()

    def restart(self) -> None:
        self.stop()
        self.start()
