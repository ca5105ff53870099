"""What the quick run leaves to --long."""

from __future__ import annotations

import pytest
from harness.stack import recorded_exchanges
from harness.webservers import SERVERS

EXCHANGES = recorded_exchanges()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Quick: every recorded exchange goes through one of the servers, each server has its share."""
    if config.getoption("--long"):
        return
    names = sorted(SERVERS)
    left_out = []
    for item in items:
        if getattr(item, "originalname", "") != "test_recorded" or not EXCHANGES:
            continue
        params = item.callspec.params
        turn = EXCHANGES.index(params["name"]) % len(names)
        if params["server"] != names[turn]:
            left_out.append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
