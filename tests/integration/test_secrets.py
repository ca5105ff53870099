"""Canaries: no secret turns up in a log, a table, Redis, a file, a command line or an answer."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from harness import canary
from harness.checks import is_ok
from harness.procs import children
from harness.simclient import KEYS
from harness.stack import CHAT, Account, Stack, chat_body

JSON_TYPE = ("Content-Type", "application/json")
ADMIN_PASSWORD = "an admin's password"


def secrets_of(stack: Stack, account: Account) -> dict[str, bytes]:
    return {
        **canary.fixed_secrets(),
        **canary.master_keys(stack),
        "token": account.token[5:].encode(),
        "admin": ADMIN_PASSWORD.encode(),
    }


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
    stack.simulator.behave("m-ref", "unauthorized")
    failed = account.chat()
    stack.simulator.behave("m-ref", "ok")
    answers.append(failed)
    answers.append(stack.fcgi.request("GET", "/readyz"))
    answers.append(stack.fcgi.request("GET", "/metrics"))
    stack.site.record(failed.request_id)
    commands = [
        ["config", "show"], ["show", "user", account.name], ["channel", "list"],
        ["show", "token", str(account.token_id)], ["secrets", "fingerprint"],
        ["show", "request", failed.request_id], ["explain", failed.request_id],
        ["show", "channel", "1"], ["key", "list", "1"], ["channel", "test", "1"],
        ["key", "add", "1", "--key-stdin"], ["key", "add", "99", "--key-stdin"],
        ["rotate-master-key"], ["audit-log", "list"], ["node", "list"],
    ]  # fmt: skip
    lines = "".join(f"{key}\n" for key in KEYS[:3] * 2) + "a key with a bell\a\n"
    shown = []
    for argv in commands:
        for as_json in (False, True):
            for stdin in (lines, "\n".join(KEYS)) if "--key-stdin" in argv else ("",):
                done = stack.site.run_ctl(*argv, as_json=as_json, stdin=stdin)
                shown.append((done.stdout + done.stderr).encode())
    return [answer.body + json.dumps(answer.headers).encode() for answer in answers] + shown


@pytest.mark.complains("conf", "redis", "snapshot", "database", "route")
@pytest.mark.books_differ("the test of a channel is nobody's to pay")
def test_canaries(stack: Stack, account: Account) -> None:
    secrets = secrets_of(stack, account)
    with stack.gateway.with_settings(log__level="debug"):
        said = provoke(stack, account)
        stack.gateway.process.signal(signal.SIGHUP)
        is_ok(account.chat())
    stack.site.wait_clean()
    secrets |= secrets_of(stack, account)  # there is another master key now
    found = canary.everywhere(stack, secrets)
    for number, text in enumerate(said):
        found += canary.in_text(f"answer {number}", text, secrets)
    assert found == []


def test_what_is_planted_is_found(stack: Stack) -> None:
    """The search itself: in a file, in a table and its file, in Redis."""
    planted = {"planted": b"a-canary-that-was-planted"}
    text = planted["planted"].decode()
    assert canary.everywhere(stack, planted) == []
    (stack.directory / "spool" / "planted.log").write_text(f"x {text} y")
    stack.site.ctl("group", "set", "planted", "--ratio", "1")
    stack.site.main_sql(f"UPDATE `groups` SET description = '{text}' WHERE name = 'planted'")
    stack.redis.command("SET", "tg:planted", text)
    found = canary.everywhere(stack, planted)
    (stack.directory / "spool" / "planted.log").unlink()
    stack.redis.command("DEL", "tg:planted")
    stack.site.main_sql("DELETE FROM `groups` WHERE name = 'planted'")
    for place in ("planted.log", "database tg_main", "appendonlydir"):
        assert [line for line in found if place in line], f"not found in {place}: {found}"


def test_our_programs_write_no_core_files(stack: Stack) -> None:
    for process in (stack.gateway.process, stack.ledger.process):
        for pid in [process.pid, *children(process.pid)]:
            (line,) = [
                line
                for line in Path(f"/proc/{pid}/limits").read_text().splitlines()
                if line.startswith("Max core file size")
            ]
            assert line.split()[4:6] == ["0", "0"], f"{process.name}: {line}"
