"""FastCGI peers that are no web server, or one at its worst (FR131, FR140, FR141, FR143, S5)."""

from __future__ import annotations

import itertools
import random
import select
import socket
import struct
import time
from pathlib import Path

import pytest
from harness.answer import Answer
from harness.checks import is_error, is_ok, whole_stream
from harness.fcgi import ABORT, BEGIN, END, HEADER, PARAMS, STDIN, Exchange, pairs, record, stream
from harness.procs import descriptors, eventually
from harness.stack import CHAT, Account, Stack, chat_body

KEEP = 1
GET_VALUES, GET_VALUES_RESULT, UNKNOWN_TYPE = 9, 10, 11


def begin(keep: bool = False, request: int = 1, role: int = 1) -> bytes:
    return record(BEGIN, struct.pack(">HB5x", role, KEEP if keep else 0), request)


def head(stack: Stack, account: Account, more: dict[str, str] | None = None) -> dict[str, str]:
    params = stack.fcgi.params("POST", CHAT, account.auth(), "127.0.0.1", None)
    return {**params, **(more or {})}


def request_bytes(params: dict[str, str], body: bytes, keep: bool = False) -> bytes:
    """All records of one request."""
    data = begin(keep) + stream(PARAMS, pairs(params)) + record(PARAMS)
    return data + stream(STDIN, body) + record(STDIN)


def send(stack: Stack, data: bytes) -> Exchange:
    exchange = Exchange(stack.fcgi_socket())
    exchange.sock.sendall(data)
    return exchange


def answer_of(exchange: Exchange) -> Answer:
    """The answer to the request under way; the connection stays open."""
    while not exchange.ended and exchange.read_once():
        pass
    answer = exchange.answer()
    exchange.stdout, exchange.ended = b"", False
    return answer


def is_closed(sock: socket.socket, within: float = 60) -> bool:
    sock.settimeout(within)
    try:
        while sock.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        pass
    return True


def memory_kib(pid: int, field: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise AssertionError(field)


@pytest.fixture
def steady(stack: Stack, account: Account):
    """The workers live through the test, and give back what they took."""
    workers = stack.gateway.workers()
    # All at once, so that every worker has its links to the stores and the upstream.
    for exchange in [account.open(chat_body()) for _ in range(16)]:
        is_ok(exchange.finish())
    before = {pid: (descriptors(pid), memory_kib(pid, "VmRSS")) for pid in workers}
    yield account
    for _ in range(4):
        is_ok(account.chat())
    assert stack.gateway.workers() == workers
    for pid, (files, memory) in before.items():
        eventually(
            "descriptors are given back", lambda p=pid, n=files: descriptors(p) <= n + 4, 60
        )
        # Threads stay for a while, and the sanitizer keeps what was freed.
        assert memory_kib(pid, "VmRSS") <= memory + 96 * 1024


# --- parameters -----------------------------------------------------------------------------


def test_fr143_large_headers_arrive_whole(stack: Stack, steady: Account) -> None:
    """A cookie of such a size in front of the credential, in records of every size."""
    for kib, size in itertools.product((7.9, 8.2, 20, 60), (65535, 8192, 1000, 37)):
        cookie = "c=" + "x" * int(kib * 1024)
        data = pairs({"HTTP_COOKIE": cookie, **head(stack, steady)})
        records = b"".join(
            record(PARAMS, data[at : at + size]) for at in range(0, len(data), size)
        )
        body = chat_body()
        exchange = send(stack, begin() + records + record(PARAMS) + record(STDIN, body))
        exchange.sock.sendall(record(STDIN))
        is_ok(exchange.finish())


def test_fr143_parameters_cut_at_every_byte(stack: Stack, steady: Account) -> None:
    data = request_bytes(head(stack, steady), chat_body())
    for at in random.Random(3).sample(range(1, len(data)), 40):
        exchange = send(stack, data[:at])
        exchange.sock.sendall(data[at:])
        is_ok(exchange.finish())
    exchange = Exchange(stack.fcgi_socket())
    for at in range(len(data)):
        exchange.sock.send(data[at : at + 1])
    is_ok(exchange.finish())


TOO_MUCH: dict[str, dict[str, str]] = {
    "value": {"HTTP_COOKIE": "x" * 70_000},
    "sum": {f"HTTP_X_{n}": "x" * 60_000 for n in range(5)},
    "count": {f"HTTP_X_{n}": "x" for n in range(300)},
    "name": {"HTTP_" + "X" * 300: "x"},
}


def test_fr143_above_the_limits_it_is_431(stack: Stack, steady: Account) -> None:
    seen = len(stack.simulator.requests())
    usual = head(stack, steady)
    for what, more in TOO_MUCH.items():
        answer = send(stack, request_bytes({**more, **usual}, chat_body())).finish()
        assert answer.status == 431 and answer.complete, what
        is_error(answer, 431, "invalid_request_error", "headers_too_large")
        # Also behind the credential, where dropping it would have changed nothing visible.
        answer = send(stack, request_bytes({**usual, **more}, chat_body())).finish()
        assert answer.status == 431, what
    assert len(stack.simulator.requests()) == seen


def test_fr131_claims_of_two_gigabytes_cost_nothing(stack: Stack, steady: Account) -> None:
    workers = stack.gateway.workers()
    sizes = {pid: memory_kib(pid, "VmSize") for pid in workers}
    claims = []
    for lengths in (b"\xff\xff\xff\xff" * 2, b"\x01\xff\xff\xff\xff"):
        data = begin() + record(PARAMS, lengths + b"A" * 1000)
        claims += [send(stack, data) for _ in range(32)]
    is_ok(steady.chat())
    time.sleep(0.2)
    assert stack.gateway.workers() == workers
    # Threads and their stacks come with connections; two gigabytes each do not.
    for pid in workers:
        assert memory_kib(pid, "VmSize") - sizes[pid] < 4 * 1024 * 1024
    for claim in claims:
        claim.close()


def test_fr131_an_endless_stream_of_parameters_is_cut(stack: Stack, steady: Account) -> None:
    piece = record(PARAMS, pairs({"HTTP_X_FLOOD": "x" * 60_000}))
    exchange = send(stack, begin())
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        for _ in range(2000):  # 120 MB
            exchange.sock.sendall(piece)
    exchange.close()


def test_a_nul_in_a_header_is_refused(stack: Stack, steady: Account) -> None:
    params = head(stack, steady, {"HTTP_X_EVIL": "a\0b"})
    answer = send(stack, request_bytes(params, chat_body())).finish()
    is_error(answer, 400, "invalid_request_error", "invalid_header")


def test_slow_parameters_hold_up_nobody(stack: Stack, steady: Account) -> None:
    data = request_bytes(head(stack, steady), chat_body())
    began = time.monotonic()
    slow = [send(stack, data[:20]) for _ in range(100)]
    for _ in range(3):
        is_ok(steady.chat())
    # Nobody waited for their time to be over, which is ten seconds.
    for exchange in slow[:20]:
        exchange.sock.sendall(data[20:])
        is_ok(exchange.finish())
    # In all, whoever dribbles.
    dribbled = slow[20]
    while time.monotonic() - began < 9:
        dribbled.sock.send(data[20:21])
        data = data[:20] + data[21:]
        time.sleep(0.5)
    for exchange in slow[20:]:
        assert is_closed(exchange.sock)
        exchange.close()


# --- records that are none ------------------------------------------------------------------

GARBAGE = {
    "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "zeros": b"\0" * 4096,
    "version": record(BEGIN, struct.pack(">HB5x", 1, 0)).replace(b"\x01\x01", b"\x02\x01", 1),
    "begin of another size": record(BEGIN, b"\0\1"),
    "begin with id 0": begin(request=0),
    "body before the parameters' end": begin() + record(STDIN, b"x"),
    "pair without its value": begin() + record(PARAMS, b"\x05\x05ABC") + record(PARAMS),
    "the same id twice": begin() + begin(),
    "unknown role": begin(role=7),
    "authorizer": begin(role=2),
    "noise": random.Random(7).randbytes(70_000),
}


def test_garbage_ends_the_connection(stack: Stack, steady: Account) -> None:
    for what, data in GARBAGE.items():
        exchange = Exchange(stack.fcgi_socket())
        try:
            exchange.sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert is_closed(exchange.sock), what
        exchange.close()


def test_fr131_every_request_id(stack: Stack, steady: Account) -> None:
    params = pairs(head(stack, steady))
    for number in (1, 255, 256, 65535):
        data = begin(request=number) + record(PARAMS, params, number) + record(PARAMS, b"", number)
        data += record(STDIN, chat_body(), number) + record(STDIN, b"", number)
        sock = stack.fcgi_socket()
        sock.sendall(data)
        got = b""
        while piece := sock.recv(65536):
            got += piece
        assert b"Status: 200" in got and HEADER.unpack_from(got)[2] == number
        sock.close()


def test_unknown_records_are_skipped_and_answered(stack: Stack, steady: Account) -> None:
    data = record(GET_VALUES, pairs({"FCGI_MPXS_CONNS": "", "FCGI_MAX_CONNS": ""}), 0)
    data += record(99, b"whatever", 0)
    data += record(STDIN, b"nobody's", 9) + record(ABORT, b"", 9)
    data += begin() + record(77, b"ours, and unknown")
    params = pairs(head(stack, steady))
    data += record(PARAMS, params[:100]) + record(99, b"between", 0) + record(PARAMS, params[100:])
    data += record(PARAMS) + begin(request=2)
    data += record(STDIN, chat_body()) + record(GET_VALUES, b"", 0) + record(STDIN)
    sock = stack.fcgi_socket()
    sock.sendall(data)
    got = b""
    while piece := sock.recv(65536):
        got += piece
    kinds = []
    while got:
        _, kind, number, length, padding = HEADER.unpack_from(got)
        kinds.append((kind, number))
        if (kind, number) == (END, 2):
            assert got[12] == 1, "FCGI_CANT_MPX_CONN"
        got = got[8 + length + padding :]
    assert kinds[:2] == [(GET_VALUES_RESULT, 0), (UNKNOWN_TYPE, 0)]
    assert kinds.count((UNKNOWN_TYPE, 0)) == 2 and kinds.count((GET_VALUES_RESULT, 0)) == 2
    assert (END, 2) in kinds and kinds[-1] == (END, 1)


def test_a_long_question_overruns_nothing(stack: Stack, steady: Account) -> None:
    """libfcgi answers FCGI_GET_VALUES in 64 bytes however often a name is asked for."""
    question = pairs({"FCGI_MAX_CONNS": ""}) * 3000
    data = begin() + record(PARAMS, pairs(head(stack, steady))) + record(PARAMS)
    data += record(GET_VALUES, question, 0)
    data += record(STDIN, chat_body()) + record(GET_VALUES, question, 0) + record(STDIN)
    exchange = send(stack, record(GET_VALUES, question, 0) + data)
    is_ok(exchange.finish())


def test_a_flood_of_nothing_is_cut(stack: Stack, steady: Account) -> None:
    for flood in (record(99, b"", 0), record(STDIN, b"x", 9), record(ABORT, b"", 9)):
        exchange = Exchange(stack.fcgi_socket())
        try:
            exchange.sock.sendall(begin() + flood * 5000)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert is_closed(exchange.sock)
        exchange.close()


# --- aborts ---------------------------------------------------------------------------------


def ends(data: bytes) -> list[int]:
    """The ids of the END_REQUEST records in what a connection said."""
    found = []
    while data:
        _, kind, number, length, padding = HEADER.unpack_from(data)
        if kind == END:
            assert data[12] == 0, "FCGI_REQUEST_COMPLETE"
            found.append(number)
        data = data[8 + length + padding :]
    return found


@pytest.mark.books_differ("requests that are aborted")
@pytest.mark.parametrize("where", ["params", "body", "waiting"])
@pytest.mark.parametrize("times", [1, 2])
def test_fr140_an_abort_ends_the_request_once(
    stack: Stack, steady: Account, where: str, times: int
) -> None:
    """Also with KEEP_CONN: the connection serves the next request."""
    stack.simulator.behave("m-alt", "hang-before")
    whole = request_bytes(head(stack, steady), chat_body("m-alt", stream=True), keep=True)
    cut = {"params": 60, "body": len(whole) - 30, "waiting": len(whole)}[where]
    if where == "body":  # after a record of the body, before its end
        body = chat_body("m-alt", stream=True)
        whole = request_bytes(head(stack, steady), b"", keep=True)[: -len(record(STDIN))]
        whole += record(STDIN, body)
        cut = len(whole)
    if where == "params":
        params = pairs(head(stack, steady))
        whole = begin(keep=True) + record(PARAMS, params[:50])
        cut = len(whole)
    seen = len(stack.simulator.requests())
    exchange = send(stack, whole[:cut])
    if where == "waiting":
        stack.simulator.wait(seen + 1)
    exchange.sock.sendall(record(ABORT) * times)
    sock = exchange.sock
    got = b""
    while not ends(got):
        piece = sock.recv(65536)
        assert piece, "closed without an END_REQUEST"
        got += piece
    if where == "waiting":
        upstream = eventually(
            "the upstream call is cancelled",
            lambda: [r for r in stack.simulator.requests()[seen:] if r.peer_closed_s is not None],
        )
        assert len(upstream) == 1
    else:
        assert len(stack.simulator.requests()) == seen
    stack.simulator.behave("m-ref", "ok")
    again = Exchange(sock)
    sock.sendall(request_bytes(head(stack, steady), chat_body(), keep=True))
    is_ok(answer_of(again))
    again.close()


def test_fr140_an_abort_of_another_is_nothing(stack: Stack, steady: Account) -> None:
    stack.simulator.behave("m-ref", "slow-tokens", ms=200, x=4)
    exchange = send(stack, request_bytes(head(stack, steady), chat_body(stream=True)))
    exchange.read_until(b"word0")
    exchange.sock.sendall(record(ABORT, b"", 7) + record(ABORT, b"", 65535))
    whole_stream(exchange.finish())


# --- kept connections -----------------------------------------------------------------------


def test_kept_connections_serve_many_requests(stack: Stack, steady: Account) -> None:
    exchange = Exchange(stack.fcgi_socket())
    for number in range(30):
        body = chat_body(text=f"number {number}", stream=number % 3 == 0)
        exchange.sock.sendall(request_bytes(head(stack, steady), body, keep=True))
        answer = answer_of(exchange)
        assert answer.status == 200 and answer.complete
    # Two at once: the second waits in the connection.
    one = request_bytes(head(stack, steady), chat_body(), keep=True)
    exchange.sock.sendall(one)
    is_ok(answer_of(exchange))
    # A refusal that never read its body leaves the connection usable as well.
    bad = head(stack, steady, {"HTTP_AUTHORIZATION": "Bearer sk-tg" + "A" * 43})
    exchange.sock.sendall(request_bytes(bad, b"x" * 1000, keep=True))
    assert answer_of(exchange).status == 401
    exchange.sock.sendall(one)
    is_ok(answer_of(exchange))
    exchange.close()


def test_fr141_idle_kept_connections_block_nobody(stack: Stack, steady: Account) -> None:
    """More idle connections than spare threads; and they are closed after a few seconds."""
    data = request_bytes(head(stack, steady), chat_body(), keep=True)
    idle: list[Exchange] = []
    for _ in range(15):
        few = [send(stack, data) for _ in range(10)]
        for exchange in few:
            is_ok(answer_of(exchange))
        idle += few
    is_ok(steady.chat())
    closed = select.select([exchange.sock for exchange in idle], [], [], 0)[0]
    assert len(closed) < len(idle), "it waited until they were closed"
    for exchange in idle:
        assert is_closed(exchange.sock)
        exchange.close()


def test_records_of_random_kinds(stack: Stack, steady: Account) -> None:
    """Seeded: whatever comes, the worker lives and the next request is served."""
    rng = random.Random(20261130)
    params = pairs(head(stack, steady))
    for _ in range(100):
        data = bytearray(begin(keep=rng.random() < 0.5))
        for _ in range(rng.randrange(12)):
            kind = rng.choice([BEGIN, ABORT, END, PARAMS, STDIN, 6, 7, 8, 9, 10, 11, 99])
            content = rng.choice([b"", params, rng.randbytes(rng.randrange(300)), b"{}"])
            data += record(kind, content, rng.choice([0, 1, 1, 1, 2, 65535]))
        if rng.random() < 0.3:
            data[rng.randrange(len(data))] = rng.randrange(256)
        exchange = Exchange(stack.fcgi_socket())
        try:
            exchange.sock.sendall(bytes(data))
            exchange.half_close()
        except (BrokenPipeError, ConnectionResetError):
            pass
        exchange.sock.settimeout(0.02)
        try:
            exchange.sock.recv(65536)
        except (TimeoutError, ConnectionResetError):
            pass
        exchange.close()
    is_ok(steady.chat())
