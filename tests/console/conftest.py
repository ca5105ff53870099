"""The console under Apache, in front of the session's stores; what must hold after every test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from harness.console import Browser, ConsoleApache
from harness.stack import Stack

ADMIN, PASSWORD = "admin", "an admin's password"
numbers = itertools.count(1)


@pytest.fixture(scope="session")
def console(stack: Stack) -> Iterator[ConsoleApache]:
    server = ConsoleApache(stack.directory, stack.site)
    server.start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def no_complaints(request: pytest.FixtureRequest) -> Iterator[None]:
    if "console" not in request.fixturenames:
        yield
        return
    server: ConsoleApache = request.getfixturevalue("console")
    offset = server.log_size()
    yield
    if request.node.get_closest_marker("complains") is None:
        assert server.complaints(offset) == []


@pytest.fixture
def browser(console: ConsoleApache) -> Browser:
    return console.browser()


@pytest.fixture
def root(console: ConsoleApache) -> Browser:
    """Logged in as the first admin, whose role is root."""
    browser = console.browser()
    assert browser.login(ADMIN, PASSWORD).status == 200
    return browser


@dataclass
class Person:
    id: int
    name: str
    password: str
    browser: Browser


@pytest.fixture
def people(root: Browser, console: ConsoleApache) -> Callable[..., Person]:
    """Makes users of a role, each logged in on a browser of their own."""

    def make(role: str = "user", log_in: bool = True) -> Person:
        name, password = f"{role}-{next(numbers)}", "correct horse battery"
        made = root.api(
            "POST",
            "users",
            {"username": name, "password": password, "role": role, "group_name": "default"},
        )
        assert made.status == 201, made.text
        browser = console.browser()
        if log_in:
            assert browser.login(name, password).status == 200
        return Person(int(made.json["id"]), name, password, browser)

    return make
