"""The gateway behind each web server: streams, bodies, leaving clients, probes."""

from __future__ import annotations

import pytest
from harness.checks import is_error, is_ok, whole_stream
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.stack import Account, Stack, chat_body
from harness.webservers import WebServer


def test_a_whole_answer(stack: Stack, via: Account) -> None:
    answer = is_ok(via.chat(text="one two three"))
    assert answer.json["usage"]["prompt_tokens"] == 3
    via.wait_spent(bill(answer.json["usage"], M_REF))


def test_each_event_is_passed_on_before_the_next(stack: Stack, via: Account) -> None:
    """Nothing is sent upstream until the event before is here: no clock is asked."""
    stack.simulator.behave("m-ref", "by-hand", text=" ".join(f"w{n:02d}" for n in range(30)), c=30)
    stack.simulator.step("m-ref")
    exchange = via.open_stream()
    for number in range(30):
        exchange.read_until(b"w%02d" % number)
        assert not exchange.body.rstrip().endswith(b": keep-alive"), "held until the next bytes"
        stack.simulator.step("m-ref")
    whole_stream(exchange.finish())


@pytest.mark.parametrize("length", ["auto", None], ids=["counted", "chunked"])
@pytest.mark.parametrize("size", [100, 3 << 20, 20 << 20])
def test_bodies(stack: Stack, via: Account, length: str | None, size: int) -> None:
    body = chat_body(text="z" * size)
    is_ok(via.post([body[at : at + 65536] for at in range(0, len(body), 65536)], length=length))
    seen = stack.simulator.only()
    assert seen.body == body and not seen.chunked


def test_a_huge_event(stack: Stack, via: Account) -> None:
    stack.simulator.behave("m-ref", "huge-event", p=2, c=3)
    answer = whole_stream(via.stream())
    assert len(answer.text) == (3 << 20) + 4
    via.wait_spent(bill({"prompt_tokens": 2, "completion_tokens": 3}, M_REF))


@pytest.mark.parametrize("form", ["x-api-key", "x-goog-api-key", "query"])
def test_credentials_reach_the_gateway(stack: Stack, via: Account, form: str) -> None:
    headers = [("Content-Type", "application/json")]
    uri = "/v1/chat/completions"
    if form == "query":
        uri += f"?key={via.token}"
    else:
        headers.append((form, via.token))
    is_ok(via.open(chat_body(), headers, uri).finish())


def test_errors_come_through_as_they_are(stack: Stack, via: Account) -> None:
    headers = [("Content-Type", "application/json")]
    answer = via.post(chat_body(), headers)
    is_error(answer, 401, "invalid_request_error", "invalid_api_key")
    answer = via.client.request("GET", "/v1/nothing", via.auth())
    is_error(answer, 404, "invalid_request_error", "unknown_url")
    assert answer.header("status") is None, "the CGI header is the web server's alone"
    for scenario, status in (("bad-request", 400), ("fail", 500), ("unauthorized", 502)):
        stack.simulator.behave("m-ref", scenario)
        assert via.chat().status == status


def test_no_money_says_do_not_retry(stack: Stack, server: WebServer) -> None:
    account = stack.account("0")
    account.client = server.client
    answer = account.chat()
    is_error(answer, 429, "insufficient_quota", "insufficient_quota")
    assert answer.header("x-should-retry") == "false"


@pytest.mark.books_differ("R4: nobody waits for the answer any more")
def test_fr63_gone_while_the_first_token_is_awaited(stack: Stack, via: Account) -> None:
    """Apache and Caddy notice on a failed write, of a keep-alive. The upstream would hang on."""
    stack.simulator.behave("m-ref", "hang")
    # An uncommitted answer gives the client no headers to read: leave on the bare socket.
    sock = via.client.raw("POST", "/v1/chat/completions", via.auth(), chat_body(stream=True))
    stack.simulator.wait(1)
    sock.close()
    eventually(
        "the upstream connection is closed",
        lambda: stack.simulator.only().peer_closed_monotonic,
        60,
    )
    via.wait_spent(0)


@pytest.mark.books_differ("R1 to R4: half an answer")
def test_gone_in_mid_stream(stack: Stack, via: Account) -> None:
    stack.simulator.behave("m-ref", "slow-tokens", ms=100, x=300)
    exchange = via.open_stream()
    exchange.read_until(b"word3")
    exchange.close()
    eventually(
        "the upstream connection is closed",
        lambda: stack.simulator.only().peer_closed_monotonic,
        60,
    )
    assert stack.simulator.only().words_sent < 300
    spent = eventually("what was delivered is charged", lambda: via.spent, 15)
    assert spent < bill({"prompt_tokens": 30, "completion_tokens": 500}, M_REF)


def test_gone_after_the_last_event(stack: Stack, via: Account) -> None:
    """The answer was whole when the client left without having read its end: the bill is too."""
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    exchange = via.open_stream()
    exchange.read_until(b"[DONE]")
    exchange.close()
    via.wait_spent(33)


@pytest.mark.parametrize("length", ["auto", None], ids=["counted", "chunked"])
def test_gone_inside_the_body(stack: Stack, via: Account, length: str | None) -> None:
    """Before there is a whole request: nothing reaches the provider, nothing is paid."""
    body = chat_body(text="z" * (1 << 20))
    framing = [("Content-Length", str(len(body)))] if length else [("Transfer-Encoding", "chunked")]
    sock = via.client.connect("POST", "/v1/chat/completions", [*via.auth(), *framing])
    half = body[: 1 << 19]
    sock.sendall(half if length else b"%x\r\n%s\r\n" % (len(half), half))
    sock.close()
    is_ok(via.chat())
    assert len(stack.simulator.requests()) == 1


def test_probes(server: WebServer, stack: Stack) -> None:
    assert server.client.request("GET", "/healthz").body.strip() == b"ok"
    assert server.client.request("GET", "/readyz").status == 200
    assert b"tollgate_" in server.client.request("GET", "/metrics").body


def test_two_hundred_requests_on_kept_connections(stack: Stack, via: Account) -> None:
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    for number in range(200):
        is_ok(via.chat(text=str(number)))
    via.wait_spent(200 * 33)
