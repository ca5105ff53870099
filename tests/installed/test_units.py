"""The systemd units: systemd understands them, they are tight, and not too tight to work.

No systemd runs here. What the filters forbid is held against what the programs do under strace.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.checks import is_ok, whole_stream
from harness.gateway import build_tree
from harness.stack import Stack

UNITS = ["tollgate-fcgi.service", "tollgate-ledger.service", "tollgate-fcgi.socket"]
SERVICES = UNITS[:2]
DROP_IN = Path(__file__).resolve().parents[2] / "conf" / "systemd" / "socket-activation.conf"
# 10 * systemd's figure from 0 (shut) to 10 (open).
OPEN_MOST = 20

needs_analyze = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="no systemd-analyze (apt-get install systemd)"
)
needs_strace = pytest.mark.skipif(
    not shutil.which("strace"), reason="no strace (apt-get install strace)"
)


def unit_text(name: str) -> str:
    return (build_tree() / "conf" / "systemd" / name).read_text()


def values(name: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit_text(name), re.MULTILINE)


def analyze(*argv: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units as built, with the programs of the build tree."""
    for name in UNITS:
        text = re.sub(
            r"^ExecStart=\S+/(tollgate-\w+)",
            lambda match: f"ExecStart={build_tree()}/fcgi-app/{match[1]}",
            unit_text(name),
            flags=re.MULTILINE,
        )
        (tmp_path / name).write_text(text)
    return tmp_path


@needs_analyze
@pytest.mark.parametrize("activated", [False, True], ids=["", "by-socket"])
def test_systemd_takes_them(units: Path, activated: bool) -> None:
    if activated:
        folder = units / "tollgate-fcgi.service.d"
        folder.mkdir()
        shutil.copy(DROP_IN, folder)
    done = analyze("verify", "--man=no", *(f"./{name}" for name in UNITS), cwd=units)
    assert done.returncode == 0 and done.stderr.strip() == "", done.stderr


@needs_analyze
@pytest.mark.parametrize("name", SERVICES)
def test_they_are_tight(units: Path, name: str) -> None:
    done = analyze("security", "--offline=yes", f"--threshold={OPEN_MOST}", f"./{name}", cwd=units)
    assert done.returncode == 0, done.stdout[-600:] + done.stderr


def test_both_have_the_same_sandbox() -> None:
    """But for what only the ledger does, or can do without."""
    apart = {"SystemCallFilter=setpriority", "MemoryDenyWriteExecute=yes"}

    def sandbox(name: str) -> list[str]:
        text = unit_text(name).partition("# --- Sandbox")[2]
        lines = [line for line in text.splitlines() if "=" in line and line[0] != "#"]
        return [line for line in lines if line not in apart]

    first, second = map(sandbox, SERVICES)
    assert len(first) > 25
    assert first == second


def test_nothing_is_left_to_fill_in() -> None:
    for name in UNITS:
        assert "@" not in re.sub(r"@[a-z-]+(?= |$)", "", unit_text(name), flags=re.MULTILINE)
        assert values(name, "User") + values(name, "SocketUser") == ["tollgate"]


# --- What they do against what they may ---


def members(group: str) -> set[str]:
    """The system calls of a group, groups in it included."""
    done = analyze("syscall-filter", group)
    assert done.returncode == 0, done.stderr
    words = [line.strip() for line in done.stdout.splitlines() if line.startswith("    ")]
    found = {word for word in words if not word.startswith(("@", "#"))}
    for word in words:
        if word.startswith("@"):
            found |= members(word)
    return found


def allowed_calls(name: str) -> set[str]:
    allowed = members("@default")
    for value in values(name, "SystemCallFilter"):
        denies = value.startswith("~")
        for word in value.removeprefix("~").split():
            calls = members(word) if word.startswith("@") else {word}
            allowed = allowed - calls if denies else allowed | calls
    return allowed


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """One life of both programs, from start to drain, under strace."""
    folder = tmp_path_factory.mktemp("traces")
    stack = Stack.create()
    try:
        for program in (stack.gateway, stack.ledger):
            process = program.process
            trace = ["strace", "-f", "-D", "-qq", "-o", str(folder / f"{process.name}.service")]
            process.argv = [*trace, *process.argv]
            process.env["ASAN_OPTIONS"] = "detect_leaks=0"  # it cannot look while traced
        stack.start()
        account = stack.account()
        is_ok(account.chat())
        whole_stream(account.stream())
        is_ok(account.chat(text="x" * (2 << 20)))
        stack.gateway.reload()
        assert stack.fcgi.request("GET", "/readyz").status == 200
        stack.site.wait_clean()
        stack.stop()
        yield {name: (folder / name).read_text(errors="replace") for name in SERVICES}
    finally:
        stack.kill()
        shutil.rmtree(stack.directory, ignore_errors=True)


@needs_analyze
@needs_strace
@pytest.mark.parametrize("name", SERVICES)
def test_the_filter_lets_them_work(traces: dict[str, str], name: str) -> None:
    seen = set(re.findall(r"^\d+ +([a-z0-9_]+)\(", traces[name], re.MULTILINE))
    assert {"socket", "futex", "clone3"} & seen and len(seen) > 30, seen
    assert seen - allowed_calls(name) == set()


@needs_strace
@pytest.mark.parametrize("name", SERVICES)
def test_the_address_families_are_enough(traces: dict[str, str], name: str) -> None:
    seen = set(re.findall(r"\bsocket(?:pair)?\((AF_\w+)", traces[name]))
    assert "AF_UNIX" in seen
    assert seen <= set(values(name, "RestrictAddressFamilies")[0].split())


@needs_strace
@pytest.mark.parametrize("name", SERVICES)
def test_pages_are_writable_and_executable_only_where_the_unit_allows_it(
    traces: dict[str, str], name: str
) -> None:
    """And a prohibition that nothing needs lifted is kept."""
    assert ("PROT_WRITE|PROT_EXEC" in traces[name]) == (not values(name, "MemoryDenyWriteExecute"))
