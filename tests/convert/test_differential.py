"""Random streams: the converters and the reference model must agree event by event."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
import streams
import streams_responses
import tool

COUNT = 10_000
NAMELESS, RANDOM = '"resp_err"', '"resp_AAAAAAAAAAAAAAAAAAAAAAAA"'  # of a stream without an id
HERE = Path(__file__).resolve().parent
MODEL = Path(
    os.environ.get("TOLLGATE_ORACLE", HERE.parents[2] / "shared/protocol-oracle")
) / "ref.mjs"
MAKERS = {
    "chat": streams.chat,
    "messages": streams.messages,
    "responses": streams_responses.responses,
    "gemini": streams.gemini,
}
WAYS = [
    (client, upstream)
    for client in MAKERS
    for upstream in MAKERS
    if client != upstream
]


def random_cases(seed: int) -> list[tool.Case]:
    rng = random.Random(seed)
    cases = []
    for _ in range(COUNT):
        client, upstream = rng.choice(WAYS)
        events = MAKERS[upstream](rng)
        if rng.random() < 0.2:
            del events[rng.randint(0, len(events)) :]
        end = rng.choice(["done", "eof"]) if upstream == "chat" else "eof"
        cases.append({"do": "stream", "client": client, "upstream": upstream, "end": end,
                      "events": events})  # fmt: skip
    return cases


def ask_model(cases: list[tool.Case]) -> list[list[object]]:
    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run(
        ["node", HERE / "oracle.mjs", MODEL], input=text, capture_output=True, text=True, check=True
    )
    return [json.loads(line.replace(NAMELESS, RANDOM)) for line in done.stdout.splitlines()]


@pytest.mark.skipif(not MODEL.is_file(), reason=f"the reference model is not there: {MODEL}")
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_random_streams_come_out_as_the_model_says() -> None:
    seed = int(os.environ.get("TOLLGATE_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"seed {seed} (TOLLGATE_SEED)")
    cases = random_cases(seed)
    for case, said, output in zip(cases, tool.convert(cases), ask_model(cases), strict=True):
        events, end = tool.plain_events(output)
        shown = f"seed {seed}\n{json.dumps(case)}"
        assert said["events"] == events, shown
        assert said["end"] == end, shown
