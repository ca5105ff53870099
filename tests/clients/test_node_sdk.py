"""The official openai SDK for Node, case by case (node/cases.mjs)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness.procs import eventually
from harness.targets import Target

TEXT = "Hello from the simulator: every word counts."
TOOL_ARGUMENTS = '{"city":"Paris","unit":"celsius"}'


@pytest.fixture(scope="session")
def cases(node_work: Path) -> Path:
    return node_work / "cases.mjs"


def run(cases: Path, target: Target, name: str, **env: str) -> dict[str, Any]:
    done = subprocess.run(
        ["node", str(cases), name],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "BASE_URL": target.base_url, "KEY": target.key, **env},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_whole(cases: Path, target: Target) -> None:
    result = run(cases, target, "whole")
    assert result["text"] == TEXT and result["request"]
    assert result["usage"]["prompt_tokens"] == 3


def test_stream(cases: Path, target: Target) -> None:
    result = run(cases, target, "stream")
    assert (result["text"], result["finish"], result["usage"]) == (TEXT, "stop", None)


def test_stream_with_usage(cases: Path, target: Target) -> None:
    result = run(cases, target, "usage")
    assert result["text"] == TEXT and result["usage"]["completion_tokens"] == 7


def test_stream_helper(cases: Path, target: Target) -> None:
    assert run(cases, target, "helper") == {"text": TEXT}


def test_tools(cases: Path, target: Target) -> None:
    target.simulator.behave("m-ref", "tools")
    calls = run(cases, target, "tools")["calls"]
    assert [call["function"]["arguments"] for call in calls] == [TOOL_ARGUMENTS]
    streamed = run(cases, target, "streamedTools")
    assert (streamed["arguments"], streamed["finish"]) == (TOOL_ARGUMENTS, "tool_calls")


def test_images_pass_unchanged(cases: Path, target: Target) -> None:
    assert run(cases, target, "image")["text"] == TEXT
    content = target.simulator.requests()[-1].json["messages"][0]["content"]
    assert content[1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"},
    }


def test_unknown_fields_pass_unchanged(cases: Path, target: Target) -> None:
    run(cases, target, "unknown")
    sent = target.simulator.requests()[-1].json
    assert sent["x_vendor"] == {"zero": 0, "no": False, "none": None}
    assert sent["temperature"] == 0


def test_models(cases: Path, target: Target) -> None:
    assert {"m-ref", "gpt-4o"} <= set(run(cases, target, "models")["names"])


def test_errors(cases: Path, target: Target) -> None:
    target.simulator.behave("m-ref", "bad-request")
    result = run(cases, target, "whole")
    assert (result["error"], result["status"], result["param"]) == (
        "BadRequestError",
        400,
        "temperature",
    )
    result = run(cases, target, "whole", KEY="sk-tg" + "B" * 43)
    assert (result["error"], result["code"]) == ("AuthenticationError", "invalid_api_key")


def test_no_money_is_not_retried(cases: Path, target: Target) -> None:
    if target.account is None:
        pytest.skip("the simulator has no accounts")
    poor = target.account.stack.account("0")
    result = run(cases, target, "stream", KEY=poor.token, RETRIES="4")
    assert (result["error"], result["code"]) == ("RateLimitError", "insufficient_quota")


@pytest.mark.books_differ("half an answer: R1 and R2 decide")
def test_abort(cases: Path, target: Target) -> None:
    target.simulator.behave("m-ref", "slow-tokens", ms=100, x=200)
    assert run(cases, target, "abort") == {"left": True}
    eventually(
        "the provider's connection is closed",
        lambda: target.simulator.requests()[-1].peer_closed_s is not None,
        20,
    )
    assert target.simulator.requests()[-1].words_sent < 150
