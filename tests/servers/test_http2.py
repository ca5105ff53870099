"""HTTP/2 through every web server that speaks it: streams, clients that leave, large bodies."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.checks import is_ok, whole_stream
from harness.curl import CurlClient
from harness.gateway import SOURCE
from harness.money import M_REF, bill
from harness.procs import Process, eventually, free_port
from harness.stack import Account, Stack, chat_body
from harness.webservers import Apache, Caddy, Lighttpd, Nginx, WebServer

PRIOR = "--http2-prior-knowledge"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    argv = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    argv += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    argv += ["-keyout", str(folder / "key"), "-out", str(folder / "certificate")]
    subprocess.run(argv, check=True, capture_output=True)
    folder.chmod(0o755)
    (folder / "key").chmod(0o644)  # a key of this test, for servers that leave root
    return folder


class ApacheH2c(Apache):
    def make(self) -> Process:
        module = "/usr/lib/apache2/modules/mod_http2.so"
        text = f"LoadModule http2_module {module}\nProtocols h2c http/1.1\n"
        (self.directory / "more.conf").write_text(text)
        return super().make()


class CaddyHttp2(Caddy):
    """The site block's one line in a Caddyfile that allows HTTP/2 without TLS, or brings a key."""

    tls = ""

    def make(self) -> Process:
        process = super().make()
        scheme = "https" if self.tls else "http"
        text = "{\n\tadmin off\n\tservers {\n\t\tprotocols h1 h2 h2c\n\t}\n}\n"
        text += f"{scheme}://127.0.0.1:{self.port} {{\n\t{self.tls}\n"
        text += f"\timport {SOURCE}/httpd-examples/caddy/tollgate.caddy\n}}\n"
        conf = self.directory / "Caddyfile"
        conf.write_text(text)
        process.argv = [process.argv[0], "run", "--config", str(conf), "--adapter", "caddyfile"]
        return process


class NginxHttp2(Nginx):
    """A second port of the same server block."""

    tls: tuple[str, str] = ("", "")

    def make(self) -> Process:
        self.second = free_port()
        how, more = self.tls
        text = f"listen 127.0.0.1:{self.second} {how} http2;\n{more}"
        (self.directory / "more.conf").write_text(text)
        return super().make()


WAYS = ["apache-h2c", "caddy-h2c", "caddy-tls", "nginx-h2c", "nginx-tls", "lighttpd-h2c"]


def make(way: str, stack: Stack, certificate: Path) -> tuple[WebServer, CurlClient]:
    folder = stack.directory / way
    files = f"{certificate}/certificate", f"{certificate}/key"
    if way == "apache-h2c":
        server: WebServer = ApacheH2c(folder, stack.site.socket)
    elif way.startswith("caddy"):
        CaddyHttp2.tls = "tls {} {}".format(*files) if way == "caddy-tls" else ""
        server = CaddyHttp2(folder, stack.site.socket)
    elif way.startswith("nginx"):
        keys = "ssl_certificate {};\nssl_certificate_key {};\n".format(*files)
        NginxHttp2.tls = ("ssl", keys) if way == "nginx-tls" else ("", "")
        server = NginxHttp2(folder, stack.site.socket)
        where = f"127.0.0.1:{server.second}"
        if way == "nginx-tls":
            return server, CurlClient(f"https://{where}", "-k", "--http2")
        return server, CurlClient(f"http://{where}", PRIOR)
    else:
        server = Lighttpd(folder, stack.site.socket)
    if way == "caddy-tls":
        return server, CurlClient(f"https://127.0.0.1:{server.port}", "-k", "--http2")
    return server, CurlClient(server.base_url, PRIOR)


@pytest.fixture(scope="module", params=WAYS)
def client(
    request: pytest.FixtureRequest, stack: Stack, certificate: Path
) -> Iterator[CurlClient]:
    server, client = make(request.param, stack, certificate)
    server.start()
    yield client
    server.stop()


@pytest.fixture
def via(stack: Stack, client: CurlClient) -> Account:
    account = stack.account()
    account.client = client
    return account


def test_it_is_http2(client: CurlClient) -> None:
    exchange = client.open("GET", "/healthz")
    assert exchange.finish().body.strip() == b"ok"
    assert exchange.raw.startswith(b"HTTP/2 200"), exchange.raw[:40]


def test_a_whole_answer(via: Account) -> None:
    answer = is_ok(via.chat(text="one two three"))
    via.wait_spent(bill(answer.json["usage"], M_REF))


def test_each_event_is_passed_on_before_the_next(stack: Stack, via: Account) -> None:
    stack.simulator.behave("m-ref", "by-hand", text="w0 w1 w2 w3", p=7, c=4)
    exchange = via.open_stream()
    for number in range(4):
        stack.simulator.step("m-ref")
        exchange.read_until(b"w%d" % number)
        assert not exchange.body.rstrip().endswith(b": keep-alive"), "held until the next bytes"
    stack.simulator.step("m-ref")
    assert whole_stream(exchange.finish()).text == "w0 w1 w2 w3"
    via.wait_spent(bill({"prompt_tokens": 7, "completion_tokens": 4}, M_REF))


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


@pytest.mark.parametrize("length", ["auto", None], ids=["counted", "uncounted"])
def test_twenty_megabytes(
    request: pytest.FixtureRequest, stack: Stack, via: Account, length: str | None
) -> None:
    if length is None and "lighttpd" in request.node.name:
        pytest.skip("lighttpd 1.4.69 refuses HTTP/2 bodies without a content-length (411)")
    body = chat_body(text="z" * (20 << 20))
    stack.simulator.behave("m-ref", "ok", p=7, c=3)
    is_ok(via.post(body, length=length))
    assert stack.simulator.only().body == body
