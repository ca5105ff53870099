"""request_log and request_detail: one row per request, whatever became of it; secrets never."""

from __future__ import annotations

import pytest
from harness.checks import is_ok, whole_stream
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Account, Stack


def test_a_served_request(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "ok", p=120, r=20, c=30, t=11)
    answer = is_ok(account.chat())
    record = stack.site.record(answer.request_id)
    expected = {
        "node": "node1",
        "stream": 0,
        "token_id": account.token_id,
        "address": "127.0.0.1",
        "requested_model": "m-ref",
        "served_model": "m-ref",
        "upstream_model": "m-ref",
        "group_name": "default",
        "attempts": 1,
        "status": 200,
        "cache_read": 20,
        "output": 30,
        "reasoning": 11,
        "usage_source": "upstream",
        "quota": 378,  # 100 x 1.5 + 20 x 0.15 + 30 x 7.5
    }
    assert {name: record[name] for name in expected} == expected
    assert record["key_hint"] == KEYS[0][-4:]
    assert record["input"] in (100, 120)
    assert 0 < record["total_us"] < 60_000_000


def test_a_stream(stack: Stack, account: Account) -> None:
    answer = whole_stream(account.stream())
    record = stack.site.record(answer.request_id)
    assert (record["stream"], record["end_reason"], record["status"]) == (1, "done", 200)
    assert 0 < record["first_token_us"] <= record["total_us"]


@pytest.mark.parametrize(
    ("scenario", "status"), [("bad-request", 400), ("fail", 500), ("unauthorized", 502)]
)
def test_a_failed_request(stack: Stack, account: Account, scenario: str, status: int) -> None:
    stack.simulator.behave("m-ref", scenario)
    answer = account.chat()
    record = stack.site.record(answer.request_id)
    assert (record["status"], record["quota"]) == (status, 0)
    assert record["error_code"]


def test_one_row_per_request(stack: Stack, account: Account) -> None:
    ids = [account.chat(stream=number % 2 == 0).request_id for number in range(20)]
    assert len(set(ids)) == 20
    count = (
        "SELECT COUNT(*), COUNT(DISTINCT request_id) FROM request_log"
        f" WHERE token_id = {account.token_id}"
    )
    eventually("20 rows", lambda: stack.site.log_sql(count) == [["20", "20"]])


def test_show_request(stack: Stack, account: Account) -> None:
    answer = is_ok(account.chat())
    stack.site.record(answer.request_id)
    shown = stack.site.ctl("show", "request", answer.request_id)
    assert answer.request_id in str(shown)
    assert account.token not in str(shown)


def test_no_secret_in_any_table(stack: Stack, account: Account) -> None:
    is_ok(account.chat())
    secrets = [account.token, account.token[5:], *KEYS[:3]]
    for database in (stack.site.main_database, stack.site.log_database):
        dump = stack.mariadb.dump(database)
        for secret in secrets:
            assert secret not in dump, f"a secret is in {database}"


def test_no_secret_in_redis(stack: Stack, account: Account) -> None:
    is_ok(account.chat())
    stack.redis.command("BGREWRITEAOF")
    for path in (stack.redis.directory / "appendonlydir").iterdir():
        assert account.token.encode() not in path.read_bytes()
