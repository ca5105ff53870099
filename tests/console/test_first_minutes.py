"""The first ten minutes at the console, in a real browser, on a desktop and on a phone.

Log in, add a channel, test it, set a price, make a token, give the account some quota, copy the
curl line, run it, see the request in the log and open its story. Screenshots of every step are kept
beside those of test_browser.py, in both lights.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ADMIN, PASSWORD, numbers
from harness.console import ConsoleApache, ConsoleFastCgi
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Stack
from harness.visitor import Visitor, chromium
from harness.webservers import SERVERS

@pytest.fixture(scope="module")
def window() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module", params=["apache", "caddy"])
def server(
    request: pytest.FixtureRequest, stack: Stack, console: ConsoleApache
) -> Iterator[tuple[str, int]]:
    if request.param == "apache":
        yield request.param, console.port
        return
    directory = stack.directory / "minutes"
    directory.mkdir()
    program = ConsoleFastCgi(stack.site, directory)
    program.start()
    caddy = SERVERS["caddy"](directory, stack.site.socket, program.variables)
    caddy.start()
    yield request.param, caddy.port
    caddy.stop()
    program.stop()


@pytest.fixture
def visitor(server: tuple[str, int], window: Any, size: str) -> Iterator[Visitor]:
    visitor = Visitor(window, server[1], size, f"first-minutes-{server[0]}-{size}")
    yield visitor
    visitor.close()


def run(line: str) -> dict[str, Any]:
    """What a person's shell makes of a line that was copied."""
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=60, check=True
    )
    return json.loads(done.stdout)


def add_channel(visitor: Visitor, name: str, stack: Stack, model: str) -> None:
    visitor.click("Channels", "link")
    visitor.picture("channels")
    visitor.click("New channel", "link")
    visitor.picture("vendors")
    visitor.page.get_by_text("Another one").click()
    visitor.page.wait_for_selector("main [name=base_url]")
    visitor.picture("new-channel")
    visitor.fill(name=name, base_url="ftp://nowhere", key=KEYS[0], models=model)
    visitor.click("Make the channel")
    visitor.picture("wrong-address")
    assert visitor.page.locator("main [name=models]").input_value().strip() == model
    visitor.fill(base_url=stack.simulator.base_url, key=KEYS[0])
    visitor.click("Make the channel")
    assert "The channel is made." in visitor.page.content()
    visitor.picture("channel")


def price_it(visitor: Visitor) -> None:
    visitor.click("Test it", "link")
    visitor.click("Test it")
    assert "It works." in visitor.page.content()
    visitor.picture("tested")
    visitor.click("Set a price", "link")
    visitor.fill(input="2.5", output="10")
    visitor.picture("price")
    visitor.click("Set the price")
    visitor.picture("price-set")


def make_token(visitor: Visitor, name: str, model: str) -> str:
    """The line to try it with."""
    visitor.click("Tokens", "link")
    visitor.click("New token", "link")
    visitor.fill(name=name, limit="1.50", model_limits=model)
    visitor.picture("new-token")
    visitor.click("Make the token")
    visitor.picture("token-made")
    buttons = visitor.page.get_by_role("button", name="Copy", exact=True)
    buttons.last.click()
    visitor.page.get_by_role("button", name="Copied").wait_for()
    return visitor.page.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize("size", ["desk", "phone"])
@pytest.mark.ends_quick
@pytest.mark.books_differ  # nobody is billed for a channel's test
def test_the_first_ten_minutes(visitor: Visitor, stack: Stack) -> None:
    number = next(numbers)
    name, model = f"first-{number}", f"m-first-{number}"
    visitor.go("/tollgate/")
    visitor.picture("login")
    visitor.log_in(ADMIN, PASSWORD)
    visitor.picture("logged-in")
    add_channel(visitor, name, stack, model)
    price_it(visitor)
    line = make_token(visitor, name, model)
    if visitor.page.get_by_text("The account has no quota").count() > 0:
        visitor.click("Add some", "link")
        visitor.fill(amount="5", reason="to begin with")
        visitor.picture("quota")
        visitor.click("Book it")
        assert "It is in the books." in visitor.page.content()
    answer = eventually(
        "the line answers", lambda: (got := run(line)).get("choices") and got, timeout=15
    )
    assert answer["model"] == model and answer["choices"][0]["message"]["content"]

    def seen() -> bool:
        visitor.go(f"/tollgate/logs.cgi?model={model}")
        return visitor.page.locator("tbody th a").count() == 1

    eventually("the request is in the log", seen, 15)
    visitor.picture("log")
    visitor.page.locator("tbody th a").click()
    visitor.page.wait_for_selector("h2")
    visitor.read(None)
    visitor.picture("story")
    story = visitor.page.locator("main").inner_text()
    assert model in story and name in story and "Attempts" in story and "Bill" in story
    for area in ("dashboard", "prices", "users", "tokens", "account"):
        visitor.go(f"/tollgate/{area}.cgi")
        visitor.picture(area)
    visitor.click("Log out")
    assert visitor.problems == []
