"""A coding agent of a vendor, installed from its package and run through Tollgate on a small task.

An agent is one file, agent_NAME.py, with AGENT in it; test_agents.py finds it. It runs in a home
and a project of its own, with nothing of the environment but PATH, and every way out leads to a
proxy that is not there: only loopback is left.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
NOWHERE = "http://127.0.0.1:9"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
Turn = dict[str, Any]  # of the simulator's scenario agent: {"text"} or {"tool", "input"}


@dataclass
class Place:
    """Where and with what an agent works."""

    base_url: str  # of the web server, without /v1
    key: str
    model: str
    home: Path
    project: Path
    prompt: str


@dataclass
class Agent:
    name: str
    package: str  # of npm
    version: str
    program: str  # of the package
    node_major: int
    models: list[str]  # those of Tollgate's models that it shall work with
    command: Callable[[Place], list[str]]  # what follows the program's name
    env: Callable[[Place], dict[str, str]]
    script: Callable[[Place], list[Turn]]  # the last one is what it says in the end
    said: Callable[[str], str]  # its last words, from its standard output
    results: int = 0  # how many of the script's calls must have come back with a result
    paths: set[str] = field(default_factory=set)  # where it asks, when the channel is its own


def agents() -> dict[str, Agent]:
    modules = [importlib.import_module(path.stem) for path in sorted(HERE.glob("agent_*.py"))]
    return {module.AGENT.name: module.AGENT for module in modules}


def install(agent: Agent, work: Path) -> Path:
    """The program, installed into the tests' work directory once for each version."""
    check_node(agent)
    prefix = work / "agents" / f"{agent.name}-{agent.version}"
    program = prefix / "node_modules" / ".bin" / agent.program
    if not program.exists():
        prefix.mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--prefix", str(prefix), "--no-audit", "--no-fund"]
        npm += ["--omit=optional", "--loglevel=error", f"{agent.package}@{agent.version}"]
        done = subprocess.run(npm, cwd=prefix, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    return program


def check_node(agent: Agent) -> None:
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip(f"{agent.name} needs node and npm")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    major = int(version.stdout.strip().lstrip("v").split(".")[0])
    if major < agent.node_major:
        pytest.skip(f"{agent.name} needs node {agent.node_major}, this is {major}")


def run(agent: Agent, program: Path, place: Place) -> str:
    """Its standard output; it must end well."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(place.home),
        "TERM": "dumb",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        **dict.fromkeys(PROXIES, NOWHERE),
        **agent.env(place),
    }
    done = subprocess.run(
        [str(program), *agent.command(place)],
        cwd=place.project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
