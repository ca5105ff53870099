"""rotate-master-key: requests run on, keys are added, it is killed; no stored key is lost."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness.answer import Answer
from harness.another import another_gateway
from harness.checks import is_ok
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Account, Stack

names = itertools.count(1)
STOPS = ("added", "begun", "switched", "raised", "batch", "sealed", "retired")


def versions(stack: Stack) -> dict[int, int]:
    """How many keys are sealed with each version of the master key."""
    rows = stack.site.main_sql("SELECT key_version, COUNT(*) FROM channel_keys GROUP BY 1")
    return {int(version): int(count) for version, count in rows}


def rotate(stack: Stack, *options: str) -> dict[str, Any]:
    return stack.site.ctl("rotate-master-key", *options)


def has_two_keys(path: Path) -> bool:
    return "other_private" in path.read_text()


@pytest.fixture
def ring(stack: Stack, account: Account) -> tuple[str, int]:
    """A model and its channel, whose only right key stands behind 230 others that are disabled."""
    model = stack.new_model()
    channel = stack.channel(f"sealed-{next(names)}", [model], key=KEYS[3])
    lines = "".join(f"{KEYS[4]}-{number}\n" for number in range(230))
    stack.site.ctl("key", "add", str(channel), "--key-stdin", stdin=lines)
    stack.site.main_sql(
        f"UPDATE channel_keys SET state = 'disabled' WHERE channel_id = {channel} AND position > 0;"
        "UPDATE routing_version SET version = version + 1"
    )
    stack.site.ctl("key", "mode", str(channel), "polling")
    stack.wait_model(account, model)
    return model, channel


@contextmanager
def traffic(account: Account, model: str) -> Iterator[list[Answer]]:
    """Requests one after the other, on two threads, all the while."""
    answers: list[Answer] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            answers.append(account.chat(model))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        over.set()
        for thread in threads:
            thread.join()


def workers_have_no_unknown_key(stack: Stack) -> bool:
    return "cannot be opened" not in stack.gateway.process.log_text()


def test_all_rows_are_sealed_anew_while_requests_run_and_keys_are_added(
    stack: Stack, account: Account, ring: tuple[str, int]
) -> None:
    model, channel = ring
    before = versions(stack)
    (old,) = before
    with traffic(account, model) as answers:
        eventually("requests run", lambda: len(answers) > 4, 30)
        program = [stack.site.program("admin-cgi/tollgatectl"), "--conf", str(stack.site.conf)]
        running = subprocess.Popen(
            [*program, "--json", "rotate-master-key"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**stack.site.env},
        )
        added = 0
        while running.poll() is None:
            stack.site.ctl("key", "add", str(channel), "--key-stdin", stdin=f"{KEYS[5]}-{added}\n")
            added += 1
        done, said = running.communicate()
        assert running.returncode == 0, said
        count = len(answers)
        eventually("requests run on", lambda: len(answers) > count + 4, 30)
    for answer in answers:
        is_ok(answer)
    result = json.loads(done)
    assert result["key_version"] == old + 1 and result["continued"] is False
    assert result["sealed"] >= before[old]
    assert "keys are sealed with the new master key" in said
    assert versions(stack) == {old + 1: before[old] + added}
    assert not has_two_keys(stack.directory / "tollgate.secrets")
    assert workers_have_no_unknown_key(stack)

    def ready_says() -> set[str]:
        asked = [stack.fcgi.request("GET", "/readyz") for _ in range(6)]
        return {answer.json["secrets_fingerprint"] for answer in asked}

    eventually("workers name the new files", lambda: ready_says() == {result["fingerprint"]}, 20)
    # Processes that read everything anew open everything too.
    stack.gateway.restart()
    is_ok(account.chat(model))
    assert workers_have_no_unknown_key(stack)
    actions = stack.site.main_sql(
        "SELECT action FROM audit_log WHERE object_type = 'master_key' ORDER BY id DESC LIMIT 3"
    )
    assert [row[0] for row in actions] == [
        "master_key.retire", "master_key.switch", "master_key.begin",
    ]  # fmt: skip


def test_killed_at_any_point_it_goes_on_when_it_is_called_again(
    stack: Stack, account: Account, ring: tuple[str, int]
) -> None:
    model, _ = ring
    for stop in STOPS:
        old = max(versions(stack))
        stack.site.stop_file.write_text(f"rotate.{stop}")
        killed = stack.site.run_ctl("rotate-master-key")
        assert killed.returncode == -9, f"{stop}: {killed.stderr}"
        stack.site.ctl("channel", "add", f"late-{next(names)}", "--base-url",
                       stack.simulator.base_url, "--models", "m-late", "--key-stdin",
                       stdin=f"{KEYS[6]}\n")  # fmt: skip
        is_ok(account.chat(model))
        result = rotate(stack)
        assert result["key_version"] == old + 1 and result["continued"] is True, stop
        assert set(versions(stack)) == {old + 1}, stop
        assert not has_two_keys(stack.directory / "tollgate.secrets"), stop
        is_ok(account.chat(model))
    assert workers_have_no_unknown_key(stack)
    stack.gateway.restart()
    is_ok(account.chat(model))


def test_a_node_with_files_of_its_own_is_waited_for(
    stack: Stack, account: Account, ring: tuple[str, int]
) -> None:
    model, _ = ring
    here = [stack.directory / name for name in ("tollgate.secrets", "console.secrets")]
    there = [stack.directory / f"second-{path.name}" for path in here]
    old = max(versions(stack))

    def copy(number: int) -> None:
        draft = there[number].with_suffix(".draft")
        shutil.copy(here[number], draft)
        draft.rename(there[number])

    for number in range(2):
        copy(number)
    with another_gateway(
        stack,
        "second",
        listen__address=f"unix:{stack.directory}/second.sock",
        ledger__spool_dir=str(stack.directory / "second-spool"),
        node__run_dir=str(stack.directory / "second-run"),
        secrets__file=str(there[0]),
        secrets__console_file=str(there[1]),
    ) as client:
        own = Account(stack, account.name, account.credited, account.token, 0, client)
        is_ok(own.chat(model))
        refused = stack.site.run_ctl("rotate-master-key", "--wait", "1")
        assert refused.returncode == 1
        assert json.loads(refused.stdout)["error"]["code"] == "nodes_behind"
        assert "second" in refused.stderr
        assert set(versions(stack)) == {old}
        is_ok(own.chat(model))
        copy(0)
        assert rotate(stack)["key_version"] == old + 1
        assert set(versions(stack)) == {old + 1}
        for who in (own, account):
            is_ok(who.chat(model))
        # Who seals with the old public key is refused, not believed.
        stack.site.write_conf(secrets__file=str(there[0]), secrets__console_file=str(there[1]))
        try:
            channel = str(ring[1])
            late = stack.site.run_ctl("key", "add", channel, "--key-stdin", stdin="sk-x\n")
            again = stack.site.run_ctl("rotate-master-key")
        finally:
            stack.site.write_conf()
        assert json.loads(late.stdout)["error"]["code"] == "master_key_changed"
        assert json.loads(again.stdout)["error"]["code"] == "secrets_old"
        copy(1)
        copy(0)
        is_ok(own.chat(model))


def test_a_key_that_does_not_open_keeps_the_old_master_key(
    stack: Stack, account: Account, ring: tuple[str, int]
) -> None:
    model, channel = ring
    stack.site.main_sql(
        f"UPDATE channel_keys SET sealed = 'broken' WHERE channel_id = {channel} AND position = 7"
    )
    refused = stack.site.run_ctl("rotate-master-key")
    assert refused.returncode == 1
    error = json.loads(refused.stdout)["error"]
    assert error["code"] == "keys_left" and "1 channel keys are" in error["message"]
    assert has_two_keys(stack.directory / "tollgate.secrets")
    is_ok(account.chat(model))
    broken = stack.site.main_sql(
        f"SELECT id FROM channel_keys WHERE channel_id = {channel} AND position = 7"
    )[0][0]
    assert f"is {broken}:" in error["message"]
    stack.site.ctl("key", "remove", str(channel), broken)
    assert rotate(stack)["continued"] is True
    assert not has_two_keys(stack.directory / "tollgate.secrets")
    is_ok(account.chat(model))


def test_two_at_once_do_not_both_begin(stack: Stack) -> None:
    old = max(versions(stack))
    name = "SHA1(CONCAT(DATABASE(), ' master key'))"
    argv = ["mariadb", "--no-defaults", f"--socket={stack.mariadb.socket}", "-uroot"]
    holder = subprocess.Popen(
        [*argv, stack.site.main_database, "-e", f"SELECT GET_LOCK({name}, 0); SELECT SLEEP(99)"],
        stdout=subprocess.DEVNULL,
    )
    try:
        used = f"SELECT IS_USED_LOCK({name}) IS NOT NULL"
        eventually("another has the lock", lambda: stack.site.main_sql(used) == [["1"]], 30)
        refused = stack.site.run_ctl("rotate-master-key")
    finally:
        holder.kill()
        holder.wait()
    assert json.loads(refused.stdout)["error"]["code"] == "rotation_runs"
    assert set(versions(stack)) == {old}
