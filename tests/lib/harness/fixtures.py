"""pytest's side of the harness: the session's stack, and what must hold after every test.

After each test that uses the stack:
* no process of ours wrote a warning, an error or a sanitizer report (unless the test declared it
  with @pytest.mark.complains("pattern", ...));
* the simulator saw no breach of HTTP (unless @pytest.mark.breaks_http);
* when money moved: `tollgatectl audit` is clean, and what the provider charged equals what the
  users paid (unless @pytest.mark.books_differ("why")).

At the end of the session no file of its directory, those of the stores included, holds a channel
key, a master key or a password (see canary.py).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from harness import canary
from harness.gateway import build_tree
from harness.procs import eventually
from harness.stack import Account, Stack
from harness.webservers import SERVERS, WebServer

MARKS = [
    "complains(*patterns): log lines of these patterns are expected",
    "books_differ(why): provider and users differ here by policy",
    "breaks_http: the simulator is meant to see a cut-off request",
    "long: only with tests/run --long",
    "ends_quick: of its parameters' combinations only the first and the last without --long",
    "first_quick: only the first",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also the tests marked long")


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    combinations: dict[str, list[pytest.Item]] = {}
    for item in items:
        combinations.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for group in combinations.values():
        last = 1 if group[0].get_closest_marker("first_quick") else len(group)
        first = 1 if group[0].get_closest_marker("ends_quick") else last
        for at, item in enumerate(group):
            if item.get_closest_marker("long") or first <= at < len(group) - 1 or at >= last:
                item.add_marker(pytest.mark.skip(reason="only with --long"))


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    program = build_tree() / "fcgi-app" / "tollgate-fcgi"
    if not program.exists():
        pytest.exit(f"{program} is not built (TOLLGATE_BUILD names the build tree)", returncode=3)
    stack = Stack.create()
    try:
        stack.start()
        yield stack
        secrets = {**canary.fixed_secrets(), **canary.master_keys(stack)}
        stack.stop()
        leaked = canary.in_directory(stack.directory, secrets)
        assert not leaked, "\n".join(leaked)
        # Leaks are reported at the end of a process, after the last test has been judged.
        found = [
            line for p in stack.processes() for line in p.complaints(0, [r"^(?!.*(Leak|SUMMARY))"])
        ]
        assert not found, "\n".join(found)
    finally:
        stack.kill()
        if os.environ.get("TOLLGATE_KEEP"):
            print(f"\nkept: {stack.directory}")
        else:
            shutil.rmtree(stack.directory, ignore_errors=True)


@pytest.fixture(autouse=True)
def after_every_test(request: pytest.FixtureRequest) -> Iterator[None]:
    if "stack" not in request.fixturenames:
        yield
        return
    stack: Stack = request.getfixturevalue("stack")
    stack.simulator.reset()
    stack.accounts.clear()
    offsets = [(process, process.log_size()) for process in stack.processes()]
    yield
    ensure_running(stack)
    if request.node.get_closest_marker("breaks_http") is None:
        assert stack.simulator.problems() == []
    if stack.accounts:
        check_books(request, stack)
    check_logs(request, offsets)


def ensure_running(stack: Stack) -> None:
    """A failed test may have left something stopped; the next one shall not suffer."""
    if not stack.mariadb.process.running:
        stack.mariadb.start()
    if not stack.redis.process.running:
        stack.redis.start()
    for program in (stack.ledger, stack.gateway):
        if not program.process.running:
            program.start()


def check_books(request: pytest.FixtureRequest, stack: Stack) -> None:
    stack.site.wait_clean()
    if request.node.get_closest_marker("books_differ"):
        return

    def equal() -> bool:
        return stack.charged_by_simulator() == stack.spent()

    try:
        eventually("provider's charges equal the users' payments", equal, 10, every=0.2)
    except AssertionError:
        raise AssertionError(
            f"the provider charged {stack.charged_by_simulator()}, the users paid {stack.spent()}"
        ) from None


def check_logs(request: pytest.FixtureRequest, offsets: list) -> None:
    allowed = []
    for mark in request.node.iter_markers("complains"):
        allowed += mark.args
    found = [line for process, offset in offsets for line in process.complaints(offset, allowed)]
    assert not found, "\n".join(found)


@pytest.fixture
def account(stack: Stack) -> Account:
    """A user with 10 USD and an unlimited token."""
    return stack.account()


@pytest.fixture(scope="session", params=sorted(SERVERS))
def server(request: pytest.FixtureRequest, stack: Stack) -> Iterator[WebServer]:
    """Each web server in turn, in front of the session's gateway."""
    instance = SERVERS[request.param](stack.directory, stack.site.socket)
    instance.start()
    yield instance
    instance.stop()


@pytest.fixture
def via(stack: Stack, server: WebServer) -> Account:
    """An account whose requests go through the web server."""
    account = stack.account()
    account.client = server.client
    return account
