"""Many clients on several accounts, half of them streaming, while something breaks."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from harness.money import M_REF, bill
from harness.procs import descriptors, eventually
from harness.stack import Account, Stack

EACH = bill({"prompt_tokens": 7, "completion_tokens": 3}, M_REF)  # 33
SHARDS = [f"tg:{{s{number:02d}}}:holds" for number in range(64)]


class Crowd:
    def __init__(self, stack: Stack, clients: int, accounts: int, credit: str = "10") -> None:
        self.stack = stack
        stack.simulator.behave("*", "ok", p=7, c=3)
        self.accounts = [stack.account(credit) for _ in range(accounts)]
        waiting = "SELECT COUNT(*) FROM credits WHERE applied_at IS NULL"
        applied = [["0"]]  # without Redis MySQL's balance decides, which follows
        eventually("the credits are applied", lambda: stack.site.main_sql(waiting) == applied, 30)
        self.statuses: Counter[int] = Counter()
        self.served: Counter[str] = Counter()  # whole answers, by account
        self.samples: dict[int, bytes] = {}  # one answer of each status
        self.broken = 0
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.pool = ThreadPoolExecutor(clients)
        self.running = [self.pool.submit(self.run, number) for number in range(clients)]

    def run(self, number: int) -> None:
        account = self.accounts[number % len(self.accounts)]
        stream = number // len(self.accounts) % 2 == 0
        while not self.stopping.is_set():
            try:
                answer = account.chat(stream=stream)
            except OSError:
                self.note(account, 0, False)
                time.sleep(0.05)
                continue
            whole = bool(answer.headers) and (not stream or answer.complete)
            self.samples.setdefault(answer.status, answer.body)
            self.note(account, answer.status, whole)
            if answer.status != 200:
                time.sleep(random.uniform(0.02, 0.1))

    def note(self, account: Account, status: int, whole: bool) -> None:
        with self.lock:
            if not whole:
                self.broken += 1
                return
            self.statuses[status] += 1
            if status == 200:
                self.served[account.name] += 1

    def wait_served(self, more: int, timeout: float = 90) -> None:
        target = self.statuses[200] + more
        eventually(f"{more} more are served", lambda: self.statuses[200] >= target, timeout)

    def stop(self) -> None:
        self.stopping.set()
        for one in self.running:
            one.result(120)
        self.pool.shutdown()

    # --- afterwards -------------------------------------------------------------------------

    def books_are_right(self, within: float) -> None:
        """Audit clean, nothing held, nothing bound offline; each whole answer is paid once."""
        stack = self.stack
        until = time.monotonic() + within
        stack.site.wait_clean(within)
        left = max(until - time.monotonic(), 5)
        eventually("no hold is left", lambda: open_holds(stack) == 0, left)
        eventually("nothing is bound offline", lambda: offline_rows(stack) == 0, 30)
        charged = len(stack.simulator.charges())
        paid = 0
        for account in self.accounts:
            least = self.served[account.name] * EACH
            eventually(f"{account.name} has paid {least}", lambda: account.spent >= least, 30)
            assert account.spent % EACH == 0, (account.name, account.spent)
            paid += account.spent
        assert paid <= charged * EACH, (paid / EACH, charged)
        ids = ", ".join(str(account.token_id) for account in self.accounts)
        twice = stack.site.log_sql(
            "SELECT COUNT(*) - COUNT(DISTINCT request_id) FROM request_log"
            f" WHERE token_id IN ({ids})"
        )
        assert twice == [["0"]], "a request is in the log twice"
        stack.site.wait_clean(30)


def offline_rows(stack: Stack) -> int:
    rows = stack.site.main_sql(
        "SELECT (SELECT COUNT(*) FROM offline_hold) + (SELECT COUNT(*) FROM offline_entry)"
    )
    return int(rows[0][0])


def open_holds(stack: Stack) -> int:
    total = 0
    for key in SHARDS:
        reply = stack.redis.command("HLEN", key)
        assert reply[:1] == b":", reply
        total += int(reply[1:-2])
    return total


def open_descriptors(stack: Stack) -> int:
    return max(descriptors(pid) for pid in stack.gateway.workers())
