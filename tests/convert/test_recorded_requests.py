"""Requests of real clients in the other protocol's words: the provider's rules, as the simulator
knows them, take every one, and nothing that a person, a tool or the model said is missing.

The exchanges lie outside the project (TOLLGATE_RECORDED, else ../shared/recorded beside it);
without them this is skipped.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import tool
from harness.stack import recorded_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulator"))

import chat_check  # noqa: E402
import dialect  # noqa: E402
import messages_check  # noqa: E402

FOLDER = recorded_folder()
PATTERNS = {"messages": "anthropic-messages-*.json", "chat": "openai-chat-*.json"}
pytestmark = pytest.mark.skipif(FOLDER is None, reason="no recorded exchanges (TOLLGATE_RECORDED)")


def load(path: Path) -> Any:
    """One recorder cut characters in two: what is no JSON is no request."""
    try:
        return json.loads(path.read_text())["request"]
    except json.JSONDecodeError:
        return None


def requests(client: str) -> dict[str, tool.Case]:
    paths = sorted(FOLDER.glob(PATTERNS[client])) if FOLDER else []
    found = {path.stem: load(path) for path in paths}
    return {name: request for name, request in found.items() if request is not None}


CASES = [(client, name, body) for client in PATTERNS for name, body in requests(client).items()]


def check(upstream: str, body: tool.Case) -> None:
    if upstream == "chat":
        dialect.check_request(body)
        chat_check.check_strict(body)
    else:
        messages_check.check_request(body, lambda name: None)


def said(value: Any) -> list[str]:
    """The texts of a conversation, wherever they stand; names of tools; strings of arguments."""
    found: list[str] = []
    if isinstance(value, list):
        for one in value:
            found += said(one)
    if isinstance(value, dict) and not is_hosted(value):
        for key, one in value.items():
            if key in ("text", "content", "name", "system") and isinstance(one, str):
                found.append(one)
            elif key == "arguments" and isinstance(one, str):
                found += strings(json.loads(one or "{}"))
            elif key == "input":
                found += strings(one)
            elif key in ("messages", "content", "system", "tool_calls", "function"):
                found += said(one)
    return found


def is_hosted(block: dict[str, Any]) -> bool:
    """What a provider's own tool did has no place in the other protocol."""
    kind = str(block.get("type", ""))
    return kind in ("server_tool_use", "mcp_tool_use") or kind.endswith("_tool_result")


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in values for text in strings(one)]


@pytest.mark.parametrize(("client", "name", "body"), CASES, ids=[name for _, name, _ in CASES])
def test_a_real_request_reaches_the_other_side(client: str, name: str, body: tool.Case) -> None:
    upstream = "chat" if client == "messages" else "messages"
    model = "claude-sonnet-4-5" if upstream == "messages" else "gpt-4o"
    made = tool.request(client, upstream, body, model)
    assert "error" not in made, made
    check(upstream, made["body"])
    if "_tool_use" in json.dumps(body["messages"]):
        assert any(code.startswith("BLOCK_DROPPED/w") for code in tool.codes(made))
    everything = json.dumps(made["body"], ensure_ascii=False)
    for text in said(body):
        quoted = json.dumps(text, ensure_ascii=False)[1:-1]
        inside = json.dumps(quoted, ensure_ascii=False)[1:-1]  # in arguments, which are a text
        assert quoted.strip() in everything or inside in everything, text
