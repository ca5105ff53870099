"""F48: a web server that reads its configuration again; a gateway restarted behind a socket."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness.checks import is_ok, whole_stream
from harness.fcgi import FcgiClient
from harness.gateway import render
from harness.money import M_REF, bill
from harness.procs import children, eventually
from harness.stack import Account, Stack
from harness.webservers import SERVERS, WebServer

# Caddy has no signal for it: `caddy reload` speaks to an address that the tests have switched off.
RELOAD = {"apache": signal.SIGUSR1, "nginx": signal.SIGHUP, "lighttpd": signal.SIGUSR1}
USAGE = {"prompt_tokens": 7, "completion_tokens": 4}


@pytest.fixture(params=sorted(RELOAD))
def reloaded(request: pytest.FixtureRequest, stack: Stack) -> Iterator[WebServer]:
    folder = stack.directory / f"reload-{request.param}"
    server = SERVERS[request.param](folder, stack.site.socket)
    server.start()
    yield server
    server.stop()


def test_f48_a_stream_outlives_a_reload(
    stack: Stack, account: Account, reloaded: WebServer
) -> None:
    """It goes on event by event, is paid for once, and new requests are served meanwhile.

    Each of them has a process for those who were there, and another one for those who come: when
    there is a new one, the signal has been heeded.
    """
    account.client = reloaded.client
    stack.simulator.behave("m-ref", "by-hand", text="w0 w1 w2 w3", p=7, c=4)
    stack.simulator.behave("m-alt", "ok", p=7, c=4)
    stack.simulator.step("m-ref")
    exchange = account.open_stream()
    for number in range(4):
        exchange.read_until(b"w%d" % number)
        if number == 1:
            before = set(children(reloaded.process.pid))
            reloaded.process.signal(RELOAD[reloaded.name])
            eventually("read again", lambda: set(children(reloaded.process.pid)) - before, 60)
            eventually("served after the reload", reloaded.answers, 60)
        stack.simulator.step("m-ref")
    assert whole_stream(exchange.finish()).text == "w0 w1 w2 w3"
    account.wait_spent(bill(USAGE, M_REF))
    assert len(stack.simulator.requests()) == 1
    is_ok(account.chat("m-alt"))


# --- Descriptor 0: the socket is systemd's (tollgate-fcgi.socket) ---


@contextmanager
def activated(stack: Stack, listener: socket.socket, name: str) -> Iterator[subprocess.Popen]:
    """The gateway on a socket that somebody else holds; stopped at the end, with code 0."""
    settings = {**stack.site.settings, "node.name": name, "listen.address": "unix:/nowhere/s"}
    conf = stack.directory / f"{name}.conf"
    conf.write_text(render(settings))
    argv = [stack.site.program("fcgi-app/tollgate-fcgi"), "--conf", str(conf)]
    log = stack.directory / f"{name}.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            argv, stdin=listener, stdout=output, stderr=output, env=stack.gateway.process.env
        )
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(90) == 0, log.read_text()[-2000:]
    finally:
        process.kill()


def test_requests_wait_while_the_gateway_is_away(stack: Stack, account: Account) -> None:
    """Nobody accepts before the start and between two lives: none is refused, none paid twice."""
    path = Path(stack.directory) / "activated.sock"
    stack.simulator.behave("m-ref", "ok", p=7, c=4)
    account.client = FcgiClient(f"unix:{path}")
    with socket.socket(socket.AF_UNIX) as listener, ThreadPoolExecutor(4) as pool:
        listener.bind(str(path))
        listener.listen(64)
        for life in range(2):
            waiting = [pool.submit(account.chat) for _ in range(4)]
            with activated(stack, listener, f"activated-{life}"):
                for answer in waiting:
                    is_ok(answer.result(60))
            assert path.exists(), "the file is not the gateway's to remove"
    account.wait_spent(8 * bill(USAGE, M_REF))
