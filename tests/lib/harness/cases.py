"""One model of its own for a test, served by one raw upstream; and what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from harness.answer import Answer
from harness.money import M_REF
from harness.rawup import Connection, RawUpstream
from harness.stack import Account, Stack

FAST = "connect=2s,first_byte=1s,idle=1s"


@dataclass
class Case:
    stack: Stack
    account: Account
    model: str
    upstream: RawUpstream

    def chat(self) -> Answer:
        return self.account.chat(self.model)

    def stream(self) -> Answer:
        return self.account.stream(self.model)

    def row(self, result: Answer) -> dict:
        return self.stack.site.record(result.request_id)

    def is_free(self) -> None:
        self.account.wait_spent(0)


Maker = Callable[..., Case]


@pytest.fixture
def case(stack: Stack, account: Account) -> Iterator[Maker]:
    made: list[RawUpstream] = []

    def make(
        script=None,
        url: str | None = None,
        timeouts: str = FAST,
        options: tuple[str, ...] = (),
        **more,
    ) -> Case:
        upstream = RawUpstream(script, **more)
        made.append(upstream)
        model = stack.new_model(M_REF)
        options = ("--timeouts", timeouts, *options)
        stack.channel(f"raw-{model}", [model], *options, base_url=url or upstream.base_url)
        stack.wait_model(account, model)
        return Case(stack, account, model, upstream)

    workers = stack.gateway.workers()
    yield make
    for upstream in made:
        upstream.close()
    assert stack.gateway.workers() == workers


def says(data: bytes, close: bool = True) -> Callable[[Connection], None]:
    """A script that answers with these bytes."""

    def script(connection: Connection) -> None:
        connection.send(data)
        if close:
            connection.sock.close()

    return script
