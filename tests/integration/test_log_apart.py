"""The log database on a server of its own, which may be away while traffic goes on."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness.checks import is_ok
from harness.procs import eventually
from harness.stack import Account, Stack
from harness.stores import MariaDB

EACH = 54  # 1 x 1.5 + 7 x 7.5


@dataclass
class Apart:
    stack: Stack
    logs: MariaDB

    def rows(self, account: Account) -> int:
        asked = f"SELECT COUNT(*) FROM request_log WHERE token_id = {account.token_id}"
        return int(self.logs.sql(asked, "tg_log")[0][0])


@pytest.fixture
def apart() -> Iterator[Apart]:
    """A whole installation of its own: its books cannot be those of the session's stack."""
    stack = Stack.create()
    folder = Path(tempfile.mkdtemp(prefix="tg-"))
    logs = MariaDB(folder)
    stack.site.settings["database.log"] = logs.dsn("tg_log")
    stack.site.settings["database.log_password_file"] = str(logs.password_file)
    try:
        logs.install()
        logs.start()
        logs.account()
        stack.start()
        yield Apart(stack, logs)
        stack.stop()
        logs.stop()
    finally:
        stack.kill()
        logs.process.kill()
        shutil.rmtree(stack.directory, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def test_records_go_to_the_other_server_whenever_it_is_there(apart: Apart) -> None:
    stack = apart.stack
    account = stack.account()
    tables = {name for (name,) in apart.logs.sql("SHOW TABLES", "tg_log")}
    assert {"request_log", "request_detail"} <= tables
    assert ["tg_log"] not in stack.mariadb.sql("SHOW DATABASES"), "only on the other server"
    is_ok(account.chat())
    eventually("the row is there", lambda: apart.rows(account) == 1)
    account.wait_spent(EACH)
    stack.site.wait_clean()

    apart.logs.stop()
    stack.ledger.restart()
    stack.gateway.restart()
    for _ in range(20):
        is_ok(account.chat())
    account.wait_spent(21 * EACH)
    assert stack.fcgi.request("GET", "/readyz").status == 200
    apart.logs.start()
    eventually("every row came", lambda: apart.rows(account) == 21, 60)
    stack.site.wait_clean()
