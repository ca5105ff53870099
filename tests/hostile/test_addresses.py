"""Where channels may lead: the table of S1 at the socket; certificates (S1, S30, F42, FR125)."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.cases import FAST, Case, Maker, says
from harness.checks import is_error, is_ok
from harness.gateway import CtlError
from harness.money import M_REF
from harness.procs import eventually
from harness.rawup import (
    DONE,
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

pytestmark = pytest.mark.books_differ("these upstreams charge nothing that the simulator knows of")

GOOD = says(answer(completion()), close=False)


# Forms that all lead to a listener on 127.0.0.1; {port} is its port.
LOOPBACK = [
    "http://127.0.0.1:{port}/v1",
    "http://127.1:{port}/v1",
    "http://0177.0.0.1:{port}/v1",
    "http://0x7f000001:{port}/v1",
    "http://0x7f.1:{port}/v1",
    "http://2130706433:{port}/v1",
    "http://localhost:{port}/v1",
    "http://[::ffff:127.0.0.1]:{port}/v1",
    "http://[::ffff:7f00:1]:{port}/v1",
]


def test_s1_every_form_of_the_loopback_is_refused_at_the_socket(
    stack: Stack, case: Maker
) -> None:
    """Saved while it was allowed; refused when it is not any more, by the address connected to."""
    cases: list[Case] = []
    first = case(GOOD)
    for form in LOOPBACK:
        cases.append(case(url=form.format(port=first.upstream.port)))
    for made in cases:
        is_ok(made.chat())
    accepted = first.upstream.accepted
    assert accepted > 0
    with stack.gateway.with_settings(net__channel_allow="192.0.2.0/24"):
        # Kept connections of before lead there still: until they are closed.
        first.upstream.hang_up()
        eventually("idle connections are gone", lambda: idle_are_gone(stack, first), 60)
        accepted = first.upstream.accepted
        for made in cases:
            is_error(made.chat(), 503, "server_error", "no_channel")
        assert first.upstream.accepted == accepted, "not one connection was made"
    for made in cases:
        is_ok(made.chat())


def idle_are_gone(stack: Stack, made: Case) -> bool:
    return all(
        stack.gateway.connections(pid, made.upstream.port) == 0 for pid in stack.gateway.workers()
    )


REFUSED = {
    "http://169.254.169.254/": "address_refused",
    "http://[::ffff:169.254.169.254]/": "address_refused",
    "http://2852039166/": "address_refused",
    "http://10.0.0.5/": "address_refused",
    "http://[fe80::1]/": "address_refused",
    "http://0/": "address_refused",
    "file:///etc/passwd": "invalid_url",
    "gopher://127.0.0.1:6379/_x": "invalid_url",
    "http://u:p@10.0.0.1/": "invalid_url",
    "http://a.test\r\nHost: x/": "invalid_url",
}


@pytest.mark.parametrize("url", sorted(REFUSED))
def test_fr125_a_channel_is_refused_when_it_is_saved(stack: Stack, url: str) -> None:
    with pytest.raises(CtlError) as error:
        stack.channel("never", ["m-never"], base_url=url)
    assert error.value.code in (1, 2)
    rows = stack.site.main_sql("SELECT COUNT(*) FROM channels WHERE name = 'never'")
    assert rows == [["0"]]


def test_metadata_is_refused_even_when_everything_is_allowed(stack: Stack, case: Maker) -> None:
    made = case(url="http://metadata.test:80/v1")
    which = f"WHERE name = 'raw-{made.model}'"
    ((channel,),) = stack.site.main_sql(f"SELECT id FROM channels {which}")
    stack.site.main_sql(f"UPDATE channels SET base_url = 'http://169.254.169.254/v1' {which}")
    for change in ("disable", "enable"):  # tells the workers
        stack.site.ctl("channel", change, channel)
    with stack.gateway.with_settings(net__channel_allow="0.0.0.0/0, ::/0"):
        stack.wait_model(made.account, made.model)
        is_error(made.chat(), 503, "server_error", "no_channel")


@pytest.mark.parametrize("key", ["sk-\x01a", "sk-a\x7f", "sk-\ta"])
def test_fr128_a_key_with_control_characters_is_refused(stack: Stack, key: str) -> None:
    name = f"never-{len(key)}-{ord(key[3])}"
    with pytest.raises(CtlError):
        stack.channel(name, ["m-never"], key=key)
    assert stack.site.main_sql(f"SELECT COUNT(*) FROM channels WHERE name = '{name}'") == [["0"]]


@pytest.mark.parametrize("model", ["m\r\nHost: x", "../../v1/files?x=", "m\0x", "m%0d%0a"])
def test_fr128_a_model_name_splits_nothing(stack: Stack, account: Account, model: str) -> None:
    assert account.chat(model).status in (400, 404)
    assert stack.simulator.requests() == []


# --- TLS ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def trusting(stack: Stack, authority: Authority) -> Iterator[None]:
    """A gateway that trusts the tests' authority, and no other."""
    stack.site.write_conf(upstream__ca_path=str(authority.folder))
    stack.gateway.restart()
    yield
    stack.site.write_conf()
    stack.gateway.restart()


def serves_tls(stack: Stack, account: Account, context: ssl.SSLContext, script=GOOD) -> Case:
    upstream = RawUpstream(script, tls=context)
    model = stack.new_model(M_REF)
    stack.channel(f"raw-{model}", [model], "--timeouts", FAST, base_url=upstream.base_url)
    stack.wait_model(account, model)
    return Case(stack, account, model, upstream)


def test_f42_certificates(
    stack: Stack, account: Account, authority: Authority, trusting: None, tmp_path: Path
) -> None:
    good = serves_tls(stack, account, authority.server())
    assert is_ok(good.chat()).text == "fine"
    assert is_ok(good.chat()).text == "fine"
    bad = {
        "expired": authority.server("expired", days="-1"),
        "another host": authority.server("wrong", san="DNS:other.test"),
        "another address": authority.server("address", san="IP:127.0.0.9"),
        "self-signed": authority.server("self", signed=False),
        "another authority": Authority(tmp_path / "other").server("foreign"),
    }
    for what, context in bad.items():
        made = serves_tls(stack, account, context)
        result = made.chat()
        is_error(result, 502, "server_error", "upstream_unreachable")
        assert made.upstream.heads == [], f"{what}: a request was sent, with the key in it"
        made.upstream.close()
    good.upstream.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_s30_tls_1_1_is_refused(
    stack: Stack, account: Account, authority: Authority, trusting: None
) -> None:
    context = authority.server("old")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    made = serves_tls(stack, account, context)
    is_error(made.chat(), 502, "server_error", "upstream_unreachable")
    assert made.upstream.heads == []
    made.upstream.close()


@pytest.mark.parametrize("framing", ["length", "chunks", "close"])
def test_f42_a_truncation_is_no_end(
    stack: Stack, account: Account, authority: Authority, trusting: None, framing: str
) -> None:
    """The connection is cut without a close_notify, inside an answer."""
    events = delta("one") + delta(" two")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    if framing == "length":
        data = head + b"Content-Length: 10000\r\n\r\n" + events
    elif framing == "chunks":
        data = head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(events), events)
    else:
        data = head + b"\r\n" + events

    def cut(connection: Connection) -> None:
        connection.send(data)
        connection.sock.close()  # without unwrap: no close_notify

    made = serves_tls(stack, account, authority.server(f"cut{framing}"), cut)
    result = is_ok(made.stream())
    assert result.text == "one two" and not result.done
    assert result.chunks[-1]["error"]["code"] == "upstream_truncated"
    row = made.row(result)
    assert (row["end_reason"], row["usage_source"]) == ("eof", "counted_locally")
    made.upstream.close()


def test_a_stream_over_tls(
    stack: Stack, account: Account, authority: Authority, trusting: None
) -> None:
    events = delta("fine") + STOP + usage(9, 5) + DONE
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    made = serves_tls(stack, account, authority.server("stream"), says(head + events))
    assert is_ok(made.stream()).done
    made.account.wait_spent(51)
    made.upstream.close()
