"""Where the SDKs are pointed at: the simulator itself, then Tollgate behind each web server.

The first shows that a test and the simulator agree with the SDK; what then fails only through
Tollgate is Tollgate's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.gateway import build_tree
from harness.messages import prepare
from harness.simclient import KEYS, Simulator
from harness.stack import Stack
from harness.targets import Target
from harness.webservers import SERVERS, WebServer


@pytest.fixture(scope="session")
def alone() -> Iterator[Simulator]:
    with tempfile.TemporaryDirectory(prefix="tg-") as directory:
        simulator = Simulator(Path(directory))
        simulator.start()
        yield simulator
        simulator.stop()


@pytest.fixture(scope="session")
def node_work() -> Path:
    """The cases for Node and their SDKs in the work directory of the tests, installed once."""
    if shutil.which("node") is None:
        pytest.skip("no node on PATH")
    source = Path(__file__).resolve().parent / "node"
    work = Path(os.environ.get("TOLLGATE_WORK", build_tree())) / "node"
    work.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        shutil.copyfile(file, work / file.name)
    modules = work / "node_modules"
    wanted = ("openai", "@anthropic-ai/sdk", "@google/genai")
    if not all((modules / name).exists() for name in wanted):
        npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
        done = subprocess.run(npm, cwd=work, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    return work


@pytest.fixture(scope="session")
def started(request: pytest.FixtureRequest) -> Iterator[dict[str, WebServer]]:
    servers: dict[str, WebServer] = {}
    yield servers
    for server in servers.values():
        server.stop()


@pytest.fixture(params=["simulator", *sorted(SERVERS)])
def target(request: pytest.FixtureRequest) -> Target:
    if request.param == "simulator":
        simulator: Simulator = request.getfixturevalue("alone")
        simulator.reset()
        return Target("simulator", simulator.base_url, KEYS[0], simulator)
    stack: Stack = request.getfixturevalue("stack")
    started: dict[str, WebServer] = request.getfixturevalue("started")
    if request.param not in started:
        server = SERVERS[request.param](stack.directory, stack.site.socket)
        server.start()
        started[request.param] = server
    prepare(stack)
    stack.simulator.reset()
    stack.accounts.clear()
    account = stack.account()
    base_url = started[request.param].base_url + "/v1"
    return Target(request.param, base_url, account.token, stack.simulator, account)


@pytest.fixture(autouse=True)
def books(request: pytest.FixtureRequest) -> Iterator[None]:
    """The check of harness.fixtures sees `stack` by name only; here it comes through `target`."""
    yield
    target = request.node.funcargs.get("target")
    if target is not None and target.account is not None:
        stack = target.account.stack
        stack.site.wait_clean()
        assert stack.simulator.problems() == []
        if request.node.get_closest_marker("books_differ") is None:
            target.wait_books()
