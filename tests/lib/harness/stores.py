"""A private MariaDB and a private Redis, on sockets of their own in a temporary directory."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from pathlib import Path

from harness.procs import Process

DB_USER = "tollgate"
DB_PASSWORD = "db-password-of-the-tests"
REDIS_USER = "tollgate"
REDIS_PASSWORD = "redis-password-of-the-tests"


class MariaDB:
    """mariadbd without network; `restart` keeps the data."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "mariadb"
        self.data = self.directory / "data"
        self.socket = self.directory / "s"
        self.directory.mkdir(mode=0o700)
        self.password_file = self.directory / "password"
        self.password_file.write_text(DB_PASSWORD + "\n")
        self.password_file.chmod(0o600)
        options = [
            f"--datadir={self.data}",
            f"--socket={self.socket}",
            f"--pid-file={self.directory}/pid",
            f"--tmpdir={self.directory}",
            "--skip-networking",
            "--skip-name-resolve",
            "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=32M",
            "--innodb-flush-log-at-trx-commit=1",
            "--max-connections=200",
            "--table-open-cache=2000",
        ]
        if getpass.getuser() == "root":
            options.append("--user=root")
        program = shutil.which("mariadbd", path="/usr/sbin:/usr/bin:/sbin:/bin") or "mariadbd"
        self.process = Process("mariadbd", [program, "--no-defaults", *options], self.directory)

    def install(self) -> None:
        argv = [
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={self.data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
        ]
        if getpass.getuser() == "root":
            argv.append("--user=root")
        # A starting server removes what it takes for left-over temporary tables, others' too.
        apart = {**os.environ, "TMPDIR": str(self.directory)}
        done = subprocess.run(argv, capture_output=True, text=True, env=apart)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        self.process.start(self.answers, timeout=60)

    def answers(self) -> bool:
        """The socket answers; a connection proves more than the file's existence."""
        try:
            with socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(2)
                sock.connect(str(self.socket))
                return bool(sock.recv(4))
        except OSError:
            return False

    def account(self) -> None:
        self.sql(
            f"CREATE USER IF NOT EXISTS '{DB_USER}'@'localhost' IDENTIFIED BY '{DB_PASSWORD}';"
            f"GRANT ALL ON `tg\\_%`.* TO '{DB_USER}'@'localhost'; FLUSH PRIVILEGES"
        )

    def sql(self, statements: str, database: str = "") -> list[list[str]]:
        """Runs statements as root; the rows of the result as text."""
        argv = [
            "mariadb",
            "--no-defaults",
            f"--socket={self.socket}",
            "-uroot",
            "-N",
            "-B",
            "--raw",
        ]
        done = subprocess.run(
            [*argv, database] if database else argv,
            input=statements,
            capture_output=True,
            text=True,
            errors="replace",
        )
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def dump(self, database: str) -> str:
        """Every row of every table, as text: what a leak would show."""
        tables = self.sql(f"SHOW TABLES FROM `{database}`")
        rows = [self.sql(f"SELECT * FROM `{table}`", database) for (table,) in tables]
        return "\n".join("\t".join(row) for table in rows for row in table)

    def dsn(self, database: str) -> str:
        return f"mysql://{DB_USER}@localhost/{database}?socket={self.socket}"

    def restart(self) -> None:
        self.process.stop(60)
        self.start()

    def stop(self) -> None:
        self.process.stop(60)


class Redis:
    """redis-server as LEDGER wants it: appendonly, memory bounded, money keys never evicted."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "redis"
        self.directory.mkdir(mode=0o700)
        self.socket = self.directory / "s"
        self.password_file = self.directory / "password"
        self.password_file.write_text(REDIS_PASSWORD + "\n")
        self.password_file.chmod(0o600)
        conf = self.directory / "redis.conf"
        conf.write_text(
            "port 0\n"
            f"unixsocket {self.socket}\nunixsocketperm 700\n"
            f"dir {self.directory}\n"
            'save ""\nappendonly yes\nappendfsync everysec\n'
            "maxmemory 256mb\nmaxmemory-policy volatile-lru\n"
            "user default on nopass ~* &* +@all\n"
            f"user {REDIS_USER} on >{REDIS_PASSWORD} ~tg:* &tg:* +@all -flushall -flushdb -swapdb"
            " -debug -config|set -keys -shutdown\n"
        )
        program = shutil.which("redis-server") or "/usr/bin/redis-server"
        # Redis' remark on the machine's vm.overcommit_memory is none on Tollgate.
        harmless = ["Memory overcommit must be enabled"]
        self.process = Process("redis", [program, str(conf)], self.directory, harmless=harmless)

    def start(self) -> None:
        self.process.start(lambda: self._ping(), timeout=30)

    def _ping(self) -> bool:
        try:
            return self.command("PING") == b"+PONG\r\n"
        except OSError:
            return False

    def command(self, *words: str) -> bytes:
        """One command on a fresh connection; the raw reply."""
        data = b"*%d\r\n" % len(words)
        data += b"".join(b"$%d\r\n%s\r\n" % (len(w.encode()), w.encode()) for w in words)
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(5)
            sock.connect(str(self.socket))
            sock.sendall(data)
            return sock.recv(1 << 20)

    def run_id(self) -> str:
        for line in self.command("INFO", "server").decode().splitlines():
            if line.startswith("run_id:"):
                return line[7:].strip()
        raise AssertionError("INFO has no run_id")

    @property
    def address(self) -> str:
        return f"unix:{self.socket}"

    def restart(self, kill: bool = False) -> None:
        if kill:
            self.process.kill()
        else:
            self.process.stop()
        self.start()

    def stop(self) -> None:
        self.process.stop()
