"""convert-tool, asked many cases at once."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from harness.gateway import build_tree

Case = dict[str, Any]
THEIR_WORDS = "Upstream stream ended before completion"
OUR_WORDS = "The upstream ended its answer before it was complete."
ENDS = {
    "message_stop": "done",
    "response.completed": "done",
    "response.incomplete": "done",
    "response.failed": "error",
}
WORDS = {"claude": "messages", "chat": "chat", "gemini": "gemini", "responses": "responses"}


def convert(cases: list[Case]) -> list[Case]:
    """One answer a case, in their order."""
    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run(
        [build_tree() / "convert-tool"], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and not done.stderr, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases)
    return answers


def one(case: Case) -> Case:
    return convert([case])[0]


def request(client: str, upstream: str, body: Case, model: str = "unknown") -> Case:
    return one({"do": "request", "client": client, "upstream": upstream, "model": model,
                "body": body})  # fmt: skip


def answer(client: str, upstream: str, body: Case) -> Case:
    return one({"do": "answer", "client": client, "upstream": upstream, "body": body})


def stream(
    client: str, upstream: str, events: list[Case], end: str = "eof", **more: Any
) -> Case:
    return one({"do": "stream", "client": client, "upstream": upstream, "end": end,
                "events": events, **more})  # fmt: skip


def codes(said: Case) -> list[str]:
    """Diagnostics as "CODE/severity path", in their order."""
    return [f"{one['code']}/{one['severity'][0]} {one['path']}" for one in said["diagnostics"]]


def plain_events(output: list[Any]) -> tuple[list[Case], str]:
    """The oracle's output as we tell it: events without errors and markers, and how it ended."""
    output = json.loads(json.dumps(output).replace(THEIR_WORDS, OUR_WORDS))
    events, end = [], ""
    for event in output:
        if event == "[DONE]":
            end = "done"
        elif "event" in event and event["event"] == "error":
            end = "error"
        elif "event" in event:
            events.append(event["data"])
            end = ENDS.get(event["event"], end)
        elif "error" in event and "choices" not in event:
            end = "error"
        else:
            events.append(event)
    return events, end


def plain_input(events: list[Any]) -> list[Case]:
    return [event["data"] if "event" in event else event for event in events if event != "[DONE]"]
