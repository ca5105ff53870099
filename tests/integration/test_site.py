"""What surrounds the requests: sockets, health by store, metrics by name, partitions, files."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from harness.another import another_gateway
from harness.checks import is_error, is_ok, whole_stream
from harness.procs import eventually, free_port
from harness.stack import Account, Stack, chat_body

AWAY = pytest.mark.complains("redis", "database", "mysql", "ledger", "snapshot", "spool", "shard",
                             "reserve", "settle")  # fmt: skip

METRICS = [
    "requests_total", "errors_total", "shed_total", "attempts_total", "input_tokens_total",
    "output_tokens_total", "quota_total", "settle_later_total", "client_gone_total",
    "worker_restarts_total", "inflight", "threads", "streams", "finishing", "books_readable",
    "open_holds", "journal_lag_ms", "journal_waiting_shards", "spool_files", "spool_bytes",
    "spool_lag_s", "spool_healthy", "snapshot_age_ms", "ledger_up",
]  # fmt: skip
TIMED = ["access", "body", "estimate", "reserve", "relay", "settle"]


def metric_lines(stack: Stack) -> dict[str, float]:
    text = stack.fcgi.request("GET", "/metrics").body.decode()
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def test_every_figure_is_there(stack: Stack, account: Account) -> None:
    whole_stream(account.stream())
    values = metric_lines(stack)
    assert [name for name in METRICS if f"tollgate_{name}" not in values] == []
    for stage in TIMED:
        assert values[f'tollgate_stage_us_count{{stage="{stage}"}}'] >= 1
        assert values[f'tollgate_stage_us_sum{{stage="{stage}"}}'] >= 0


def test_a_running_request_is_seen(stack: Stack, account: Account) -> None:
    """One request more in flight, one stream, one open hold; all three are gone afterwards."""
    before = metric_lines(stack)
    stack.simulator.behave("m-ref", "slow-tokens", ms=300, x=5)
    exchange = account.open_stream()
    exchange.read_until(b"word0")
    during = metric_lines(stack)
    for name in ("tollgate_streams", "tollgate_open_holds"):
        assert during[name] == before[name] + 1, name
    whole_stream(exchange.finish())

    def over() -> bool:
        now = metric_lines(stack)
        return all(
            now[name] == before[name]
            for name in ("tollgate_streams", "tollgate_open_holds", "tollgate_inflight")
        )

    eventually("the gauges are back", over)


def test_a_port_is_listened_on(stack: Stack, account: Account) -> None:
    port = free_port()
    with another_gateway(stack, "node-tcp", listen__address=f"tcp:127.0.0.1:{port}") as client:
        assert client.request("GET", "/healthz").status == 200
        account.client = client
        is_ok(account.chat())
        whole_stream(account.stream())
        stack.simulator.behave("m-ref", "hang")
        exchange = account.open_stream()
        stack.simulator.wait(3)
        exchange.close()
        left = time.monotonic()
        stack.simulator.wait(3, finished=True)
        assert time.monotonic() - left < 3, "a client that leaves is noticed on a port as well"


def test_a_change_is_told_to_the_workers_at_once(stack: Stack, account: Account) -> None:
    """Sooner than the snapshot would be looked at anyway, which is once an hour here."""
    address = f"unix:{stack.directory}/told.sock"
    changes = {"listen__address": address, "snapshot__interval": "1h"}
    with another_gateway(stack, "node-told", **changes) as client:
        account.client = client
        model = stack.new_model()
        is_error(account.chat(model), 404, "invalid_request_error", "model_not_found")
        stack.channel(f"told-{model}", [model])
        for _ in range(4):  # whichever worker takes it
            eventually("the model is served", lambda: account.chat(model).status == 200)


@pytest.mark.complains("worker", "redis", "hold", "ledger")
def test_a_killed_master_takes_its_workers_along(stack: Stack, account: Account) -> None:
    """Nobody serves without a master, and the path is free for the next one."""
    is_ok(account.chat())
    workers = stack.gateway.workers()
    os.kill(stack.gateway.process.pid, signal.SIGKILL)
    stack.gateway.process.wait()
    eventually("the workers end", lambda: not any(alive(pid) for pid in workers), 60)
    stack.gateway.start()
    is_ok(account.chat())


def alive(pid: int) -> bool:
    """A worker without a parent may stay a zombie where nobody collects orphans."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@AWAY
def test_ready_says_which_store_is_away(stack: Stack, account: Account) -> None:
    """Live accounts go on without MySQL; nothing paid goes on without Redis."""
    is_ok(account.chat())

    def ready(status: int, redis: str, database: str) -> bool:
        answer = stack.fcgi.request("GET", "/readyz")
        said = (answer.json["redis"], answer.json["main_database"])
        return answer.status == status and said == (redis, database)

    eventually("ready", lambda: ready(200, "up", "up"))
    stack.mariadb.stop()
    try:
        eventually("MySQL away: ready", lambda: ready(200, "up", "down"))
    finally:
        stack.mariadb.start()
    eventually("ready again", lambda: ready(200, "up", "up"))
    stack.redis.stop()
    try:
        eventually("Redis away: not ready", lambda: ready(503, "down", "up"))
        eventually("money in MySQL: ready", lambda: ready(200, "down", "up"), 30)
        assert stack.fcgi.request("GET", "/readyz").json["money"] == "offline"
    finally:
        stack.redis.start()
    eventually("ready again", lambda: ready(200, "up", "up"))
    eventually("requests are served again", lambda: account.chat().status == 200, 60)
    eventually(
        "money is in Redis again",
        lambda: stack.fcgi.request("GET", "/readyz").json["money"] == "online",
        60,
    )


def partitions(rows: list[list[str]]) -> list[str]:
    return [limit for (limit,) in rows]


def test_partitions_are_made_ahead(stack: Stack) -> None:
    """A month of the log and a day of the entries that have not come yet have their partition."""
    asked = (
        "SELECT partition_description FROM information_schema.partitions WHERE"
        " table_schema = DATABASE() AND table_name = '{}' ORDER BY partition_ordinal_position"
    )
    months = partitions(stack.site.log_sql(asked.format("request_log")))
    days = partitions(stack.site.main_sql(asked.format("ledger_entry")))
    assert len(months) >= 3, months
    assert len(days) >= 3 and days[-1] == "MAXVALUE", days
    # A key of tomorrow lies in a partition of its own day, not in the last one.
    tomorrow = f"{int((time.time() + 86400) * 1000):012x}"
    limits = [limit.lower().replace("0x", "").strip("'_binary ") for limit in days[:-1]]
    assert any(limit[:12] > tomorrow for limit in limits), days


def test_a_large_body_lies_in_a_file_without_a_name(stack: Stack, account: Account) -> None:
    """Nobody can open it, and a killed worker leaves none behind."""
    stack.simulator.behave("m-ref", "hang-before")
    exchange = account.open(chat_body(text="x" * (3 << 20)))
    stack.simulator.wait(1)
    assert any(size > 3 << 20 for size in unlinked(stack)), unlinked(stack)
    for path in (stack.directory / "run").rglob("*"):
        assert not path.is_file() or path.stat().st_size < 1 << 20, path
    exchange.close()
    eventually("the file is closed", lambda: max(unlinked(stack), default=0) < 3 << 20)


def unlinked(stack: Stack) -> list[int]:
    """Sizes of what the workers have mapped of files on disk that have no name."""
    found = []
    for pid in stack.gateway.workers():
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            fields = line.split(maxsplit=5)
            if line.endswith("(deleted)") and fields[1].startswith("r--"):
                first, last = fields[0].split("-")
                found.append(int(last, 16) - int(first, 16))
    return found
