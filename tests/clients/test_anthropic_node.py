"""The official Anthropic SDK for Node, case by case (node/anthropic.mjs)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness.messages import CHAT, NATIVE
from harness.targets import Target

TEXT = "Hello from the simulator: every word counts."
CALLED = {"city": "Paris", "unit": "celsius"}
WAYS = pytest.mark.parametrize("way", ["whole", "streamed"])
NGINX = pytest.param("nginx", marks=pytest.mark.long)
pytestmark = pytest.mark.parametrize("target", ["simulator", "apache", NGINX], indirect=True)


@pytest.fixture(params=[NATIVE, CHAT], ids=["native", "converted"])
def model(request: pytest.FixtureRequest, target: Target) -> str:
    if target.account is None and request.param != NATIVE:
        pytest.skip("the simulator converts nothing")
    target.simulator.settings(strict=True)
    return request.param


def run(work: Path, target: Target, model: str, name: str, **env: str) -> dict[str, Any]:
    base_url = target.base_url.removesuffix("/v1")
    done = subprocess.run(
        ["node", str(work / "anthropic.mjs"), name],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "BASE_URL": base_url, "KEY": target.key, "MODEL": model, **env},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@WAYS
def test_text(node_work: Path, target: Target, model: str, way: str) -> None:
    assert run(node_work, target, model, way) == {
        "content": [{"type": "text", "text": TEXT}],
        "stop": "end_turn",
        "model": model,
        "usage": [3, 7],
    }


@WAYS
def test_tools_there_and_back(node_work: Path, target: Target, model: str, way: str) -> None:
    script = [{"tool": "get_weather", "input": CALLED}, {"text": TEXT}]
    target.simulator.behave(model, "agent", text=json.dumps(script))
    result = run(node_work, target, model, way + "Tools")
    assert result["first"]["content"] == [
        {"type": "tool_use", "name": "get_weather", "input": CALLED}
    ]
    assert result["first"]["stop"] == "tool_use"
    assert result["second"]["content"] == [{"type": "text", "text": TEXT}]


@WAYS
def test_thinking(node_work: Path, target: Target, model: str, way: str) -> None:
    target.simulator.behave(model, "think")
    content = run(node_work, target, model, way)["content"]
    assert content[0] == {"type": "thinking", "thinking": "first a thought"}


def test_count_tokens(node_work: Path, target: Target, model: str) -> None:
    assert 0 < run(node_work, target, model, "count")["input_tokens"] < 30


def test_models(node_work: Path, target: Target, model: str) -> None:
    if target.account is None:
        pytest.skip("the simulator lists models as OpenAI does")
    said = run(node_work, target, model, "models")
    assert {NATIVE, CHAT} <= set(said["names"])
    assert (said["one"]["id"], said["one"]["type"]) == (model, "model")


@WAYS
def test_errors(node_work: Path, target: Target, model: str, way: str) -> None:
    target.simulator.behave(model, "bad-request")
    result = run(node_work, target, model, way)
    assert (result["status"], result["type"]) == (400, "invalid_request_error")
    result = run(node_work, target, model, way, KEY="sk-tg" + "B" * 43)
    assert (result["status"], result["type"]) == (401, "authentication_error")


@pytest.mark.books_differ("half an answer is counted locally")
def test_an_error_in_mid_stream_is_raised(node_work: Path, target: Target, model: str) -> None:
    target.simulator.behave(model, "error-mid")
    assert run(node_work, target, model, "streamed")["type"] == "api_error"
