"""The suite's gateway: breakers and auto-disable on, with short times; through web servers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from harness.checks import is_ok
from harness.money import M_REF
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Account, Stack
from harness.webservers import SERVERS, WebServer

OPEN_S = 3  # breaker.open

SETTINGS: dict[str, str | int | bool] = {
    "breaker.failures": 5,
    "retry.key_tries": 3,
    "breaker.open": f"{OPEN_S}s",
    "auto_disable.on": True,
}


@pytest.fixture(scope="session", autouse=True)
def scheduling(stack: Stack) -> None:
    stack.site.settings.update(SETTINGS)
    stack.site.write_conf()
    stack.gateway.restart()


@pytest.fixture(scope="session", params=["apache", "caddy"])
def server(request: pytest.FixtureRequest, stack: Stack) -> Iterator[WebServer]:
    instance = SERVERS[request.param](stack.directory, stack.site.socket)
    instance.start()
    yield instance
    instance.stop()


@dataclass
class Lanes:
    """A model of its own and its channels, each with its own key, in the order of the asking."""

    stack: Stack
    model: str
    account: Account
    channels: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(0))

    def add(self, *options: str, priority: int = 0, **more: str) -> int:
        number = next(self.numbers)
        key = KEYS[1 + number]
        name = f"{self.model}-{number}"
        argv = ["--priority", str(priority), *options]
        self.channels.append(self.stack.channel(name, [self.model], *argv, key=key, **more))
        self.keys.append(key)
        return self.channels[-1]

    def ready(self) -> Lanes:
        """Every worker's snapshot has all of them."""
        self.stack.wait_model(self.account, self.model)
        self.settled()
        return self

    def settled(self) -> None:
        """The first channel is the one that is asked, by every worker."""

        def first() -> bool:
            before = len(self.stack.simulator.requests())
            for _ in range(8):
                is_ok(self.account.chat(self.model))
            used = self.stack.simulator.requests()[before:]
            return {seen.key for seen in used} == {self.keys[0]}

        eventually("the highest priority is asked first", first, 20)

    def behave(self, number: int, scenario: str, **params: int) -> None:
        self.stack.simulator.behave(f"{self.keys[number]}/{self.model}", scenario, **params)

    def asked(self, before: int) -> list[int]:
        """Which channels have been called since then; a kept connection that died counts once."""
        keys = [seen.key for seen in self.stack.simulator.requests()[before:]]
        return [self.keys.index(key) for key, _ in itertools.groupby(keys)]

    def count(self) -> int:
        return len(self.stack.simulator.requests())

    def status(self, number: int) -> str:
        row = self.stack.site.main_sql(
            f"SELECT status FROM channels WHERE id = {self.channels[number]}"
        )
        return row[0][0]

    def breaker(self, number: int) -> str | None:
        """The line of /metrics about the channel and the model; None: closed."""
        answer = self.stack.fcgi.request("GET", "/metrics", [])
        wanted = f'tollgate_breaker_state{{channel="{self.channels[number]}",model="{self.model}"}}'
        for line in answer.body.decode().splitlines():
            if line.startswith(wanted):
                return line.rpartition(" ")[2]
        return None


@pytest.fixture
def lanes(stack: Stack, via: Account) -> Lanes:
    """Add channels, then ready()."""
    return Lanes(stack, stack.new_model(M_REF), via)
