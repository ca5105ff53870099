"""Canaries: no secret turns up in a log, a table, Redis, a file, a command line or an answer."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.checks import is_ok
from harness.procs import children
from harness.simclient import KEYS
from harness.stack import CHAT, Account, Stack, chat_body
from harness.stores import DB_PASSWORD, REDIS_PASSWORD

JSON_TYPE = ("Content-Type", "application/json")
ADMIN_PASSWORD = "an admin's password"


def secrets_of(stack: Stack, account: Account) -> dict[str, bytes]:
    """Every secret of the installation by its name; keys in each of their written forms."""
    found = {"token": account.token[5:].encode(), "admin": ADMIN_PASSWORD.encode()}
    found |= {f"channel key {n}": key.encode() for n, key in enumerate(KEYS)}
    found |= {"database": DB_PASSWORD.encode(), "redis": REDIS_PASSWORD.encode()}
    for name in ("tollgate.secrets", "console.secrets"):
        text = (stack.directory / name).read_text()
        for number, value in enumerate(re.findall(r"[A-Za-z0-9+/_=-]{32,}", text)):
            found[f"{name} {number}"] = value.encode()
            if re.fullmatch(r"(?:[0-9a-f]{2})+", value):
                found[f"{name} {number} as bytes"] = bytes.fromhex(value)
    return found


# What holds secrets by its purpose, or is the tests' own.
HOLDERS = ("password", "tollgate.secrets", "console.secrets", "redis.conf", "appendonly", "ib_",
           "aria_", "undo", ".ibd", ".frm", ".MAD", ".MAI", "ibdata")  # fmt: skip


def files(stack: Stack) -> Iterator[tuple[str, bytes]]:
    for path in sorted(stack.directory.rglob("*")):
        if path.is_file() and not path.name.endswith(HOLDERS) and not path.name.startswith(HOLDERS):
            if "mariadb/data" not in str(path):
                yield str(path.relative_to(stack.directory)), path.read_bytes()


def places(stack: Stack) -> Iterator[tuple[str, bytes]]:
    yield from files(stack)
    for database in (stack.site.main_database, stack.site.log_database):
        yield f"database {database}", stack.mariadb.dump(database).encode()
    stack.redis.command("BGREWRITEAOF")
    for path in (stack.redis.directory / "appendonlydir").iterdir():
        yield f"Redis {path.name}", path.read_bytes()
    for process in (stack.gateway.process, stack.ledger.process):
        for pid in [process.pid, *children(process.pid)]:
            for name in ("cmdline", "comm"):
                yield f"{process.name} {name}", Path(f"/proc/{pid}/{name}").read_bytes()


def provoke(stack: Stack, account: Account) -> list[bytes]:
    """Requests of all kinds, with secrets where a log line might repeat them; their answers."""
    stack.simulator.behave("m-ref", "leaky-error")
    answers = [account.chat(), account.stream()]
    stack.simulator.behave("m-ref", "ok")
    by_query = account.open(chat_body(), [JSON_TYPE], f"{CHAT}?key={account.token}")
    answers.append(is_ok(by_query.finish()))
    wrong = account.token[:-1] + ("A" if account.token[-1] != "A" else "B")
    for headers in ([("Authorization", f"Bearer {wrong}")], [("x-api-key", account.token + "x")]):
        answers.append(account.post(chat_body(), [*headers, JSON_TYPE]))
    answers.append(account.open(b"{", uri=f"/v1/nothing?key={account.token}").finish())
    answers.append(account.post(b'{"model": ' + account.token.encode()))
    answers.append(stack.fcgi.request("GET", "/readyz"))
    answers.append(stack.fcgi.request("GET", "/metrics"))
    shown = [
        stack.site.run_ctl(*argv, as_json=as_json).stdout.encode()
        for argv in (["config", "show"], ["show", "user", account.name], ["channel", "list"],
                     ["show", "token", str(account.token_id)], ["secrets", "fingerprint"])
        for as_json in (False, True)
    ]  # fmt: skip
    return [answer.body + json.dumps(answer.headers).encode() for answer in answers] + shown


@pytest.mark.complains("conf", "redis", "snapshot", "database")
def test_canaries(stack: Stack, account: Account) -> None:
    said = provoke(stack, account)
    stack.gateway.process.signal(signal.SIGHUP)
    is_ok(account.chat())
    stack.site.wait_clean()
    secrets = secrets_of(stack, account)
    assert len(secrets) >= len(KEYS) + 7, "the secret files were read"
    found = [
        f"{secret} in {place}"
        for place, text in [*places(stack), *((f"answer {n}", text) for n, text in enumerate(said))]
        for secret, value in secrets.items()
        if value in text
    ]
    assert found == []
