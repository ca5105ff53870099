"""Random histories of the ledger, with the real scripts and appliers (tests/histories).

A failure prints its seed and the few steps that are left of it; the same again:
`build/.../histories --only SEED [--put-back RULE]`.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TOLLGATE_BUILD"])
SOURCE = Path(__file__).resolve().parents[3]

# A rule of the design put back to the obvious version, and what the driver says then. The seed is
# only where it begins to look; how long it took is far below the limit of steps.
SOON = ["endsweep", "latesweep", "anyfinal", "nocreditpush", "nosettle", "giveback"]
LATER = ["applier", "noepoch", "drop", "nowait", "somescripts", "keptholds", "fullbill"]
# Rules that only matter when rebuilds get in each other's way. `eqbegin` is not among them: a shard
# that is switched off once too often is rebuilt, its books are never wrong.
DUELS = ["lease"]
REVERSALS = [*SOON, *(pytest.param(rule, marks=pytest.mark.long) for rule in LATER)]


def histories(*arguments: str, timeout: float) -> tuple[int, str]:
    done = subprocess.run(
        [BUILD / "histories", *arguments],
        env=os.environ | {"TOLLGATE_SOURCE": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
        text=True,
        errors="replace",
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="session", autouse=True)
def program() -> None:
    subprocess.run(["make", "-C", str(BUILD), "histories"], check=True, stdout=subprocess.DEVNULL)


def test_no_history_makes_the_books_wrong(request: pytest.FixtureRequest) -> None:
    steps = 2_000_000 if request.config.getoption("--long") else 100_000
    code, output = histories("--steps", str(steps), timeout=7200)
    print(output)
    assert code == 0, output
    faults, offline = re.findall(r"(\d+) faults, (\d+) looks at offline rows: all right", output)[0]
    assert int(faults) > 1000 and int(offline) > 50, output


# Histories that once ended wrong. What a seed stands for changes with the driver: when it does,
# they are only histories more.
ONCE_WRONG = {
    "an offline hold's end forgot what was earned in Redis": 87174773,
}


@pytest.mark.parametrize("seed", ONCE_WRONG.values(), ids=ONCE_WRONG.keys())
def test_what_was_wrong_once_is_right(seed: int) -> None:
    code, output = histories("--only", str(seed), "--no-shrink", timeout=300)
    assert code == 0, output


@pytest.mark.parametrize("rule", REVERSALS)
def test_a_rule_put_back_is_found_out(rule: str) -> None:
    where = ("--seed", "100", "--steps", "400000", "--no-shrink")
    code, output = histories("--put-back", rule, *where, timeout=1800)
    assert code == 1, f"with '{rule}' nothing was wrong:\n{output}"


@pytest.mark.parametrize("rule", DUELS)
def test_a_rule_of_rebuilds_put_back_is_found_out(rule: str) -> None:
    where = ("--duels", "--seed", "118", "--steps", "400000", "--no-shrink")
    code, output = histories("--put-back", rule, *where, timeout=1800)
    assert code == 1, f"with '{rule}' nothing was wrong:\n{output}"


def test_rebuilds_that_get_in_each_others_way_do_no_harm(request: pytest.FixtureRequest) -> None:
    steps = 200_000 if request.config.getoption("--long") else 5_000
    code, output = histories("--duels", "--steps", str(steps), timeout=3600)
    assert code == 0, output


def test_a_failure_is_made_small() -> None:
    """And the history that its message names fails again, in the same way."""
    code, output = histories("--put-back", "endsweep", "--seed", "1000", timeout=900)
    assert code == 1, output
    left = int(output.split("left of it are ")[1].split(" of")[0])
    assert left < 60, output
    assert "did not fail again" not in output
    seed, first = output.split("history ")[1].split("\n")[0].split(": ", 1)
    code, again = histories("--put-back", "endsweep", "--only", seed, "--no-shrink", timeout=300)
    assert code == 1 and first in again, again
