"""Prompts that OpenAI has counted: ours are the same texts and rules."""

from __future__ import annotations

import json
import struct
import subprocess
from typing import Any

import pytest
import recorded
import tokenisers
from harness.gateway import build_tree
from harness.stack import recorded_folder

FOLDER = recorded_folder()
FILES = sorted(FOLDER.glob("openai-*.json")) if FOLDER else []
HOSTS = ("api.openai.com", "openai.azure.com")
# Kinds of parts and items that are no text, or of which a model reads another one than is shown.
OPAQUE = {"image_url", "input_image", "file", "input_file", "input_audio", "reasoning"}


def kinds(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*(kinds(entry) for entry in value), set())
    if isinstance(value, dict):
        own = {value["type"]} if isinstance(value.get("type"), str) else set()
        return own.union(*(kinds(entry) for entry in value.values()))
    return set()


def counts(asked: list[tuple[str, dict[str, Any]]]) -> list[int]:
    texts = [
        text.encode()
        for dialect, body in asked
        for text in (dialect, body["model"], json.dumps(body))
    ]
    argv = [str(build_tree() / "count-prompts")]
    argv += [str(tokenisers.ranks_path(name)) for name in tokenisers.NAMES]
    packed = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    done = subprocess.run(argv, input=packed, capture_output=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode(errors="replace")
    return [int(line) for line in done.stdout.split()]


def exchanges() -> list[tuple[str, str, dict[str, Any], int]]:
    """(name, dialect, request, tokens that OpenAI read), of those that are texts and functions."""
    found = []
    for path in FILES:
        exchange = recorded.load(path)
        request, dialect = exchange["request"], recorded.DIALECTS[exchange["protocol"]]
        if exchange["status"] != 200 or not exchange["provider"].endswith(HOSTS):
            continue
        asked = kinds(request.get("messages")) | kinds(request.get("input"))
        if asked & OPAQUE or any(tool["type"] != "function" for tool in request.get("tools", [])):
            continue
        found_events = recorded.events(recorded.body_of(exchange), bool(exchange["stream"]))
        parts, _ = recorded.READERS[dialect](found_events)
        read = sum(parts.values()) - parts["output"] - parts.get("audio_out", 0)
        name = "embeddings" if exchange["protocol"] == "openai-embeddings" else dialect
        found.append((path.stem, name, request, read))
    return found


@pytest.mark.skipif(not FILES, reason="no recorded exchanges (TOLLGATE_RECORDED)")
def test_recorded_prompts_are_counted_as_openai_did() -> None:
    found = exchanges()
    mine = counts([(dialect, request) for _, dialect, request, _ in found])
    plain, near, far = [], [], []
    for (name, _, request, theirs), count in zip(found, mine, strict=True):
        if request.get("tools") or request.get("text", {}).get("format", {}).get("schema"):
            (near if 0.85 <= count / theirs <= 1.2 else far).append((name, count, theirs))
        else:
            plain.append(abs(count - theirs))
    assert len(plain) >= 12 and max(plain) <= 4
    assert sum(plain) <= len(plain)
    # What OpenAI makes of tools is not published: it may say more of some than is known.
    assert len(near) >= 10 and len(far) <= len(near) // 10, far
