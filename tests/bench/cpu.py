"""CPU time of one request, process by process: what each of them used, over the requests.

To first order this does not depend on what else runs on the machine, unlike requests per second.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.procs import children, eventually
from harness.stack import Stack

TICK_US = 1_000_000 // os.sysconf("SC_CLK_TCK")


@dataclass
class Used:
    """Microseconds."""

    user: float = 0.0
    system: float = 0.0

    @property
    def total(self) -> float:
        return self.user + self.system

    def __sub__(self, other: Used) -> Used:
        return Used(self.user - other.user, self.system - other.system)

    def __truediv__(self, count: int) -> Used:
        return Used(self.user / count, self.system / count)


def used_by(pid: int) -> Used:
    """Of a process and its children: all threads that ever ran in them."""
    used = Used()
    for one in [pid, *children(pid)]:
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        used.user += int(fields[11]) * TICK_US
        used.system += int(fields[12]) * TICK_US
    return used


def run_wrk(argv: list[str]) -> tuple[int, Used]:
    """The requests it made and its own time."""
    before = os.times()
    output = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    after = os.times()
    found = re.search(r"(\d+) requests in", output)
    if not found or "Non-2xx" in output or "Socket errors" in output:
        raise SystemExit(f"not every answer was good:\n{output}")
    user = (after.children_user - before.children_user) * 1e6
    system = (after.children_system - before.children_system) * 1e6
    return int(found[1]), Used(user, system)


def wait_applied(stack: Stack) -> None:
    """Every request is in the books, and its record in the log."""
    last: list[list[list[str]]] = [[]]

    def applied() -> bool:
        waiting = stack.site.main_sql("SELECT COUNT(*) FROM log_batch")
        cursors = stack.site.main_sql("SELECT stream_id FROM ledger_cursor ORDER BY shard")
        same = cursors == last[0]
        last[0] = cursors
        return same and waiting == [["0"]]

    eventually("the journal is applied", applied, 120, every=1.5)


def measure(
    argv: list[str], pids: dict[str, int], settle: Callable[[], None] = lambda: None
) -> dict[str, Used]:
    """What a run of wrk costs per request in each process, and in wrk itself."""
    before = {name: used_by(pid) for name, pid in pids.items()}
    count, wrk = run_wrk(argv)
    settle()
    each = {name: (used_by(pid) - before[name]) / count for name, pid in pids.items()}
    return {**each, "wrk": wrk / count}
