"""A group whose order is spend_free_first: caps with room left before anything that is paid."""

from __future__ import annotations

from conftest import Lanes
from harness.checks import is_ok
from harness.money import M_REF
from harness.stack import Stack


def test_free_room_of_any_channel_is_spent_first(stack: Stack) -> None:
    """The roomiest first, until the room is gone; whatever the weights say."""
    stack.simulator.behave("*", "ok", p=7, c=3)
    group = f"free-{next(stack.numbers)}"
    stack.site.ctl("group", "set", group, "--ratio", "1")
    stack.site.main_sql(
        f"UPDATE `groups` SET order_mode = 'spend_free_first' WHERE name = '{group}'"
    )
    lanes = Lanes(stack, stack.new_model(M_REF), stack.account("10", group=group))
    lanes.add("--weight", "1000000", "--groups", group)
    for cap in ("2", "3"):
        channel = lanes.add("--weight", "0", "--groups", group)
        key = stack.site.ctl("key", "list", str(channel))["rows"][0]["id"]
        stack.site.ctl("key", "cap", str(channel), str(key), "--requests", cap)
    stack.wait_model(lanes.account, lanes.model)
    before = lanes.count()
    for _ in range(7):
        is_ok(lanes.account.chat(lanes.model))
    used = [lanes.keys.index(seen.key) for seen in stack.simulator.requests()[before:]]
    assert used[0] == 2, used
    assert sorted(used) == [0, 0, 1, 1, 2, 2, 2], used
    assert used[5:] == [0, 0], used
