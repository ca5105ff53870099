"""Coding agents work through Tollgate: several turns with tools, streamed, on a channel of their
own protocol and on one of another, and the provider finds nothing wrong with any request."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent import Agent, Place, agents, install, run
from harness.gateway import build_tree
from harness.messages import prepare
from harness.procs import eventually
from harness.stack import Account, Stack
from harness.webservers import SERVERS, WebServer

AGENTS = agents()
PAIRS = [(agent, model) for agent in AGENTS.values() for model in agent.models]


@pytest.fixture(scope="module")
def server(stack: Stack) -> Iterator[WebServer]:
    prepare(stack)
    made = SERVERS["caddy"](stack.directory, stack.site.socket)
    made.start()
    yield made
    made.stop()


@pytest.mark.parametrize(("agent", "model"), PAIRS, ids=[f"{a.name}-{m}" for a, m in PAIRS])
def test_a_task_in_several_turns(
    stack: Stack, server: WebServer, account: Account, tmp_path: Path, agent: Agent, model: str
) -> None:
    program = install(agent, Path(os.environ.get("TOLLGATE_WORK", build_tree())))
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    place = Place(server.base_url, account.token, model, home, project, "Count the notes.")
    script = agent.script(place)
    stack.simulator.settings(strict=True)
    stack.simulator.behave(model, "agent", text=json.dumps(script))
    assert agent.said(run(agent, program, place)) == script[-1]["text"]

    assert (project / "notes.txt").read_text() == 'one\nzwei "2" \u2603\nthree\n'
    seen = stack.simulator.requests()
    assert [(s.path, s.status, s.body[:500]) for s in seen if s.status != 200] == []
    assert max(results(s.json) for s in seen) == agent.results
    if model == agent.models[0]:
        assert {s.path for s in seen} <= agent.paths
    asked = len([s for s in seen if not s.path.endswith("count_tokens")])
    rows = f"request_log WHERE token_id = {account.token_id} AND status = 200"

    def logged() -> int:
        return int(stack.site.log_sql(f"SELECT COUNT(*) FROM {rows}")[0][0])

    eventually("every request is in the log with its success", lambda: logged() == asked, 30)


def results(request: dict) -> int:
    """How many results of calls a request holds, in any dialect."""
    count = 0
    for message in request.get("messages", []):
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        count += sum(block.get("type") == "tool_result" for block in blocks)
        count += message["role"] == "tool"
    return count
