"""The official Google SDK for Node, case by case (node/gemini.mjs)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness.gemini import CHAT, NATIVE, prepare
from harness.targets import Target

TEXT = "Hello from the simulator: every word counts."
CALLED = {"city": "Paris", "unit": "celsius"}
WAYS = ("whole", "streamed")
pytestmark = pytest.mark.parametrize("target", ["simulator", "nginx"], indirect=True)


@pytest.fixture(params=[NATIVE, CHAT], ids=["native", "converted"])
def model(request: pytest.FixtureRequest, target: Target) -> str:
    if target.account is None and request.param != NATIVE:
        pytest.skip("the simulator converts nothing")
    if target.account is not None:
        prepare(target.account.stack)
    target.simulator.settings(strict=True)
    return request.param


def run(work: Path, target: Target, model: str, name: str, **env: str) -> dict[str, Any]:
    base_url = target.base_url.removesuffix("/v1")
    done = subprocess.run(
        ["node", str(work / "gemini.mjs"), name],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "BASE_URL": base_url, "KEY": target.key, "MODEL": model, **env},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_text(node_work: Path, target: Target, model: str) -> None:
    for way in WAYS:
        assert run(node_work, target, model, way) == {
            "text": TEXT,
            "calls": [],
            "finish": "STOP",
            "model": model,
            "usage": [3, 7],
        }
    said = run(node_work, target, model, "chat")
    assert said["text"] == TEXT and said["turns"] >= 2


def test_tools_there_and_back(node_work: Path, target: Target, model: str) -> None:
    script = [{"tool": "get_weather", "input": CALLED}, {"text": TEXT}]
    target.simulator.behave(model, "agent", text=json.dumps(script))
    for way in WAYS:
        result = run(node_work, target, model, way + "Tools")
        assert result["first"]["calls"] == [{"name": "get_weather", "args": CALLED}]
        assert (result["second"]["text"], result["second"]["finish"]) == (TEXT, "STOP")


def test_counts_models_and_errors(node_work: Path, target: Target, model: str) -> None:
    assert 0 < run(node_work, target, model, "count")["totalTokens"] < 30
    if target.account is not None:
        said = run(node_work, target, model, "models")
        assert {f"models/{NATIVE}", f"models/{CHAT}"} <= set(said["names"])
        assert said["one"] == f"models/{model}"
    target.simulator.behave(model, "bad-request")
    for way in WAYS:
        assert run(node_work, target, model, way)["status"] == 400
    assert run(node_work, target, model, "whole", KEY="sk-tg" + "B" * 43)["status"] in (400, 401)
