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


def request(
    client: str, upstream: str, body: Case, model: str = "unknown", stream: bool = False
) -> Case:
    return one({"do": "request", "client": client, "upstream": upstream, "model": model,
                "stream": stream, "body": body})  # fmt: skip


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
        elif "data" in event and "event" not in event:  # Gemini's have no name and no marker
            end = "error" if "error" in event["data"] else "done"
            if end == "done":
                events.append(event["data"])
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
    return [event["data"] if "data" in event else event for event in events if event != "[DONE]"]


def parsed(text: str) -> Any:
    return json.loads(text) if text.strip() else {}


def fold_messages(events: list[Case]) -> Case:
    """What a client of Messages has gathered at the end."""
    blocks: list[Case] = []
    raw: dict[int, str] = {}
    message: Case = {}
    for event in events:
        if event["type"] == "message_start":
            message = event["message"]
        elif event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        elif event["type"] == "content_block_delta":
            delta, block = event["delta"], blocks[event["index"]]
            if delta["type"] == "input_json_delta":
                raw[event["index"]] = raw.get(event["index"], "") + delta["partial_json"]
            else:
                key = delta["type"].removesuffix("_delta")
                block[key] = block.get(key, "") + delta[key]
        elif event["type"] == "message_delta":
            message = {**message, **event["delta"], "usage": event["usage"]}
    for index, text in raw.items():
        blocks[index]["input"] = parsed(text)
    return {**message, "content": blocks}
