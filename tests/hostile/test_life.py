"""Processes under pressure: drain, reload, death, crash loop, shedding, descriptors, threads."""

from __future__ import annotations

import os
import resource
import select
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.checks import is_error, is_ok, whole_stream
from harness.fcgi import Exchange
from harness.procs import children, descriptors, eventually
from harness.stack import Account, Stack, chat_body


QUIET = {"stream__keepalive_first": "60s"}  # what has a byte to read has an answer


def threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))


# --- drain ----------------------------------------------------------------------------------


def test_sigterm_drains_500_running_streams(stack: Stack) -> None:
    account = stack.account("1000")
    # Five hundred renewals a second, as the tests have them, are another test's.
    with stack.gateway.restarted_with(hold__lease="120s", hold__renew="30s"):
        stack.simulator.behave("m-ref", "held", x=4)
        exchanges = [account.open_stream() for _ in range(500)]
        for exchange in exchanges:
            exchange.read_until(b"word1")
        offset = stack.gateway.process.log_size()
        stack.gateway.process.signal(signal.SIGTERM)
        eventually(
            "it drains",
            lambda: stack.gateway.process.log_contains("running requests may finish", offset),
            60,
        )
        stack.simulator.step("m-ref", 500)
        for exchange in exchanges:
            assert whole_stream(exchange.finish()).text == "word0 word1 word2 word3"
        assert stack.gateway.process.wait(60) == 0


@pytest.mark.complains("left to the replay")
@pytest.mark.books_differ("half answers are billed by what arrived")
def test_what_is_left_at_drain_timeout_ends_with_an_error_and_its_bill(stack: Stack) -> None:
    """Streams with content, streams without, whole answers: all have an end, and what it costs."""
    account = stack.account("100")
    with stack.gateway.restarted_with(pool__drain_timeout="1s"):
        stack.simulator.behave("m-ref", "hang-after", text="Rivers carry sediment")
        stack.simulator.behave("m-alt", "hang")
        stack.simulator.behave("gpt-4o", "hang-before")
        half = [account.open_stream() for _ in range(20)]
        for exchange in half:
            exchange.read_until(b" carry")
        silent = [account.open_stream("m-alt"), account.open(chat_body("gpt-4o"))]
        stack.simulator.wait(22)
        stack.gateway.process.signal(signal.SIGTERM)
        for exchange in half:
            answer = is_ok(exchange.finish())
            assert answer.complete and not answer.done
            error = answer.chunks[-1]["error"]
            assert (error["type"], error["code"]) == ("server_error", "overloaded")
            row = stack.site.record(answer.request_id)
            assert row["end_reason"] == "handler_stop"
            assert row["usage_source"] == "counted_locally" and 0 < row["quota"] < 200
        for exchange in silent:
            answer = exchange.finish()
            error = is_error(answer, 503, "server_error", "overloaded")
            assert "shutting down" in error["message"]
            assert int(answer.header("retry-after") or 0) >= 1
            row = stack.site.record(answer.request_id)
            assert (row["end_reason"], row["quota"]) == ("handler_stop", 0)
        assert stack.gateway.process.wait(60) == 0
        assert not stack.gateway.process.log_contains("did not end although")
    stack.site.wait_clean()
    kinds = stack.site.main_sql(
        f"SELECT kind, COUNT(*) FROM ledger_entry WHERE token_id = {account.token_id}"
        " GROUP BY kind ORDER BY kind"
    )
    assert {kind: int(count) for kind, count in kinds} == {"charge": 20, "refund": 2}


def test_a_body_under_way_does_not_hold_up_the_end(stack: Stack, account: Account) -> None:
    with stack.gateway.restarted_with(pool__drain_timeout="1s"):
        exchange = account.open(b'{"model":"m-ref",', length="1000", end_body=False)
        stack.gateway.process.signal(signal.SIGTERM)
        is_error(exchange.finish(), 503, "server_error", "overloaded")
        assert stack.gateway.process.wait(60) == 0
    assert stack.simulator.requests() == []


# --- reload ---------------------------------------------------------------------------------


def test_sighup_loses_no_request(stack: Stack, account: Account) -> None:
    account.credit("100")
    stop = threading.Event()
    seen: Counter[int] = Counter()

    def ask() -> None:
        while not stop.is_set():
            seen[account.chat().status] += 1

    workers = stack.gateway.workers()
    with ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(ask) for _ in range(8)]
        for _ in range(10):
            before = sum(seen.values())
            stack.gateway.reload()
            eventually("requests go on", lambda n=before: sum(seen.values()) > n + 8, 60)
        stop.set()
        for future in asking:
            future.result()
    assert set(seen) == {200}, seen
    assert stack.gateway.workers() == workers


# --- death ----------------------------------------------------------------------------------


@pytest.mark.complains("worker", "master")
def test_a_crash_loop_is_damped(stack: Stack, account: Account) -> None:
    offset = stack.gateway.process.log_size()
    kills = 0
    while not stack.gateway.process.log_contains("die too often", offset):
        assert kills < 12
        for pid in children(stack.gateway.process.pid):
            os.kill(pid, signal.SIGKILL)
            kills += 1
        time.sleep(0.2)
    assert kills >= 5
    for pid in children(stack.gateway.process.pid):  # what was forked before the fifth death
        os.kill(pid, signal.SIGKILL)
    # Nothing is forked in the pause, and the master waits without eating the processor.
    eventually("all are dead", lambda: children(stack.gateway.process.pid) == [])
    ticks = sum(processor_ticks(stack.gateway.process.pid))
    time.sleep(1)
    assert children(stack.gateway.process.pid) == []
    assert sum(processor_ticks(stack.gateway.process.pid)) - ticks < 20
    eventually("the workers are back", lambda: len(stack.gateway.workers()) == 2, 60)
    eventually("requests are served", lambda: account.chat().status == 200, 60)


def processor_ticks(pid: int) -> tuple[int, int]:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]), int(fields[12])


# --- room -----------------------------------------------------------------------------------


@pytest.mark.books_differ("streams that are left half-way")
def test_fr158_a_full_node_sheds_and_still_answers_questions(stack: Stack) -> None:
    account = stack.account("100")
    with stack.gateway.restarted_with(pool__max_inflight=20):
        stack.simulator.behave("m-ref", "hang")
        held = [account.open_stream() for _ in range(20)]
        stack.simulator.wait(20)
        for _ in range(10):
            answer = account.chat()
            is_error(answer, 503, "server_error", "overloaded")
            assert answer.header("retry-after") == "1"
            assert stack.fcgi.request("GET", "/healthz").status == 200
            models = stack.fcgi.request("GET", "/v1/models", account.auth())
            assert models.status == 200
        # A body that is still coming does not delay the refusal.
        slow = account.open(b'{"model":', length="1000000", end_body=False)
        assert slow.finish().status == 503
        assert len(stack.simulator.requests()) == 20
        for exchange in held:
            exchange.close()
        stack.simulator.behave("m-ref", "ok")
        eventually("room again", lambda: account.chat().status == 200)


@pytest.mark.books_differ("streams that are left half-way")
def test_fr141_health_is_answered_while_every_thread_streams(stack: Stack) -> None:
    account = stack.account("100")
    few = {"pool__workers": 1, "pool__threads_max": 16, "pool__threads_spare": 2}
    with stack.gateway.restarted_with(**few, **QUIET):
        stack.simulator.behave("m-ref", "hang")
        held = [account.open_stream() for _ in range(20)]
        refused = refused_of(stack, held)
        for _ in range(5):  # while every thread waits for an upstream that says nothing
            assert stack.fcgi.request("GET", "/healthz").status == 200
        assert len(stack.simulator.requests()) == 12
        assert [exchange.answer().status for exchange in refused] == [503] * 8
        for exchange in held:
            exchange.close()


@pytest.mark.complains("no descriptor is left")
@pytest.mark.books_differ("streams that are left half-way")
def test_fr155_no_descriptor_is_left(stack: Stack) -> None:
    """Below the shedding: the limit is lowered under a running worker."""
    account = stack.account("100")
    with stack.gateway.restarted_with(pool__workers=1):
        (worker,) = stack.gateway.workers()
        is_ok(account.chat())
        stack.simulator.behave("m-ref", "slow-tokens", ms=500, x=12)
        running = [account.open_stream() for _ in range(3)]
        for exchange in running:
            exchange.read_until(b"word0")
        base, before = descriptors(worker), resource.prlimit(worker, resource.RLIMIT_NOFILE)
        resource.prlimit(worker, resource.RLIMIT_NOFILE, (base + 6, before[1]))
        offset = stack.gateway.process.log_size()
        crowd = [stack.fcgi_socket() for _ in range(20)]
        eventually(
            "the acceptor rests",
            lambda: stack.gateway.process.log_contains("no descriptor is left", offset),
        )
        ticks = sum(processor_ticks(worker))
        time.sleep(1)
        assert sum(processor_ticks(worker)) - ticks < 60, "the acceptor spins"
        for exchange in running:
            whole_stream(exchange.finish())
        for sock in crowd:
            sock.close()
        resource.prlimit(worker, resource.RLIMIT_NOFILE, before)
        stack.simulator.behave("m-ref", "ok")
        eventually("requests are served again", lambda: account.chat().status == 200)
        assert stack.gateway.workers() == [worker]
        eventually("descriptors are back", lambda: descriptors(worker) <= base + 8, 20)


@pytest.mark.complains("see LimitNOFILE")
@pytest.mark.books_differ("streams that are left half-way")
def test_fr155_few_descriptors_mean_503_not_failure(stack: Stack) -> None:
    """A gateway that may have few descriptors sheds what it could not serve."""
    account = stack.account("100")
    process = stack.gateway.process
    usual = process.argv
    process.argv = ["prlimit", "--nofile=300:300", *usual]
    try:
        few = {"pool__workers": 1, "redis__connections": 8, "upstream__pool_size": 8}
        with stack.gateway.restarted_with(**few, **QUIET):
            stack.simulator.behave("m-ref", "hang")
            exchanges = [account.open_stream() for _ in range(60)]
            refused = refused_of(stack, exchanges)
            for exchange in refused:
                is_error(exchange.answer(), 503, "server_error", "overloaded")
            assert 10 <= len(refused) <= 30
            running = len(exchanges) - len(refused)
            assert len(stack.simulator.wait(running)) == running
            for exchange in exchanges:
                exchange.close()
            stack.simulator.behave("m-ref", "ok")
            eventually("room again", lambda: account.chat().status == 200)
            process.argv = usual
    finally:
        process.argv = usual


def refused_of(stack: Stack, exchanges: list[Exchange]) -> list[Exchange]:
    """Those that have an answer, once all the others are with the provider, which says nothing."""
    refused: list[Exchange] = []

    def settled() -> bool:
        for exchange in exchanges:
            if exchange not in refused and select.select([exchange.sock], [], [], 0)[0]:
                refused.append(exchange)
        return len(refused) + len(stack.simulator.requests()) == len(exchanges)

    eventually("all are refused or under way", settled, 60)
    for exchange in refused:
        while not exchange.ended and exchange.read_once():
            pass
    return refused


def test_threads_come_with_load_and_go_after_it(stack: Stack) -> None:
    account = stack.account("100")
    few = {"pool__workers": 1, "pool__threads_spare": 4, "pool__threads_idle": "200ms"}
    with stack.gateway.restarted_with(**few):
        (worker,) = stack.gateway.workers()
        base = threads(worker)
        stack.simulator.behave("m-ref", "by-hand", x=2)
        exchanges = [account.open_stream() for _ in range(60)]
        stack.simulator.wait(60, timeout=60)
        assert threads(worker) >= base + 55
        stack.simulator.step("m-ref", 180)
        for exchange in exchanges:
            whole_stream(exchange.finish())
        eventually("the threads have gone", lambda: threads(worker) <= base + 2, 60)
        is_ok(account.chat())
