"""The web server examples on their own, in front of a responder: what arrives, what is flushed.

These hold whatever the gateway does; a failure here is one of configuration.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.fcgi import FcgiClient
from harness.procs import Process, eventually
from harness.webservers import SERVERS, WebServer

RESPONDER = Path(__file__).resolve().parents[1] / "lib" / "harness" / "responder.py"


@pytest.fixture(scope="module")
def responder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    directory = tmp_path_factory.mktemp("responder")
    socket = directory / "s"
    process = Process("responder", [sys.executable, str(RESPONDER), str(socket)], directory)
    process.start("responder: ready")
    yield process
    process.stop()


@pytest.fixture(scope="module", params=sorted(SERVERS))
def server(
    request: pytest.FixtureRequest, responder: Process, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebServer]:
    directory = tmp_path_factory.mktemp(request.param)
    instance = SERVERS[request.param](directory, responder.log.parent / "s")
    instance.start()
    yield instance
    instance.stop()


def test_credentials_and_path_arrive(server: WebServer) -> None:
    headers = [("Authorization", "Bearer sk-tgX"), ("x-api-key", "k"), ("Content-Type", "a/b")]
    answer = server.client.request("POST", "/v1/chat/completions?key=1%2F2", headers, b"{}")
    assert answer.status == 200
    params = answer.json["params"]
    assert params["HTTP_AUTHORIZATION"] == "Bearer sk-tgX"
    assert params["HTTP_X_API_KEY"] == "k"
    assert params["CONTENT_TYPE"] == "a/b"
    assert params["REQUEST_URI"] == "/v1/chat/completions?key=1%2F2"
    assert params["REQUEST_METHOD"] == "POST"
    assert params["REMOTE_ADDR"] == "127.0.0.1"
    assert answer.json["body"] == 2


def test_names_with_underscores_and_proxy_settings_do_not_arrive(server: WebServer) -> None:
    """X_Forwarded_For would become the variable that trusted_proxies rests on."""
    evil = ["X_Forwarded_For", "x_forwarded_for", "X_Api_Key", "X_Goog_Api_Key", "Proxy"]
    for name in evil:
        params = server.client.request("GET", "/v1/models", [(name, "6.6.6.6")]).json["params"]
        assert not [key for key, value in params.items() if "6.6.6.6" in value], name
    headers = [("X-Api-Key", "k"), ("X_Api_Key", "6.6.6.6")]
    for order in (headers, headers[::-1]):
        params = server.client.request("GET", "/v1/models", order).json["params"]
        assert params["HTTP_X_API_KEY"] == "k"


@pytest.mark.parametrize("size", [4000, 7900])
def test_fr143_long_headers_arrive(server: WebServer, size: int) -> None:
    """A header line of 8190 bytes is what all of them take by default."""
    headers = [("Cookie", "c" * size), ("Authorization", "Bearer " + "a" * size)]
    params = server.client.request("GET", "/v1/models", headers).json["params"]
    assert params["HTTP_COOKIE"] == "c" * size
    assert params["HTTP_AUTHORIZATION"] == "Bearer " + "a" * size


def test_fr143_more_headers_than_a_server_takes_are_refused(server: WebServer) -> None:
    answer = server.client.request("GET", "/v1/models", [("Cookie", "c" * (2 << 20))])
    assert answer.status in (400, 414, 431), answer.status
    assert server.client.request("GET", "/v1/models").status == 200


def test_no_fastcgi_keep_alive(server: WebServer) -> None:
    assert server.client.request("GET", "/v1/models").json["keep"] == 0


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_are_handed_on(server: WebServer, path: str) -> None:
    assert server.client.request("GET", path).json["params"]["REQUEST_URI"] == path


def test_encoded_slashes_in_a_path_arrive(server: WebServer) -> None:
    answer = server.client.request("GET", "/v1/models/openai%2Fgpt-4o?a=b%20c")
    assert answer.json["params"]["REQUEST_URI"] == "/v1/models/openai%2Fgpt-4o?a=b%20c"


def test_other_paths_are_not(server: WebServer) -> None:
    answer = server.client.request("GET", "/secret")
    assert b"REQUEST_URI" not in answer.body


@pytest.mark.parametrize("length", ["auto", None], ids=["counted", "chunked"])
def test_large_bodies_arrive_whole(server: WebServer, length: str | None) -> None:
    body = [b"x" * (1 << 20)] * 3
    answer = server.client.request("POST", "/v1/chat/completions", [], body, length=length)
    assert answer.status == 200
    assert answer.json["body"] == 3 << 20


def test_events_come_one_by_one(server: WebServer, responder: Process) -> None:
    """Each is here before the next one is sent."""
    exchange = server.client.open("GET", f"/v1/models?stream=4&by={server.name}")
    for number in range(4):
        exchange.read_until(b"data: %d\n\n" % number)
        Path(responder.log.parent / f"s.{server.name}.{number + 1}").touch()
    answer = exchange.finish()
    assert answer.event_data == [b"0", b"1", b"2", b"3"]


def test_a_client_that_leaves_is_noticed_by_the_next_writes(
    server: WebServer, responder: Process
) -> None:
    offset = responder.log_size()
    exchange = server.client.open("GET", "/v1/models?stream=1000&gap=0.1")
    exchange.read_until(b"data: 1\n\n")
    exchange.close()
    eventually(
        "the responder sees the end", lambda: responder.log_contains("left after", offset), 60
    )


def test_responder_and_client_agree(responder: Process) -> None:
    """The two halves of fcgi.py against each other, without a web server between them."""
    client = FcgiClient(f"unix:{responder.log.parent / 's'}", "caddy")
    answer = client.request("POST", "/v1/x?a=b", [("X-Y", "z" * 300)], b"q" * 70000)
    assert answer.json["body"] == 70000
    assert answer.json["params"]["PATH_INFO"] == "/v1/x"
    assert answer.json["params"]["HTTP_X_Y"] == "z" * 300
