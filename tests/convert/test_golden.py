"""Worked streams: what goes in, and event by event what must come out."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
import tool

FOLDER = Path(__file__).resolve().parent / "golden"
FILES = sorted(FOLDER.glob("*.json"))


# What the request of a case said, where the answer depends on it.
TOOLS = {"edge.chat_to_responses.custom_out": {"tools": [{"type": "custom", "name": "sh"}]}}


def load(file: Path) -> tool.Case:
    case = json.loads(file.read_text())
    case["client"], case["upstream"] = tool.WORDS[case["client"]], tool.WORDS[case["upstream"]]
    return case


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_stream_comes_out_event_by_event(file: Path) -> None:
    case = load(file)
    events, end = tool.plain_events(case["output"])
    tools = {"tools": TOOLS[file.stem]} if file.stem in TOOLS else {}
    got = tool.stream(
        case["client"],
        case["upstream"],
        tool.plain_input(case["input"]),
        case["transport_end"],
        **tools,
    )
    assert got["events"] == events
    assert got["end"] == end
    if end == "error" and file.stem.endswith("abrupt"):
        assert (got["error"]["status"], got["error"]["code"]) == (502, "upstream_truncated")


def is_terminal(event: tool.Case) -> bool:
    """The event from which on an end of the stream is an end of the answer."""
    if event.get("type") in {"message_delta", "response.completed", "response.incomplete"}:
        return True
    if event.get("promptFeedback"):
        return True
    if any(candidate.get("finishReason") for candidate in event.get("candidates", [])):
        return True
    return any(choice.get("finish_reason") for choice in event.get("choices", []))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_cut_stream_fails_once_and_looks_whole_never(file: Path) -> None:
    case = load(file)
    events = tool.plain_input(case["input"])
    at = next((i for i, event in enumerate(events) if is_terminal(event)), len(events))
    cuts = [
        {"do": "stream", "client": case["client"], "upstream": case["upstream"], "end": "eof",
         "events": events[:length]}
        for length in range(min(at, len(events)))
    ]  # fmt: skip
    for said in tool.convert(cuts):
        assert said["end"] == "error"
        text = json.dumps(said["events"])
        assert "message_stop" not in text and '"x_' not in text
        failed = [event for event in said["events"] if event.get("type") == "response.failed"]
        assert len(failed) == (case["client"] == "responses")
        assert not any(is_terminal(event) for event in said["events"])


def test_hidden_keys_never_reach_a_client() -> None:
    for file in FILES:
        case = load(file)
        said = tool.stream(
            case["client"], case["upstream"], tool.plain_input(case["input"]), "eof"
        )
        assert '"x_' not in json.dumps(said["events"]), file.stem


ODD: list[object] = [
    1, "x", None, [], {}, {"choices": 1}, {"choices": [1, None, "x", []]},
    {"choices": [{"delta": "y"}]}, {"choices": [{"delta": {"content": {}, "tool_calls": [1]}}]},
    {"type": 1}, {"type": "content_block_delta", "delta": 1},
    {"type": "message_start", "message": 1},
    {"type": "response.created", "response": 1}, {"type": "response.output_item.done", "item": 1},
    {"candidates": 1}, {"candidates": [1]}, {"candidates": [{"content": 1}]},
    {"candidates": [{"content": {"parts": [1, None]}}]}, {"usage": 1}, {"usageMetadata": 1},
]  # fmt: skip


def test_events_of_any_type_end_no_worker() -> None:
    for client, upstream in itertools.permutations(tool.WORDS.values(), 2):
        pair = {"client": client, "upstream": upstream}
        tool.convert(
            [{"do": "stream", "end": "eof", "events": [odd], **pair} for odd in ODD]
            + [{"do": "answer", "body": odd, **pair} for odd in ODD if odd is not None]
        )
