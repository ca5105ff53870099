"""Requests that web servers read in different ways: the same must come out behind each of them.

S6: names that become the same CGI variable, a header given twice, framing that contradicts itself.
S8: paths that a front end and a gateway could take for different ones.
"""

from __future__ import annotations

import socket
from contextlib import closing

import pytest
from harness.checks import is_ok
from harness.money import M_REF, bill
from harness.stack import CHAT, Account, Stack, chat_body

USAGE = {"prompt_tokens": 7, "completion_tokens": 3}
JSON = ("Content-Type", "application/json")


def read_all(sock: socket.socket) -> bytes:
    """Until the server closes: it is asked to, and refuses what it cannot read."""
    sock.settimeout(60)
    data = b""
    try:
        while piece := sock.recv(1 << 16):
            data += piece
    except ConnectionResetError:
        pass
    return data


def send(account: Account, headers: list[tuple[str, str]], payload: bytes, uri: str = CHAT) -> int:
    """One POST as raw bytes; its status, 0 for a connection closed without a word."""
    with closing(account.client.connect("POST", uri, [*headers, ("Connection", "close")])) as sock:
        try:
            sock.sendall(payload)
        except (BrokenPipeError, ConnectionResetError):
            pass
        data = read_all(sock)
    assert data.count(b"HTTP/1.1 ") <= 1, data
    return int(data.split()[1]) if data else 0


def counted(body: bytes) -> tuple[str, str]:
    return ("Content-Length", str(len(body)))


def bearer(token: str) -> str:
    return f"Bearer {token}"


@pytest.fixture
def other(stack: Stack) -> Account:
    return stack.account()


@pytest.mark.parametrize("name", ["Authorization", "x-api-key", "x-goog-api-key"])
def test_two_credentials_of_one_name_are_none(
    stack: Stack, via: Account, other: Account, name: str
) -> None:
    """Which of the two would pay must not depend on the web server."""
    body = chat_body()
    prefix = "Bearer " if name == "Authorization" else ""
    for first, second in ((via, other), (other, via)):
        pair = [(name, prefix + first.token), (name, prefix + second.token)]
        assert send(via, [JSON, counted(body), *pair], body) in (400, 401)
    assert stack.simulator.requests() == []


@pytest.mark.parametrize("name", ["X_Api_Key", "X_Goog_Api_Key", "X_API_KEY"])
def test_an_underscore_is_no_hyphen(
    stack: Stack, via: Account, other: Account, name: str
) -> None:
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    body = chat_body()
    headers = [JSON, counted(body), (name, other.token), ("Authorization", bearer(via.token))]
    assert send(via, headers, body) == 200
    via.wait_spent(bill(USAGE, M_REF))
    other.wait_spent(0)


def test_of_two_carriers_the_same_one_counts(
    stack: Stack, via: Account, other: Account
) -> None:
    """x-api-key before Authorization, in whichever order they come."""
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    body = chat_body()
    pair = [("x-api-key", via.token), ("Authorization", bearer(other.token))]
    for headers in (pair, pair[::-1]):
        assert send(via, [JSON, counted(body), *headers], body) == 200
    via.wait_spent(2 * bill(USAGE, M_REF))
    other.wait_spent(0)


def test_fr130_a_proxy_header_moves_no_connection(stack: Stack, via: Account) -> None:
    with socket.create_server(("127.0.0.1", 0)) as attacker:
        attacker.settimeout(0.2)
        url = f"http://127.0.0.1:{attacker.getsockname()[1]}"
        names = ["Proxy", "Http-Proxy", "HTTP_PROXY", "Https-Proxy", "All-Proxy"]
        is_ok(via.post(chat_body(), [*via.auth(), *((name, url) for name in names)]))
        with pytest.raises(TimeoutError):
            attacker.accept()
    assert len(stack.simulator.requests()) == 1


def test_names_that_look_like_framing(stack: Stack, via: Account) -> None:
    body = chat_body(text="w" * 2000)
    headers = [("Content_Length", "5"), ("Transfer_Encoding", "chunked"), *via.auth()]
    headers.append(counted(body))
    assert send(via, headers, body) == 200
    assert stack.simulator.only().body == body


# --- Framing ---

SMUGGLED = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"


FRAMINGS = [
    [("Content-Length", "LEN"), ("Transfer-Encoding", "chunked")],
    [("Transfer-Encoding", "chunked"), ("Content-Length", "LEN")],
    [("Content-Length", "LEN"), ("Content-Length", "5")],
    [("Content-Length", "5"), ("Content-Length", "LEN")],
    [("Content-Length", "+LEN")],
    [("Content-Length", "-1")],
    [("Content-Length", "LEN, 5")],
    [("Content-Length", "0xLEN")],
    [("Transfer-Encoding", "chunked, identity"), ("Content-Length", "LEN")],
    [("Transfer-Encoding", "xchunked"), ("Content-Length", "LEN")],
    [("Content-Length", "LEN"), ("X", "\rTransfer-Encoding: chunked")],
    [("Content-Length", "LEN"), ("Transfer-Encoding ", "chunked")],
]


def test_fr128_contradicting_framing(stack: Stack, via: Account) -> None:
    """Refused, or one request with one body; never a second one that hid in the first."""
    body = chat_body(text="framed")
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    served = 0
    for framing in FRAMINGS:
        uses_chunks = framing[0][0] == "Transfer-Encoding" or framing[-1][1] == "chunked"
        payload = chunked if uses_chunks else body
        fields = [(name, text.replace("LEN", str(len(payload)))) for name, text in framing]
        status = send(via, [*via.auth(), *fields], payload + SMUGGLED)
        assert status in (0, 200, 400, 411, 413, 501), (framing, status)
        served += status == 200
        assert len(stack.simulator.requests()) == served, framing
    assert all(request.body == body for request in stack.simulator.requests())


# --- Paths ---

SERVED = [
    "/v1/chat/completions",
    "/v1/chat/completions?a=/../b",
    "/v1/chat/completions?a=%2e%2e%2f",
    "/v1/ch%61t/completions",
]
# Never taken for a paid path, nor for /metrics: an address list of the web server could rest on it.
REFUSED = [
    "/v1/../metrics",
    "/v1/%2e%2e/metrics",
    "/v1/..%2fmetrics",
    "/v1/%2e%2e%2fmetrics",
    "/v1/.%2e/metrics",
    "/v1/%252e%252e/metrics",
    "/v1/..;/metrics",
    "/secret/../v1/chat/completions",
    "/secret/%2e%2e/v1/chat/completions",
    "/v1/x/../chat/completions",
    "/v1/x/%2e%2e/chat/completions",
    "/v1/./chat/completions",
    "/v1/chat%2fcompletions",
    "/v1%2fchat/completions",
    "/v1/chat%2Fcompletions",
    "/v1/chat%5ccompletions",
    "/v1/chat\\completions",
    "/v1/chat/completions%00",
    "/v1/chat/completions%00.html",
    "/v1/chat/completions%20",
    "/v1/chat/completions;a=b",
    "/v1/chat/completions.php/x",
    "/v1/chat/completions%0d%0aX: y",
    "/v1/chat/completions%ff%fe",
    "/v1/chat/completions%c0%af",
    "/v1/\uff0e\uff0e/metrics",
    "/V1/CHAT/COMPLETIONS",
    "/v1/chat/completions%",
    "/v1/chat/completions%zz",
    "/v1/",
]


def test_these_are_served(stack: Stack, via: Account) -> None:
    body = chat_body()
    for number, uri in enumerate(SERVED, 1):
        assert send(via, [*via.auth(), counted(body)], body, uri) == 200, uri
        assert len(stack.simulator.requests()) == number


def test_these_are_not(stack: Stack, via: Account) -> None:
    body = chat_body()
    for uri in REFUSED:
        for method in ("POST", "GET"):
            fields = [*via.auth(), ("Connection", "close")]
            fields += [counted(body)] if method == "POST" else []
            target = uri.encode().decode("latin-1")
            with closing(via.client.connect(method, target, fields)) as sock:
                if method == "POST":
                    sock.sendall(body)
                data = read_all(sock)
            assert int(data.split()[1]) in (301, 400, 403, 404, 405), (uri, data[:300])
            assert b"tollgate_" not in data, uri
    assert stack.simulator.requests() == []
    is_ok(via.chat())
