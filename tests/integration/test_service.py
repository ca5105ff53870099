"""The service itself: health, metrics, drain, reload, inherited socket, shedding, dead workers."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest
from harness.checks import is_error, is_ok, whole_stream
from harness.fcgi import FcgiClient
from harness.gateway import Site
from harness.procs import eventually
from harness.stack import Account, Stack


def metrics(stack: Stack) -> dict[str, float]:
    answer = stack.fcgi.request("GET", "/metrics")
    assert answer.status == 200
    assert (answer.header("content-type") or "").startswith("text/plain")
    values: dict[str, float] = {}
    for line in answer.body.decode().splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([a-z_:][a-zA-Z0-9_:]*(?:\{[^}]*\})?) (\S+)", line)
            assert match, f"no line of the text format: {line!r}"
            values[match[1]] = float(match[2])
    return values


def test_healthz(stack: Stack) -> None:
    answer = stack.fcgi.request("GET", "/healthz")
    assert (answer.status, answer.body.strip()) == (200, b"ok")


def test_readyz(stack: Stack) -> None:
    answer = stack.fcgi.request("GET", "/readyz")
    assert answer.status == 200
    assert isinstance(answer.json, dict)


def test_metrics_count_what_happened(stack: Stack, account: Account) -> None:
    before = metrics(stack)
    stack.simulator.behave("m-ref", "ok", p=11, c=5)
    for _ in range(3):
        is_ok(account.chat())

    def total(values: dict[str, float], word: str) -> float:
        return sum(value for name, value in values.items() if word in name)

    after = metrics(stack)
    assert all(name.startswith("tollgate_") for name in after)
    for word, more in (("requests", 3), ("tokens", 48), ("quota", 162)):
        assert total(after, word) >= total(before, word) + more, word


def test_metrics_are_for_the_loopback_only(stack: Stack) -> None:
    answer = stack.fcgi.request("GET", "/metrics", remote="192.0.2.1")
    assert answer.status in (403, 404)
    forged = [("X-Forwarded-For", "127.0.0.1")]
    assert stack.fcgi.request("GET", "/metrics", forged, remote="192.0.2.1").status in (403, 404)


def test_sigterm_lets_a_stream_end(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "slow-tokens", ms=300, x=5)
    exchange = account.open_stream()
    exchange.read_until(b"word0")
    process = stack.gateway.process
    process.signal(signal.SIGTERM)
    whole_stream(exchange.finish())
    assert process.wait(20) == 0
    stack.gateway.start()
    is_ok(account.chat())


def test_sighup_keeps_requests_and_reads_the_conf(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "slow-tokens", ms=300, x=4)
    exchange = account.open_stream()
    exchange.read_until(b"word0")
    stack.site.write_conf(net__metrics_allow="192.0.2.0/24")
    try:
        stack.gateway.reload()
        eventually(
            "the new conf holds",
            lambda: all(stack.fcgi.request("GET", "/metrics").status != 200 for _ in range(8)),
        )
        whole_stream(exchange.finish())
    finally:
        stack.site.write_conf()
        stack.gateway.reload()
    eventually(
        "the old conf holds again",
        lambda: all(stack.fcgi.request("GET", "/metrics").status == 200 for _ in range(8)),
    )


@pytest.mark.complains("conf")
def test_a_broken_conf_changes_nothing(stack: Stack, account: Account) -> None:
    stack.site.conf.write_text("listen: { adress = 'typo'; };\n")
    try:
        stack.gateway.reload()
        for _ in range(4):
            is_ok(account.chat())
        assert stack.gateway.process.running
    finally:
        stack.site.write_conf()
        stack.gateway.reload()


@pytest.mark.complains("worker")
def test_a_dead_worker_is_replaced(stack: Stack, account: Account) -> None:
    for _ in range(2):
        stack.gateway.kill_worker(stack.gateway.workers()[0])
    eventually("requests are served", lambda: account.chat().status == 200)
    for _ in range(8):
        is_ok(account.chat())


def test_load_above_max_inflight_is_shed(stack: Stack, account: Account) -> None:
    stack.site.write_conf(pool__max_inflight=4)
    stack.gateway.restart()
    try:
        stack.simulator.behave("m-ref", "hang")
        held = [account.open_stream() for _ in range(4)]
        stack.simulator.wait(4)
        answer = account.chat()
        is_error(answer, 503, "server_error", "overloaded")
        assert int(answer.header("retry-after") or 0) >= 1
        for exchange in held:
            exchange.close()
        stack.simulator.behave("m-ref", "ok")
        eventually("room again", lambda: account.chat().status == 200)
    finally:
        stack.site.write_conf()
        stack.gateway.restart()


def test_an_inherited_socket(stack: Stack, account: Account) -> None:
    """Descriptor 0 may be a listening socket, as spawn-fcgi and systemd hand it over."""
    path = stack.directory / "inherited.sock"
    site: Site = stack.site
    conf = stack.directory / "inherited.conf"
    site.write_conf(listen__address="unix:/nonexistent/s", node__name="node2")
    conf.write_text(site.conf.read_text())
    site.write_conf()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        log = stack.directory / "inherited.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [site.program("fcgi-app/tollgate-fcgi"), "--conf", str(conf)],
                stdin=listener.fileno(),
                stdout=output,
                stderr=output,
                env={**os.environ, **site.env},
                start_new_session=True,
            )
    try:
        client = FcgiClient(f"unix:{path}")
        eventually("it is ready", lambda: b"ready, listening" in log.read_bytes(), 30)
        assert client.request("GET", "/healthz").status == 200
        account.client = client
        is_ok(account.chat())
    finally:
        process.terminate()
        assert process.wait(60) == 0, log.read_text()


def test_a_silent_connection_holds_up_nobody(stack: Stack, account: Account) -> None:
    """A web server that connects and sends nothing takes one thread, not the acceptor."""
    silent = [stack.fcgi_socket() for _ in range(6)]
    began = time.monotonic()
    done = threading.Event()

    def ask() -> None:
        for _ in range(4):
            is_ok(account.chat())
        done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(10)
    assert done.is_set(), f"no answer for {time.monotonic() - began:.0f} s"
    for sock in silent:
        sock.close()


def test_garbage_on_the_socket(stack: Stack, account: Account) -> None:
    workers = stack.gateway.workers()
    for data in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00" * 64,
        b"\x01\x01\x00\x01\xff\xff\xff\x00",
        b"\xff" * 9000,
    ):
        with stack.fcgi_socket() as sock:
            try:
                sock.sendall(data)
            except OSError:
                continue
    is_ok(account.chat())
    assert stack.gateway.workers() == workers
