"""Secrets that must be nowhere: what they are, and where it is looked for them.

Every key of the simulator begins with CANARY, so that a whole session can be searched for keys
that its tests have put into channels, whichever these were.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path

from harness.procs import children
from harness.stack import Stack
from harness.stores import DB_PASSWORD, REDIS_PASSWORD

CANARY = b"sk-sim-upstream-key-"

# What holds secrets by its purpose, or is the tests' own.
HOLDERS = ("password", "tollgate.secrets", "console.secrets", "redis.conf", "simulator.")


def master_keys(stack: Stack) -> dict[str, bytes]:
    """All that the secret files hold now, as written and as bytes."""
    found = {}
    for name in ("tollgate.secrets", "console.secrets"):
        text = (stack.directory / name).read_text()
        for value in re.findall(r"^(?!seal_public)\w+ *= *([0-9a-f]{64})$", text, re.MULTILINE):
            found[f"{name} {value[:6]}"] = value.encode()
            found[f"{name} {value[:6]} as bytes"] = bytes.fromhex(value)
    assert len(found) >= 8, "the secret files were not read"
    return found


def fixed_secrets() -> dict[str, bytes]:
    """Those that are the same in every session."""
    return {
        "a channel key": CANARY,
        "the database's password": DB_PASSWORD.encode(),
        "Redis' password": REDIS_PASSWORD.encode(),
    }


def is_holder(path: Path) -> bool:
    return path.name.startswith(HOLDERS) or path.name.endswith(HOLDERS)


def files(directory: Path) -> Iterator[Path]:
    """Logs, spools, confs, and what the stores themselves have written, as it lies on the disk."""
    for path in sorted(directory.rglob("*")):
        if path.is_file() and not path.is_symlink() and not is_holder(path):
            yield path


def in_file(path: Path, secrets: dict[str, bytes]) -> list[str]:
    if path.stat().st_size == 0:
        return []
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return [f"{name} in {path}" for name, value in secrets.items() if text.find(value) >= 0]


def in_directory(directory: Path, secrets: dict[str, bytes]) -> list[str]:
    found = []
    for path in files(directory):
        try:
            found += in_file(path, secrets)
        except FileNotFoundError:  # a log file that was turned meanwhile
            continue
    return found


def in_text(place: str, text: bytes, secrets: dict[str, bytes]) -> list[str]:
    return [f"{name} in {place}" for name, value in secrets.items() if value in text]


def in_stores(stack: Stack, secrets: dict[str, bytes]) -> list[str]:
    """Every row of every table as text, and every key of Redis, written anew."""
    found = []
    for database in (stack.site.main_database, stack.site.log_database):
        found += in_text(f"database {database}", stack.mariadb.dump(database).encode(), secrets)
    stack.redis.command("BGREWRITEAOF")
    for path in (stack.redis.directory / "appendonlydir").iterdir():
        found += in_file(path, secrets)
    return found


def in_processes(stack: Stack, secrets: dict[str, bytes]) -> list[str]:
    """Command lines and environments of our programs; and none writes its memory to a file."""
    found = []
    for process in (stack.gateway.process, stack.ledger.process):
        for pid in [process.pid, *children(process.pid)]:
            for name in ("cmdline", "comm", "environ"):
                text = Path(f"/proc/{pid}/{name}").read_bytes()
                found += in_text(f"{process.name} {name}", text, secrets)
    return found


def everywhere(stack: Stack, secrets: dict[str, bytes]) -> list[str]:
    return [
        *in_directory(stack.directory, secrets),
        *in_stores(stack, secrets),
        *in_processes(stack, secrets),
    ]
