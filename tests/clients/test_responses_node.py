"""The official openai SDK for Node, its responses case by case (node/responses.mjs)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness.messages import CHAT, NATIVE, RESPONSES
from harness.targets import Target

TEXT = "Hello from the simulator: every word counts."
CALLED = {"city": "Paris", "unit": "celsius"}
WAYS = pytest.mark.parametrize("way", ["whole", "streamed"])
pytestmark = pytest.mark.parametrize("target", ["simulator", "apache"], indirect=True)


@pytest.fixture(params=[RESPONSES, CHAT, NATIVE], ids=["native", "chat", "anthropic"])
def model(request: pytest.FixtureRequest, target: Target) -> str:
    if target.account is None and request.param != RESPONSES:
        pytest.skip("the simulator converts nothing")
    target.simulator.settings(strict=True)
    return request.param


def run(work: Path, target: Target, model: str, name: str) -> dict[str, Any]:
    done = subprocess.run(
        ["node", str(work / "responses.mjs"), name],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "BASE_URL": target.base_url, "KEY": target.key, "MODEL": model},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@WAYS
def test_text(node_work: Path, target: Target, model: str, way: str) -> None:
    assert run(node_work, target, model, way) == {
        "output": [{"type": "message", "text": TEXT}],
        "status": "completed",
        "model": model,
        "usage": [3, 7],
    }


@WAYS
def test_tools_there_and_back(node_work: Path, target: Target, model: str, way: str) -> None:
    script = [{"tool": "get_weather", "input": CALLED}, {"text": TEXT}]
    target.simulator.behave(model, "agent", text=json.dumps(script))
    result = run(node_work, target, model, way + "Tools")
    assert result["first"]["output"] == [
        {"type": "function_call", "name": "get_weather", "arguments": CALLED}
    ]
    assert result["second"]["output"][0]["text"] == TEXT


@WAYS
def test_errors(node_work: Path, target: Target, model: str, way: str) -> None:
    target.simulator.behave(model, "bad-request")
    assert run(node_work, target, model, way)["status"] == 400
