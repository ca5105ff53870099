"""tollgatectl: exit codes, JSON, secrets, repeating what may be repeated."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness.checks import is_ok
from harness.gateway import CtlError, Site
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Account, Stack, chat_body


@pytest.mark.parametrize(
    "argv",
    [[], ["nonsense"], ["user"], ["user", "add"], ["price", "set", "m", "--input", "abc"],
     ["credit", "admin"], ["token", "create"], ["show", "planet", "1"], ["audit", "extra"]],
    ids=lambda argv: " ".join(argv) or "nothing",
)  # fmt: skip
def test_wrong_usage_is_exit_2(stack: Stack, argv: list[str]) -> None:
    done = stack.site.run_ctl(*argv)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stderr


@pytest.mark.parametrize(
    "argv",
    [["show", "user", "nobody-here"], ["show", "token", "999999"], ["channel", "test", "999999"],
     ["credit", "nobody-here", "1"], ["token", "revoke", "999999"],
     ["token", "create", "--user", "nobody-here"], ["show", "request", "0" * 32]],
    ids=" ".join,
)  # fmt: skip
def test_what_is_not_there_is_exit_1(stack: Stack, argv: list[str]) -> None:
    done = stack.site.run_ctl(*argv)
    assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)


def test_a_store_that_is_away_is_exit_3(stack: Stack, tmp_path: Path) -> None:
    conf = tmp_path / "tollgate.conf"
    text = stack.site.conf.read_text()
    conf.write_text(text.replace(str(stack.mariadb.socket), str(tmp_path / "none")))
    done = stack.site.run_ctl("--conf", str(conf), "show", "user", "admin", conf=False)
    assert done.returncode == 3, (done.returncode, done.stdout, done.stderr)
    assert "password-of-the-tests" not in done.stdout + done.stderr


def test_help_and_version(stack: Stack) -> None:
    for program in ("admin-cgi/tollgatectl", "fcgi-app/tollgate-fcgi", "fcgi-app/tollgate-ledger"):
        for option in ("--help", "--version"):
            done = subprocess.run(
                [stack.site.program(program), option], capture_output=True, text=True
            )
            assert done.returncode == 0 and done.stdout.strip(), (program, option, done.stderr)


def test_migrate_may_be_repeated_and_run_twice_at_once(stack: Stack) -> None:
    before = stack.site.main_sql("SHOW TABLES") + stack.site.log_sql("SHOW TABLES")
    with ThreadPoolExecutor(2) as threads:
        codes = list(threads.map(lambda _: stack.site.run_ctl("migrate").returncode, range(4)))
    assert codes == [0, 0, 0, 0]
    assert stack.site.main_sql("SHOW TABLES") + stack.site.log_sql("SHOW TABLES") == before


def test_migrate_of_empty_databases_twice_at_once(stack: Stack, tmp_path: Path) -> None:
    name = f"tg_fresh{next(stack.numbers)}"
    site = Site(tmp_path, stack.mariadb, stack.redis, name, name + "_log")
    for file in ("tollgate.secrets", "console.secrets"):
        (tmp_path / file).write_bytes((stack.directory / file).read_bytes())
        (tmp_path / file).chmod(0o600)
    site.write_conf()
    with ThreadPoolExecutor(3) as threads:
        done = list(threads.map(lambda _: site.run_ctl("migrate"), range(3)))
    assert [one.returncode for one in done] == [0, 0, 0], [one.stderr for one in done]
    assert len(site.main_sql("SHOW TABLES")) == len(stack.site.main_sql("SHOW TABLES"))
    assert len(site.log_sql("SHOW TABLES")) == len(stack.site.log_sql("SHOW TABLES"))


def test_migrate_over_a_half_applied_step(stack: Stack, tmp_path: Path) -> None:
    """A step that stopped after its first statements (DDL is not undone) is run to its end."""
    name = f"tg_half{next(stack.numbers)}"
    site = Site(tmp_path, stack.mariadb, stack.redis, name, name + "_log")
    for file in ("tollgate.secrets", "console.secrets"):
        (tmp_path / file).write_bytes((stack.directory / file).read_bytes())
        (tmp_path / file).chmod(0o600)
    site.write_conf()
    site.ctl("migrate")
    whole = site.main_sql("SHOW TABLES")
    history = [table for (table,) in whole if "migration" in table]
    assert len(history) == 1, "the table that remembers applied migrations"
    site.main_sql(f"DELETE FROM `{history[0]}`")
    site.ctl("migrate")
    assert site.main_sql("SHOW TABLES") == whole


def test_init_never_overwrites(stack: Stack, tmp_path: Path) -> None:
    options = ["--main", "mysql://a@localhost/b", "--log", "mysql://a@localhost/c"]
    first = stack.site.run_ctl("init", "--directory", str(tmp_path), *options, conf=False)
    assert first.returncode == 0, first.stderr
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert {"tollgate.conf", "tollgate.secrets", "console.secrets"} <= set(kept)
    for name in ("tollgate.secrets", "console.secrets"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) & 0o007 == 0, name
    stack.site.run_ctl("init", "--directory", str(tmp_path), *options, conf=False)
    again = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert again == kept
    checked = stack.site.run_ctl(
        "--conf", str(tmp_path / "tollgate.conf"), "config", "check", conf=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('listen: { adress = "unix:/x"; };\n', "adress"),
        ('pool: { workers = "two"; };\n', "workers"),
        ("pool: { workers = 0; };\n", "workers"),
        ('stream: { keepalive_first = "soon"; };\n', "keepalive_first"),
        ('stream: { keepalive_first = "15s" ', ""),
    ],
    ids=["unknown", "type", "bounds", "unit", "syntax"],
)
def test_config_check_names_file_and_line(
    stack: Stack, tmp_path: Path, text: str, word: str
) -> None:
    conf = tmp_path / "broken.conf"
    conf.write_text("# a comment\n" + text)
    done = stack.site.run_ctl("--conf", str(conf), "config", "check", conf=False, as_json=False)
    assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
    assert f"{conf}:2" in done.stdout + done.stderr or not word
    assert word in done.stdout + done.stderr


def test_config_show_names_the_source(stack: Stack) -> None:
    done = stack.site.run_ctl("config", "show", env={"TOLLGATE_RETRY_ATTEMPTS": "7"})
    assert done.returncode == 0
    text = done.stdout
    assert "retry.attempts" in text and "environment" in text and "default" in text
    json.loads(text)


def test_the_conf_file_beats_the_environment(stack: Stack) -> None:
    done = stack.site.run_ctl("config", "show", as_json=False, env={"TOLLGATE_NODE_NAME": "other"})
    line = next(line for line in done.stdout.splitlines() if "node.name" in line)
    assert "node1" in line and "other" not in line


def test_a_token_is_shown_once(stack: Stack, account: Account) -> None:
    assert account.token.startswith("sk-tg") and len(account.token) == 48
    assert account.token[5:].isalnum()
    for argv in (["show", "token", str(account.token_id)], ["show", "user", account.name]):
        done = stack.site.run_ctl(*argv)
        assert account.token not in done.stdout and account.token[10:30] not in done.stdout


@pytest.mark.complains("redis", "ledger", "shard", "spool", "snapshot")
def test_a_change_that_redis_cannot_be_told_is_not_made(stack: Stack, account: Account) -> None:
    """Half a revocation would leave the token working for as long as the cache holds it."""
    is_ok(account.chat("m-free"))
    changes = (["token", "revoke", str(account.token_id)], ["user", "disable", account.name])
    log = stack.ledger.process.log_size()
    stack.redis.stop()
    try:
        for argv in changes:
            done = stack.site.run_ctl(*argv)
            assert done.returncode == 3, (argv, done.returncode, done.stdout, done.stderr)
    finally:
        stack.redis.start()
    shown = stack.site.ctl("show", "token", str(account.token_id))
    assert shown["status"] == "enabled" and account.show()["status"] == "enabled"
    eventually("the token works", lambda: account.chat("m-free").status == 200, 60)
    rebuilt = "shards were rebuilt"
    eventually(rebuilt, lambda: stack.ledger.process.log_contains(rebuilt, log), 60)
    stack.site.wait_clean()


def test_a_channels_key_is_never_shown(stack: Stack) -> None:
    listed = stack.site.run_ctl("channel", "list")
    assert listed.returncode == 0
    assert KEYS[0] not in listed.stdout
    channel = json.loads(listed.stdout)
    first = (channel if isinstance(channel, list) else channel["channels"])[0]
    shown = stack.site.run_ctl("show", "channel", str(first["id"]))
    assert shown.returncode == 0 and KEYS[0] not in shown.stdout


@pytest.mark.parametrize("way", ["stdin", "file", "environment"])
def test_ways_of_giving_a_key(stack: Stack, account: Account, tmp_path: Path, way: str) -> None:
    model = stack.new_model()
    argv = ["channel", "add", f"way-{model}", "--base-url", stack.simulator.base_url]
    argv += ["--models", model]
    if way == "stdin":
        done = stack.site.run_ctl(*argv, "--key-stdin", stdin=KEYS[5] + "\n")
    elif way == "file":
        (tmp_path / "key").write_text(KEYS[5] + "\n")
        (tmp_path / "key").chmod(0o600)
        done = stack.site.run_ctl(*argv, "--key-file", str(tmp_path / "key"))
    else:
        done = stack.site.run_ctl(*argv, env={"TOLLGATE_CHANNEL_KEY": KEYS[5]})
    assert done.returncode == 0, done.stderr
    stack.wait_model(account, model)
    is_ok(account.chat(model))
    assert stack.simulator.only().key == KEYS[5]


def test_channel_set_changes_what_it_names(stack: Stack) -> None:
    number = next(stack.numbers)
    channel = str(stack.channel(f"set{number}", [f"m-set-{number}"], "--weight", "3"))
    before = stack.site.ctl("show", "channel", channel)
    stack.site.ctl("channel", "set", channel, "--priority", "7", "--map", "a=b,c=d")
    after = stack.site.ctl("show", "channel", channel)
    assert (after["priority"], after["weight"]) == (7, 3)
    assert after["model_mapping"] == {"a": "b", "c": "d"}
    stack.site.ctl("channel", "set", channel, "--map", "", "--name", f"renamed{number}",
                   "--models", f"m-set-{number},m-more", "--groups", "nobody", "--weight", "0",
                   "--loss", "strict")  # fmt: skip
    after = stack.site.ctl("show", "channel", channel)
    assert (after["name"], after["priority"], after["weight"]) == (f"renamed{number}", 7, 0)
    assert not after["model_mapping"] and after["loss_policy"] == "strict"
    assert after["base_url"] == before["base_url"] and after["provider"] == before["provider"]
    wanted = f"abilities WHERE channel_id = {channel}"
    rows = stack.site.main_sql(f"SELECT group_name, model FROM {wanted}")
    assert sorted(map(tuple, rows)) == [("nobody", "m-more"), ("nobody", f"m-set-{number}")]
    for argv in ([channel], [channel, "--weight", "x"], ["999999", "--weight", "1"],
                 [channel, "--timeouts", "never=1s"]):  # fmt: skip
        with pytest.raises(CtlError):
            stack.site.ctl("channel", "set", *argv)


def test_channel_test(stack: Stack) -> None:
    good = stack.channel(f"good{next(stack.numbers)}", ["m-ref"], "--groups", "nobody")
    assert stack.site.run_ctl("channel", "test", str(good)).returncode == 0
    bad = stack.channel(
        f"bad{next(stack.numbers)}", ["m-ref"], "--groups", "nobody", key="sk-wrong"
    )
    done = stack.site.run_ctl("channel", "test", str(bad))
    assert done.returncode == 1 and "sk-wrong" not in done.stdout + done.stderr


def test_admin_exists_once(stack: Stack) -> None:
    done = stack.site.run_ctl("create-admin", "admin", "--password-stdin", stdin="another one\n")
    assert done.returncode == 1, (done.stdout, done.stderr)
    shown = stack.site.ctl("show", "user", "admin")
    assert "argon2" not in json.dumps(shown)


def test_credit_by_name_and_back(stack: Stack, account: Account) -> None:
    account.wait_spent(0)
    account.credit("0.5")
    account.wait_spent(0)
    account.credit("-0.25")
    account.wait_spent(0)
    assert account.balance == 5_125_000


def test_secrets_travel(stack: Stack, tmp_path: Path) -> None:
    exported = stack.site.run_ctl("secrets", "export", as_json=False)
    assert exported.returncode == 0 and exported.stdout
    fingerprint = stack.site.run_ctl("secrets", "fingerprint", as_json=False).stdout
    assert fingerprint.strip() and fingerprint.strip() not in exported.stdout
    other = Site(tmp_path, stack.mariadb, stack.redis, "tg_main", "tg_log")
    other.write_conf()
    imported = other.run_ctl("secrets", "import", stdin=exported.stdout, as_json=False)
    assert imported.returncode == 0, imported.stderr
    assert other.run_ctl("secrets", "fingerprint", as_json=False).stdout == fingerprint
    mode = stat.S_IMODE(os.stat(tmp_path / "tollgate.secrets").st_mode)
    assert mode & 0o007 == 0


@pytest.mark.books_differ("two prices of one model")
def test_price_set_holds_for_new_requests(stack: Stack, account: Account) -> None:
    model = stack.new_model()
    stack.channel(f"priced-{model}", [model])
    stack.wait_model(account, model)
    stack.simulator.behave(model, "ok", p=1000, c=0)
    is_ok(account.chat(model))
    account.wait_spent(1500)
    stack.site.ctl("price", "set", model, "--input", "4", "--output", "4")

    def dearer() -> bool:
        before = account.spent
        is_ok(account.post(chat_body(model)))
        eventually("it is billed", lambda: account.spent > before)
        return account.spent - before == 2000

    eventually("the new price holds", dearer, 20)
