"""Clients that leave, hang or do not read (FR01, FR03, FR05, FR63, FR65, R4), at the socket."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from harness.checks import is_ok
from harness.fcgi import Exchange
from harness.money import M_REF
from harness.procs import descriptors, eventually
from harness.stack import Account, Stack, chat_body

pytestmark = pytest.mark.books_differ("half answers: the rules R1 to R4 decide, tested here")


def closed_after(stack: Stack, left_at: float, within: float) -> None:
    """The provider saw its connection closed no later than `within` after the client left."""
    seen = eventually(
        "the upstream connection is closed",
        lambda: next((s for s in stack.simulator.requests() if s.peer_closed_monotonic), None),
        within + 5,
    )
    assert seen.peer_closed_monotonic - left_at <= within


def log_row(stack: Stack, account: Account) -> dict:
    """The one request_log row of the account's only request."""

    def row() -> list[list[str]]:
        return stack.site.log_sql(
            "SELECT status, end_reason, quota, usage_source, input, output FROM request_log"
            f" WHERE token_id = {account.token_id}"
        )

    rows = eventually("a request_log row", row, 15)
    assert len(rows) == 1
    names = ["status", "end_reason", "quota", "usage_source", "input", "output"]
    return dict(zip(names, rows[0], strict=True))


def ledger_rows(stack: Stack, account: Account) -> list[str]:
    rows = stack.site.main_sql(f"SELECT kind FROM ledger_entry WHERE token_id = {account.token_id}")
    return [kind for (kind,) in rows]


def test_fr01_gone_after_two_deltas_pays_for_them(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "hang-after", text="Rivers carry sediment")
    exchange = account.open_stream(text="What do rivers carry?")
    exchange.read_until(b" carry")
    exchange.close()
    left = time.monotonic()
    closed_after(stack, left, 3)
    row = log_row(stack, account)
    assert (row["usage_source"], row["end_reason"]) == ("counted_locally", "client_gone")
    quota = int(row["quota"])
    # A generous count: ten tokens a prompt word and extras, five tokens for each of the two words.
    assert 0 < quota <= (40 + 10) * 1.5 + 10 * 7.5
    account.wait_spent(quota)
    assert len(ledger_rows(stack, account)) == 1, "one settle, no release beside it"


def test_fr03_silence_and_a_close_is_free(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "close-silent", ms=1000)
    answer = account.stream(text="word " * 4000)
    assert answer.status >= 500 or "error" in answer.chunks[-1], answer.body[-300:]
    stack.site.wait_clean()
    account.wait_spent(0)


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_fr03_an_upstream_that_hangs(stack: Stack, account: Account, stream: bool) -> None:
    """Nothing was sent yet: 504, and free."""
    model = stack.new_model(M_REF)
    limits = "connect=1s,first_byte=1s,idle=1s"
    stack.channel(f"slow-{model}", [model], "--timeouts", limits)
    stack.wait_model(account, model)
    stack.simulator.behave(model, "hang-before")
    answer = account.chat(model, stream=stream)
    if answer.status == 200:
        assert "error" in answer.chunks[-1] and not answer.done
    else:
        assert (answer.status, answer.error["code"]) == (504, "upstream_timeout"), answer.body
    account.wait_spent(0)


def test_idle_limit_after_content(stack: Stack, account: Account) -> None:
    model = stack.new_model(M_REF)
    stack.channel(f"idle-{model}", [model], "--timeouts", "first_byte=5s,idle=1s")
    stack.wait_model(account, model)
    stack.simulator.behave(model, "hang-after")
    answer = is_ok(account.stream(model))
    assert "error" in answer.chunks[-1] and not answer.done
    assert stack.site.record(answer.request_id)["end_reason"] == "timeout"


@pytest.mark.parametrize("way", ["close", "abort-close"])
def test_fr05_gone_before_the_first_byte_is_free(stack: Stack, account: Account, way: str) -> None:
    stack.simulator.behave("m-ref", "slow-headers", ms=2000)
    exchange = account.open_stream(text="tell a story", max_tokens=500)
    stack.simulator.wait(1)
    if way == "abort-close":
        exchange.abort()
    exchange.close()
    closed_after(stack, time.monotonic(), 1.0)
    row = log_row(stack, account)
    assert (row["status"], row["quota"], row["end_reason"]) == ("499", "0", "client_gone")
    account.wait_spent(0)


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_fr63_gone_while_the_first_token_is_awaited(
    stack: Stack, account: Account, stream: bool
) -> None:
    stack.simulator.behave("m-ref", "hang")
    before = [descriptors(pid) for pid in stack.gateway.workers()]
    exchange = account.open_stream() if stream else account.open(chat_body())
    stack.simulator.wait(1)
    exchange.close()
    closed_after(stack, time.monotonic(), 2.0)
    account.wait_spent(0)
    eventually(
        "descriptors are given back",
        lambda: all(
            now <= then + 4
            for now, then in zip(
                [descriptors(pid) for pid in stack.gateway.workers()], before, strict=True
            )
        ),
    )


def test_a_half_close_is_not_a_leave_on_a_unix_socket(stack: Stack, account: Account) -> None:
    """A web server may shut its sending side down after the body and still read the answer."""
    stack.simulator.behave("m-ref", "slow-tokens", ms=200, x=4)
    exchange = account.open_stream()
    exchange.half_close()
    answer = is_ok(exchange.finish())
    assert answer.done and answer.text == "word0 word1 word2 word3"


def test_fr65_clients_that_do_not_read_are_cut(stack: Stack) -> None:
    """A write blocks for send_timeout: stream and upstream end, descriptors and memory are back."""
    clients = 20
    account = stack.account("100")  # a wave can cost more than 10
    workers = stack.gateway.workers()
    account.credit("1000")  # the first wave must not use up what the second one needs
    stack.simulator.behave("m-ref", "endless", m=50)
    # Pools of connections are filled by the first wave; what the second one adds is a leak.
    stuck_clients(stack, account, clients)
    files = {pid: descriptors(pid) for pid in workers}
    memory = {pid: resident_kib(pid) for pid in workers}
    exchanges = stuck_clients(stack, account, clients)
    assert stack.gateway.workers() == workers
    grown = sum(resident_kib(pid) - memory[pid] for pid in workers)
    assert grown < clients * 4096, f"{grown} KiB more for {clients} streams"
    for exchange in exchanges:
        exchange.close()
    eventually(
        "descriptors are given back",
        lambda: all(descriptors(pid) <= files[pid] + 8 for pid in workers),
        20,
    )


def stuck_clients(stack: Stack, account: Account, count: int) -> list[Exchange]:
    """Clients that read 1 KiB of an endless stream and no more, until each has been cut."""
    first = len(stack.simulator.requests())
    body = chat_body(stream=True)
    exchanges = [account.open(body, receive_buffer=4096) for _ in range(count)]
    for exchange in exchanges:
        assert b"Status: 200" in exchange.sock.recv(1024)
    stack.simulator.wait(first + count, finished=True, timeout=30)
    seen = stack.simulator.requests()[first:]
    assert all(request.peer_closed_s is not None for request in seen)
    assert sum(request.sent_bytes for request in seen) < count * 25_000_000
    return exchanges


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"no VmRSS of {pid}")


def test_a_client_that_leaves_in_mid_body(stack: Stack, account: Account) -> None:
    exchange = account.open(b'{"model":"m-ref",', length="1000", end_body=False)
    exchange.close()
    is_ok(account.chat())
    assert len(stack.simulator.requests()) == 1
