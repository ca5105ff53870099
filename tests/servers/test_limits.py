"""What a web server could decide in Tollgate's place: how large a body is, whose token it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.another import another_gateway
from harness.checks import is_error, is_ok
from harness.procs import Process, eventually
from harness.stack import Account, Stack, chat_body
from harness.webservers import SERVERS, Apache, WebServer

MIB = 1 << 20


@pytest.fixture(scope="module", params=sorted(SERVERS))
def narrow(request: pytest.FixtureRequest, stack: Stack) -> Iterator[WebServer]:
    """A web server in front of a gateway that takes bodies of 1 MiB."""
    folder = stack.directory / f"narrow-{request.param}"
    folder.mkdir()
    socket = folder / "s"
    changes = {"listen__address": f"unix:{socket}", "body__limit": "1MiB"}
    with another_gateway(stack, f"narrow-{request.param}", **changes):
        server = SERVERS[request.param](folder, socket)
        server.start()
        yield server
        server.stop()


def body_of(size: int) -> bytes:
    empty = len(chat_body(text=""))
    return chat_body(text="w" * (size - empty))


@pytest.mark.parametrize("length", ["auto", None], ids=["counted", "chunked"])
@pytest.mark.parametrize("size", [MIB, MIB + 1, 9 * MIB])
def test_fr156_the_limit_is_tollgates(
    stack: Stack, account: Account, narrow: WebServer, size: int, length: str | None
) -> None:
    """In the client's protocol, before a provider is called; the server goes on serving."""
    account.client = narrow.client
    body = body_of(size)
    pieces = [body[at : at + 65536] for at in range(0, len(body), 65536)]
    answer = account.post(pieces, length=length)
    if size <= MIB:
        is_ok(answer)
    else:
        is_error(answer, 413, "invalid_request_error", "request_too_large")
    assert len(stack.simulator.requests()) == (size <= MIB)
    is_ok(account.chat())


class KeepsAuthorization(Apache):
    """An Apache whose operator forgot, or undid, CGIPassAuth; `more` is what else it does."""

    more = ""

    def make(self) -> Process:
        location = '<LocationMatch "^/v1/">\n    CGIPassAuth Off\n</LocationMatch>\n'
        self.directory.mkdir(parents=True, exist_ok=True)
        Path(self.directory / "more.conf").write_text(location + self.more)
        return super().make()


class SavesAuthorization(KeepsAuthorization):
    """By the rewrite rule that many sites have for this."""

    more = (
        "LoadModule rewrite_module /usr/lib/apache2/modules/mod_rewrite.so\n"
        "RewriteEngine On\n"
        "RewriteRule .* - [E=REDIRECT_HTTP_AUTHORIZATION:%{HTTP:Authorization}]\n"
    )


@pytest.fixture
def forgetful(
    request: pytest.FixtureRequest, stack: Stack, account: Account
) -> Iterator[Account]:
    server = request.param(stack.directory / request.param.__name__, stack.site.socket)
    server.start()
    account.client = server.client
    yield account
    server.stop()


@pytest.mark.parametrize("forgetful", [KeepsAuthorization], indirect=True)
def test_fr135_the_log_says_that_no_credential_came(stack: Stack, forgetful: Account) -> None:
    is_error(forgetful.chat(), 401, "invalid_request_error", "invalid_api_key")
    log = stack.gateway.process
    eventually("a hint", lambda: log.log_contains("without any credential header"))
    assert forgetful.token not in log.log_text()
    headers = [("Content-Type", "application/json"), ("x-api-key", forgetful.token)]
    is_ok(forgetful.post(chat_body(), headers))


@pytest.mark.parametrize("forgetful", [SavesAuthorization], indirect=True)
def test_fr135_a_saved_authorization_counts(forgetful: Account) -> None:
    is_ok(forgetful.chat())
