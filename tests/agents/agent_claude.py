"""Claude Code, on an Anthropic channel and on a chat channel."""

from __future__ import annotations

import json

from agent import Agent, Place, Turn
from harness.messages import CHAT, NATIVE


def command(place: Place) -> list[str]:
    return [
        "--print",
        "--output-format=json",
        "--permission-mode=acceptEdits",
        "--allowedTools=Bash,Read,Write,Edit",
        place.prompt,
    ]


def env(place: Place) -> dict[str, str]:
    off = {"DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER"}
    return {
        "ANTHROPIC_BASE_URL": place.base_url,
        "ANTHROPIC_API_KEY": place.key,
        "ANTHROPIC_MODEL": place.model,
        "ANTHROPIC_SMALL_FAST_MODEL": place.model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CONFIG_DIR": str(place.home / "claude"),
        **dict.fromkeys(off, "1"),
    }


def script(place: Place) -> list[Turn]:
    notes = str(place.project / "notes.txt")
    edit = {"file_path": notes, "old_string": "two", "new_string": 'zwei "2" \u2603'}
    return [
        {"tool": "Write", "input": {"file_path": notes, "content": "one\ntwo\nthree\n"}},
        {"tool": "Read", "input": {"file_path": notes}},
        {"tool": "Edit", "input": edit},
        {"tool": "Bash", "input": {"command": "wc -l < notes.txt", "description": "Count"}},
        {"text": "The notes have three lines."},
    ]


AGENT = Agent(
    name="claude-code",
    package="@anthropic-ai/claude-code",
    version="2.1.112",  # the last one that Node runs
    program="claude",
    node_major=18,
    models=[NATIVE, CHAT],
    command=command,
    env=env,
    script=script,
    said=lambda output: json.loads(output)["result"],
    results=4,
    paths={"/v1/messages", "/v1/messages/count_tokens"},
)
