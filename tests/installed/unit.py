"""Starts a systemd unit where no systemd runs: account, groups, folders, limits, read-only tree.

What needs the kernel's filters is left out; test_units.py holds those against a trace.
"""

from __future__ import annotations

import configparser
import grp
import os
import pwd
import resource
import shlex
from pathlib import Path

from harness.procs import Process

UNITS = Path("/usr/lib/systemd/system")


class MultiDict(dict):
    """A key that is given again adds a line, as in a unit."""

    def __setitem__(self, key, value) -> None:
        if key in self and isinstance(value, list) and isinstance(self[key], list):
            self[key].extend(value)
        else:
            super().__setitem__(key, value)


def read(name: str) -> dict[str, str]:
    """[Unit] and [Service] in one; a repeated key's values are joined by blanks."""
    parser = configparser.RawConfigParser(
        dict_type=MultiDict, strict=False, delimiters=["="], interpolation=None
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNITS / name)
    found: dict[str, str] = {}
    for section in ("Unit", "Service"):
        found |= {key: text.replace("\n", " ") for key, text in parser[section].items()}
    return found


def make_runtime_directory(unit: dict[str, str]) -> list[str]:
    if "RuntimeDirectory" not in unit:
        return []
    folder = Path("/run") / unit["RuntimeDirectory"]
    folder.mkdir(exist_ok=True)
    folder.chmod(int(unit["RuntimeDirectoryMode"], 8))
    os.chown(folder, pwd.getpwnam(unit["User"]).pw_uid, grp.getgrnam(unit["Group"]).gr_gid)
    return [str(folder)]


def command(unit: dict[str, str]) -> list[str]:
    """The program behind what mounts and drops privileges; each step replaces the one before."""
    writable = make_runtime_directory(unit)
    for path in unit["ReadWritePaths"].split():
        if not path.startswith("-") or Path(path[1:]).exists():
            writable.append(path.removeprefix("-"))
    assert unit["ProtectSystem"] == "strict" and unit["PrivateTmp"] == "yes"
    lines = ["set -e", "mount --make-rprivate /"]
    lines += [f"mount --bind {path} {path}" for path in writable]
    lines += ["mount -o remount,bind,ro /", "mount -t tmpfs -o mode=1777 tmpfs /tmp"]
    lines += ["mount -t tmpfs -o mode=1777 tmpfs /var/tmp"]
    files = min(int(unit["LimitNOFILE"]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    lines += [f"ulimit -n {files} -c {unit['LimitCORE']}"]
    lines += [f"umask {unit['UMask']}"]
    groups = {grp.getgrnam(name).gr_gid for name in unit.get("SupplementaryGroups", "").split()}
    groups |= {entry.gr_gid for entry in grp.getgrall() if unit["User"] in entry.gr_mem}
    drop = ["setpriv", "--reuid", unit["User"], "--regid", unit["Group"], "--no-new-privs"]
    drop += ["--bounding-set", "-all", "--inh-caps", "-all"]
    drop += ["--groups", ",".join(map(str, sorted(groups)))] if groups else ["--clear-groups"]
    lines += ["exec " + shlex.join(drop) + " " + unit["ExecStart"]]
    return ["unshare", "--mount", "bash", "-c", "\n".join(lines)]


def start(name: str, directory: Path) -> list[Process]:
    """`systemctl start NAME`: what it wants first. Stop them in the order of the result."""
    unit = read(name)
    started: list[Process] = []
    for wanted in unit.get("Wants", "").split():
        if (UNITS / wanted).exists() and wanted.startswith("tollgate"):
            started += start(wanted, directory)
    process = Process(name.removesuffix(".service"), command(unit), directory)
    process.start(f"{process.name}: ready")
    return [process, *started]
