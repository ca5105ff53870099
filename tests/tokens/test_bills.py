"""Bills of usages as upstreams report them: recorded exchanges against a second computation in
fractions, and the field reports with the values they state."""

from __future__ import annotations

import json
import struct
import subprocess
from typing import Any

import pytest
import recorded
from harness.gateway import build_tree
from harness.stack import recorded_folder

# No two parts cost the same: what is counted as another one shows.
PRICE = {
    "input": "3.01", "output": "15.07", "cache_read": "0.301", "cache_write_5m": "3.753",
    "cache_write_1h": "6.007", "image": "2.503", "audio_in": "40.09", "audio_out": "80.11",
    "tools": {
        "web_search": "0.0101", "file_search": "0.0025", "code_interpreter": "0.033",
        "image_generation": "0.041",
    },
}  # fmt: skip
# The price of the field reports: 1.5 / 7.5 / 0.15 / 1.875 / 3 quota a token.
REFERENCE = {
    "input": "3", "output": "15", "cache_read": "0.30", "cache_write_5m": "3.75",
    "cache_write_1h": "6",
}  # fmt: skip
ABOVE = {"cache_read": "0.60", "cache_write_5m": "7.50", "cache_write_1h": "12"}
TIERS = {"tiers": [{"above": 200000, "input": "6", "output": "22.50", **ABOVE}], **REFERENCE}

FOLDER = recorded_folder()
FILES = sorted(FOLDER.glob("*.json")) if FOLDER else []


def bills(asked: list[tuple[dict[str, Any], str]]) -> list[dict[str, Any]]:
    """Tollgate's own, of (what it is, body)."""
    texts = [text.encode() for what, body in asked for text in (json.dumps(what), body)]
    done = subprocess.run(
        [str(build_tree() / "price-recorded")],
        input=b"".join(struct.pack("<I", len(text)) + text for text in texts),
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr.decode(errors="replace")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked)
    return answers


@pytest.mark.skipif(not FILES, reason="no recorded exchanges (TOLLGATE_RECORDED)")
def test_recorded_exchanges_are_billed_to_the_quota() -> None:
    asked, expected, names = [], [], []
    for path in FILES:
        exchange = recorded.load(path)
        dialect = recorded.DIALECTS.get(exchange["protocol"])
        if dialect is None or not 200 <= exchange["status"] < 300:
            continue
        body, stream = recorded.body_of(exchange), bool(exchange["stream"])
        for ratio in ("1", "1.37"):
            what = {"dialect": dialect, "stream": stream, "ratio": ratio, "price": PRICE}
            asked.append((what, body))
            found = recorded.events(body, stream)
            expected.append(recorded.bill(dialect, found, PRICE, ratio))
            names.append(path.stem)
    answers = [answer["quota"] for answer in bills(asked)]
    assert len(names) >= 2 * 150
    assert dict(zip(names, answers, strict=True)) == dict(zip(names, expected, strict=True))
    assert answers == expected
    # An embedding of nothing is all that reports nothing.
    assert sum(quota <= 0 for quota in answers) <= 8


def messages_stream(start: dict[str, int], delta: dict[str, int]) -> str:
    first = {"type": "message_start", "message": {"id": "msg_3", "content": [], "usage": start}}
    last = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": delta}
    return "".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in (first, last)
    )


def usage(**figures: Any) -> str:
    return json.dumps({"usage": figures})


OPENAI = usage(
    prompt_tokens=1000,
    prompt_tokens_details={"cached_tokens": 990},
    completion_tokens=5,
    total_tokens=1005,
)
REPORTS = [
    (
        "FR06 writes are charged once",
        "messages",
        usage(
            input_tokens=10,
            cache_creation_input_tokens=8000,
            cache_read_input_tokens=0,
            output_tokens=200,
        ),
        16515,
    ),
    (
        "FR08 cached tokens are charged once",
        "chat",
        usage(
            prompt_tokens=5000,
            prompt_tokens_details={"cached_tokens": 4000},
            completion_tokens=100,
            total_tokens=5100,
        ),
        2850,
    ),
    (
        "FR10 the split comes at the end",
        "messages stream",
        messages_stream(
            {"input_tokens": 8000, "output_tokens": 0},
            {
                "input_tokens": 20,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 7980,
                "output_tokens": 40,
            },
        ),
        1527,
    ),
    (
        "FR11 a larger input at the end",
        "messages stream",
        messages_stream(
            {"input_tokens": 12, "output_tokens": 1}, {"input_tokens": 900, "output_tokens": 30}
        ),
        1575,
    ),
    (
        "FR11 no input at the end",
        "messages stream",
        messages_stream({"input_tokens": 12, "output_tokens": 1}, {"output_tokens": 30}),
        243,
    ),
    (
        "FR13 writes by their life",
        "messages",
        usage(
            input_tokens=0,
            cache_creation_input_tokens=1020,
            cache_creation={"ephemeral_5m_input_tokens": 240, "ephemeral_1h_input_tokens": 700},
            cache_read_input_tokens=0,
            output_tokens=0,
        ),
        2700,
    ),
    (
        "FR16 Anthropic's caches are outside",
        "messages",
        usage(
            input_tokens=10,
            cache_read_input_tokens=990,
            cache_creation_input_tokens=0,
            output_tokens=5,
        ),
        201,
    ),
    (
        "FR16 also when the input is larger",
        "messages",
        usage(input_tokens=1000, cache_read_input_tokens=990, output_tokens=5),
        1686,
    ),
    ("FR16 OpenAI's are inside", "chat", OPENAI, 201),
    (
        "FR16 a broken upstream",
        "chat",
        usage(
            prompt_tokens=10, prompt_tokens_details={"cached_tokens": 990}, completion_tokens=5
        ),
        201,
    ),
]


@pytest.mark.parametrize(("name", "dialect", "body", "quota"), REPORTS, ids=[r[0] for r in REPORTS])
def test_field_report(name: str, dialect: str, body: str, quota: int) -> None:
    what = {
        "dialect": dialect.split()[0],
        "stream": dialect.endswith("stream"),
        "ratio": "1",
        "price": REFERENCE,
    }
    assert bills([(what, body)])[0]["quota"] == quota


def test_field_report_fr15_a_tier_is_reached_in_every_dialect() -> None:
    bodies = {
        "messages": usage(input_tokens=200001, output_tokens=1000),
        "converse": usage(inputTokens=200001, outputTokens=1000),
        "chat": usage(prompt_tokens=200001, completion_tokens=1000),
        "responses": usage(input_tokens=200001, output_tokens=1000),
        "gemini": json.dumps(
            {"usageMetadata": {"promptTokenCount": 200001, "candidatesTokenCount": 1000}}
        ),
    }
    asked = [
        ({"dialect": dialect, "stream": False, "ratio": "1", "price": TIERS}, body)
        for dialect, body in bodies.items()
    ]
    assert {answer["quota"] for answer in bills(asked)} == {611253}
