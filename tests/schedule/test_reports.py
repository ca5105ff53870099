"""Field reports on failover and access: FR105, FR106, FR111, FR116."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from harness.checks import is_ok, whole_stream
from harness.money import M_REF
from harness.procs import eventually
from harness.rawup import (
    DONE,
    SSE_HEAD,
    STOP,
    Authority,
    Connection,
    RawUpstream,
    answer,
    completion,
    delta,
    usage,
)
from harness.stack import Account, Stack

pytestmark = [
    pytest.mark.books_differ("upstreams of bytes are nobody's books"),
    pytest.mark.complains(r"breaker: channel \d+ .* rests after failures"),
]


@pytest.fixture
def account(stack: Stack) -> Account:
    return stack.account()


def served_by(stack: Stack, account: Account, upstream: RawUpstream) -> tuple[str, int]:
    model = stack.new_model(M_REF)
    channel = stack.channel(model, [model], base_url=upstream.base_url)
    stack.wait_model(account, model)
    return model, channel


# --- FR105: Retry-After in both forms; the whole table is in tests/unit/relay/key_verdict.c -----

WAITS: list[tuple[str, Callable[[], str], float]] = [
    ("seconds", lambda: "Retry-After: 700", 700),
    (
        "date",
        lambda: "Retry-After: "
        + format_datetime(datetime.now(UTC) + timedelta(seconds=900), usegmt=True),
        900,
    ),
    ("milliseconds", lambda: "Retry-After-Ms: 700500", 701),
    ("none", lambda: "X-None: 1", 60),
]


@pytest.mark.parametrize("form", [row[0] for row in WAITS])
def test_fr105_a_stated_wait_is_kept(stack: Stack, account: Account, form: str) -> None:
    """The key rests for what the upstream says, whatever its form; for a minute by default."""
    header, expected = next((row[1], row[2]) for row in WAITS if row[0] == form)
    limited = json.dumps({"error": {"message": "Rate limit reached", "code": "rate_limit"}})

    def script(connection: Connection) -> None:
        line = header().encode() + b"\r\n"
        connection.send(answer(limited.encode(), line, b"429 Too Many Requests"))

    with RawUpstream(script) as upstream:
        model, channel = served_by(stack, account, upstream)
        sent_at = datetime.now(UTC)
        refused = account.chat(model)
        done_at = datetime.now(UTC)
    assert refused.status == 429

    def until() -> datetime | None:
        ((state, text),) = stack.site.main_sql(
            "SELECT state, COALESCE(state_until_at, '') FROM channel_keys"
            f" WHERE channel_id = {channel}"
        )
        if state != "resting":
            return None
        return datetime.fromisoformat(text).replace(tzinfo=UTC)

    at = eventually("the key rests", until, 20)
    slack = timedelta(seconds=2)
    assert sent_at + timedelta(seconds=expected) - slack <= at
    assert at <= done_at + timedelta(seconds=expected) + slack


# --- FR106: a kept connection that the peer has closed ------------------------------------------


@pytest.mark.parametrize("end", ["closed while idle", "reset as the request is written"])
def test_fr106_a_kept_connection_that_died(stack: Stack, account: Account, end: str) -> None:
    """All are answered, each by one request that the upstream served."""
    served: list[bytes] = []
    first: dict[int, bool] = {}

    def script(connection: Connection) -> None:
        used = id(connection) in first
        first[id(connection)] = True
        if used and end.startswith("reset"):
            connection.reset()
            return
        served.append(b"one")
        connection.send(answer(completion()))
        if end.startswith("closed"):
            connection.sock.close()

    with RawUpstream(script) as upstream:
        model, _ = served_by(stack, account, upstream)
        for _ in range(3):
            is_ok(account.chat(model))
        assert len(served) == 3


# --- FR111: a graceful end of a connection ------------------------------------------------------


def test_fr111_no_upstream_is_spoken_to_in_http2(stack: Stack, account: Account) -> None:
    """There is no GOAWAY to be misunderstood: h2 is not chosen where it is offered."""
    chosen: list[str | None] = []
    authority = Authority(stack.directory / "authority")
    context = authority.server()
    context.set_alpn_protocols(["h2", "http/1.1"])

    def script(connection: Connection) -> None:
        chosen.append(connection.sock.selected_alpn_protocol())
        connection.send(answer(completion()))

    with (
        stack.gateway.restarted_with(upstream__ca_path=str(authority.folder)),
        RawUpstream(script, tls=context) as upstream,
    ):
        model, _ = served_by(stack, account, upstream)
        is_ok(account.chat(model))
        assert b" HTTP/1.1\r\n" in upstream.heads[0] + b"\r\n"
    assert chosen and set(chosen) <= {"http/1.1", None}


def test_fr111_connections_that_end_gracefully(stack: Stack, account: Account) -> None:
    """Streams that run are answered whole; what follows goes to new connections, unseen."""
    go_on = threading.Event()

    def script(connection: Connection) -> None:
        connection.send(SSE_HEAD + delta("one "))
        go_on.wait(30)
        connection.send(delta("two") + STOP + usage(7, 3) + DONE)
        connection.sock.close()

    with RawUpstream(script) as upstream:
        model, _ = served_by(stack, account, upstream)
        running = [account.open_stream(model) for _ in range(3)]
        eventually("all three run", lambda: len(upstream.heads) == 3, 30)
        go_on.set()
        later = account.stream(model)
        for exchange in running:
            whole_stream(exchange.finish())
        whole_stream(later)
        assert len(upstream.heads) == 4 == upstream.accepted


# --- FR116: the model that is checked is the model that is served -------------------------------


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{{"model":"{small}","messages":[{text}],"model":"{big}"}}', 400),
        ('{{"model":"{big}","messages":[{text}],"model":"{small}"}}', 400),
        ('{{"model":"{small}","messages":[{text}],"\\u006dodel":"{big}"}}', 400),
        ('{{"Model":"{big}","messages":[{text}]}}', 400),
        ('{{"Model":"{big}","model":"{small}","messages":[{text}]}}', 200),
        ('{{"model":"{big}","messages":[{text}]}}', 403),
        ('{{"model":["{small}","{big}"],"messages":[{text}]}}', 400),
    ],
)
def test_fr116_one_model_is_checked_priced_and_served(
    stack: Stack, body: str, status: int
) -> None:
    small, big = stack.new_model(M_REF), stack.new_model(M_REF)
    stack.channel(small, [small, big])
    account = stack.account("10", "--models", small)
    stack.wait_model(account, small)
    before = len(stack.simulator.requests())
    text = '{"role":"user","content":"x"}'
    sent = body.format(small=small, big=big, text=text).encode()
    assert account.post(sent).status == status
    seen = stack.simulator.requests()[before:]
    assert [one.json["model"] for one in seen] == ([small] if status == 200 else [])
    for one in seen:
        assert one.body.count(b'"model"') == 1


def test_fr116_a_form_is_no_chat_request(stack: Stack, account: Account) -> None:
    part = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n{}\r\n'
    body = (part.format("small") + part.format("big") + "--b--\r\n").encode()
    headers = [
        ("Authorization", f"Bearer {account.token}"),
        ("Content-Type", "multipart/form-data; boundary=b"),
    ]
    assert account.post(body, headers).status in (400, 415)
    assert stack.simulator.requests() == []
