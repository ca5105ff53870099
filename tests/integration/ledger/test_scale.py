"""A million accounts loaded, rebuilt and audited, a journal of a million entries applied: in
bounded time and memory (tests/bench/books.c; the figures themselves are bench.py's)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TOLLGATE_BUILD"])
SOURCE = Path(__file__).resolve().parents[3]
MILLION = 1_000_000
# What a build with sanitizers may use: about three times as much as an ordinary one.
MOST_MIB = 1500


def books(accounts: int, entries: int) -> dict[str, float]:
    subprocess.run(
        ["make", "-C", str(BUILD), "bench-books"], check=True, stdout=subprocess.DEVNULL
    )
    done = subprocess.run(
        [BUILD / "bench-books", str(accounts), str(entries)],
        env=os.environ | {"TOLLGATE_SOURCE": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=7200,
    )
    assert done.returncode == 0, done.stderr
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


@pytest.mark.long
def test_a_million_accounts_and_entries() -> None:
    """The program itself fails when an audit finds a difference, or a statement runs too long."""
    figures = books(MILLION, MILLION)
    assert figures["audit_mib"] < MOST_MIB, figures
    assert figures["rebuild_s"] < 300 and figures["audit_s"] < 900, figures
