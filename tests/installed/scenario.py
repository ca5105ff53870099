"""scenario.py SERVER BUILD: README's installation beside a site that a web server already serves.

Runs as root inside enter.sh only. Ends with "done" or with the traceback of what was not so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "lib"), str(Path(__file__).parent)]

import sites  # noqa: E402
import unit  # noqa: E402
from harness.checks import is_ok, whole_stream  # noqa: E402
from harness.httpc import HttpClient  # noqa: E402
from harness.money import Price, bill  # noqa: E402
from harness.procs import eventually  # noqa: E402
from harness.simclient import KEYS, Simulator  # noqa: E402
from harness.stack import CHAT, chat_body  # noqa: E402
from harness.stores import DB_PASSWORD, REDIS_PASSWORD, MariaDB, Redis  # noqa: E402

STORES = Path("/srv/stores")
ETC = Path("/etc/tollgate")
PRICE = Price("2.50", "10.00", "1.25")


def run(command: str, **options) -> str:
    """A line of the README, typed by root."""
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=300, **options
    )
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def files() -> set[str]:
    """Everything installed, and what bears Tollgate's name in /etc and /var/lib."""
    found = set(run("find /usr -xdev").splitlines())
    named = "find /etc /var/lib -xdev -path /etc/tollgate -prune -o -name '*tollgate*' -print"
    found |= set(run(named).splitlines())
    return {path for path in found if "__pycache__" not in path and "/caddy/." not in path}


def start_stores() -> tuple[MariaDB, Redis, Simulator]:
    """What the machine has already. Their sockets are open to everybody, as far as files go."""
    STORES.mkdir(parents=True)
    mariadb, redis, simulator = MariaDB(STORES), Redis(STORES), Simulator(STORES)
    mariadb.install()
    mariadb.start()
    mariadb.account()
    redis.start()
    simulator.start()
    for path in (STORES, mariadb.directory, redis.directory):
        path.chmod(0o755)
    redis.socket.chmod(0o777)
    return mariadb, redis, simulator


def configure(mariadb: MariaDB, redis: Redis) -> None:
    run("systemd-sysusers && systemd-tmpfiles --create --prefix=/var/spool/tollgate"
        " --prefix=/var/log/tollgate")  # fmt: skip
    run(
        f"tollgatectl init --directory {ETC} --main '{mariadb.dsn('tg_main')}'"
        f" --log '{mariadb.dsn('tg_log')}' --redis {redis.address}"
    )
    for name, text in (("database", DB_PASSWORD), ("redis", REDIS_PASSWORD)):
        (ETC / f"{name}.password").write_text(text + "\n")
        (ETC / f"{name}.password").chmod(0o640)
    run(f"chgrp -R tollgate {ETC}")
    set_in_conf("main_password_file", f'"{ETC}/database.password"')
    set_in_conf("log_password_file", f'"{ETC}/database.password"')
    set_in_conf("password_file", f'"{ETC}/redis.password"')
    set_in_conf("user", '"tollgate"')
    set_in_conf("channel_allow", '"127.0.0.0/8"')
    run("tollgatectl config check")
    run("tollgatectl migrate")
    run("tollgatectl create-admin alice --password-stdin", input="a password of hers\n")


def set_in_conf(key: str, value: str) -> None:
    """Takes the comment sign from the sample's line, as an operator does."""
    path = ETC / "tollgate.conf"
    text, count = re.subn(
        rf"^    #{key} = .*;$", f"    {key} = {value};", path.read_text(), flags=re.MULTILINE
    )
    assert count == 1, f"{count} lines for {key} in the sample"
    path.write_text(text)


def fill(simulator: Simulator) -> str:
    """A price, a channel, a user with a token."""
    (ETC / "key").write_text(KEYS[0] + "\n")
    (ETC / "key").chmod(0o600)
    run("tollgatectl price set gpt-4o --input 2.50 --output 10.00 --cache-read 1.25")
    run(
        f"tollgatectl channel add openai --base-url {simulator.base_url} --models gpt-4o"
        f" --key-file {ETC}/key"
    )
    run("tollgatectl user add bob --credit 20")
    made = run("tollgatectl --json token create --user bob")
    return re.search(r'"token": *"([^"]+)"', made)[1]


def ask(client: HttpClient, simulator: Simulator, token: str) -> int:
    """A whole answer and a stream, event before event; what both cost."""
    headers = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]
    simulator.behave("gpt-4o", "ok", p=7, c=3)
    is_ok(client.request("POST", CHAT, headers, chat_body("gpt-4o")))
    simulator.behave("gpt-4o", "by-hand", text="w0 w1 w2", p=7, c=3)
    simulator.step("gpt-4o")
    exchange = client.open("POST", CHAT, headers, chat_body("gpt-4o", stream=True))
    for number in range(3):
        exchange.read_until(b"w%d" % number)
        assert not exchange.body.rstrip().endswith(b": keep-alive")
        simulator.step("gpt-4o")
    assert whole_stream(exchange.finish()).text == "w0 w1 w2"
    return 2 * bill({"prompt_tokens": 7, "completion_tokens": 3}, PRICE)


def spent() -> int:
    shown = run("tollgatectl --json show user bob")
    return 20 * 500_000 - int(re.search(r'"quota": *(\d+)', shown)[1])


def same(now: sites.Seen, before: sites.Seen) -> None:
    """The old site answers as it did."""
    for path, answer in before.items():
        assert now[path] == answer, f"{path} was {answer}, is {now[path]}"


def only_its_own_may_read() -> None:
    """The web server reaches the socket, and neither the master key nor the spool."""
    for path in [*ETC.iterdir(), Path("/var/spool/tollgate")]:
        mode = path.stat().st_mode
        assert mode & 0o007 == 0, f"{path} {mode:o}"
    can = ["setpriv", "--reuid", "www-data", "--regid", "www-data", "--init-groups"]
    for path in (ETC / "tollgate.secrets", "/var/spool/tollgate"):
        assert subprocess.run([*can, "test", "-r", str(path)]).returncode == 1, path
    assert subprocess.run([*can, "test", "-w", "/run/tollgate/tollgate.sock"]).returncode == 0


def main(server: str, build: str) -> None:
    assert os.geteuid() == 0 and not ETC.exists(), "only inside enter.sh"
    site = sites.SITES[server]()
    client = HttpClient(80)
    site.start()
    before, had = site.look(client), files()
    assert before["/page.html"][2] == sites.PAGE
    mariadb, redis, simulator = start_stores()

    run(f"make -C {build} install")
    configure(mariadb, redis)
    token = fill(simulator)
    services = unit.start("tollgate-fcgi.service", STORES)
    offsets = {process: process.log_size() for process in services}
    site.add_line()
    same(site.look(client), before)
    eventually("ready", lambda: client.request("GET", "/readyz").status == 200)
    eventually("the credit", lambda: spent() == 0)
    cost = ask(client, simulator, token)
    eventually("the bill", lambda: spent() == cost)
    only_its_own_may_read()
    eventually("audit clean", lambda: '"clean":true' in run("tollgatectl --json audit || true"))

    for process in services:
        assert process.stop(90) == 0, process.tail()
        found = process.complaints(offsets[process], [])
        assert found == [], found
    same(site.look(client), before)
    site.take_line_back()
    run(f"make -C {build} uninstall")
    left = files() - had
    assert left == set(), f"uninstall left {sorted(left)}"
    same(site.look(client), before)
    site.stop()
    for store in (simulator, redis, mariadb):
        store.stop()
    shutil.rmtree(STORES)
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
