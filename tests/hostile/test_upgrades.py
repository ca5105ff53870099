"""FR145: an upgrade from an old schema that is interrupted, repeated, doubled or half done by hand.

The rules of a single run are tested beside the code that applies the files (unit-store-migrate).
"""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from harness.gateway import SOURCE, render
from harness.stack import Stack

# What the first release had; everything later is the upgrade.
FIRST = {"main": "202611301203", "log": "202611301200"}
HAND_MADE = "ALTER TABLE usage_hourly ADD KEY user_hour (user_id, hour)"
SHAPES = [
    "SELECT table_name, column_name, ordinal_position, column_type, is_nullable, column_default,"
    " extra FROM information_schema.columns WHERE table_schema = '{}' ORDER BY 1, 2",
    "SELECT table_name, index_name, seq_in_index, column_name, non_unique"
    " FROM information_schema.statistics WHERE table_schema = '{}' ORDER BY 1, 2, 3",
]


class Upgrade:
    def __init__(self, stack: Stack, directory: Path) -> None:
        self.stack, self.directory = stack, directory
        self.names = {"main": "tg_old", "log": "tg_old_log"}
        self.conf = directory / "tollgate.conf"
        dsn = stack.mariadb.dsn
        names = {"database.main": dsn("tg_old"), "database.log": dsn("tg_old_log")}
        self.conf.write_text(render({**stack.site.settings, **names}))
        for name in self.names.values():
            stack.mariadb.sql(f"DROP DATABASE IF EXISTS {name}")

    def old_files(self) -> Path:
        for kind, last in FIRST.items():
            folder = self.directory / "sql" / kind
            folder.mkdir(parents=True)
            for path in (SOURCE / "sql" / kind).iterdir():
                if path.name.partition("_")[0] <= last:
                    shutil.copy(path, folder)
        return self.directory

    def start(self, files: Path = SOURCE) -> subprocess.Popen[str]:
        argv = [self.stack.site.program("admin-cgi/tollgatectl"), "--conf", str(self.conf)]
        env = {**self.stack.gateway.process.env, "TOLLGATE_DATADIR": str(files)}
        return subprocess.Popen(
            [*argv, "migrate"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env
        )

    def finish(self, process: subprocess.Popen[str]) -> None:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output

    def shape(self, kind: str, name: str) -> list:
        rows = [self.stack.mariadb.sql(text.format(name)) for text in SHAPES]
        return [*rows, self.stack.mariadb.sql("SELECT name FROM schema_migration", name)]

    def is_as_new(self) -> None:
        fresh = {"main": self.stack.site.main_database, "log": self.stack.site.log_database}
        for kind, name in self.names.items():
            assert self.shape(kind, name) == self.shape(kind, fresh[kind])


@pytest.fixture
def upgrade(stack: Stack, tmp_path: Path) -> Upgrade:
    made = Upgrade(stack, tmp_path)
    made.finish(made.start(made.old_files()))
    return made


def test_fr145_an_index_made_by_hand_and_two_at_once(upgrade: Upgrade) -> None:
    upgrade.stack.mariadb.sql(HAND_MADE, upgrade.names["log"])
    both = [upgrade.start(), upgrade.start()]
    for process in both:
        upgrade.finish(process)
    upgrade.finish(upgrade.start())
    upgrade.is_as_new()


def test_fr145_killed_in_the_middle_and_run_again(upgrade: Upgrade) -> None:
    began = time.monotonic()
    pause, cut = 0.0, 0
    while True:
        process = upgrade.start()
        try:
            process.wait(pause)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            cut += 1
            pause += 0.01
    assert cut and time.monotonic() - began < 300
    upgrade.finish(upgrade.start())
    upgrade.is_as_new()
