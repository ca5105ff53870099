"""What an SDK is pointed at, and whose books its requests land in."""

from __future__ import annotations

from dataclasses import dataclass

from harness.simclient import Simulator
from harness.stack import Account


@dataclass
class Target:
    name: str
    base_url: str
    key: str
    simulator: Simulator
    account: Account | None = None

    def wait_books(self) -> None:
        """What the provider charged is what the account paid; without Tollgate nobody pays."""
        if self.account is not None:
            self.account.wait_spent(self.account.stack.charged_by_simulator())
