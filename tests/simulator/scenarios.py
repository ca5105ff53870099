"""What the upstream does: one row per scenario, chosen by the model name or by /_sim/behaviour.

A model named `sim-NAME-PARAMETERS` plays the scenario NAME, for example `sim-slow-tokens-200ms-x20`
or `sim-ok-p8010-w8000-c200`; any other model plays `ok` until /_sim/behaviour says otherwise.

parameters: <n>ms  the delay (per token, before headers or an error)    x<n>  words of the answer
            f<n>   how many requests fail before one succeeds        k<n>  Retry-After in seconds
            p<n> c<n> r<n> w<n> t<n> ai<n> ao<n>   usage: prompt, completion, cached, cache write,
                                                   reasoning, audio in, audio out
            m<n>   MB of a huge event or of the endless stream
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

# name -> what happens; the driver in serve.py acts on these words.
SCENARIOS: dict[str, str] = {
    "ok": "the whole answer",
    "echo": "answers with the JSON text of the request that it received",
    "tools": "calls every tool that the request offers",
    "think": "reasons before it answers",
    "refuse": "an answer that ends for its content",
    "agent": "the next turn of a script: text is a JSON list of {text} and {tool, input}",
    "empty": "200 with an answer without any text",
    "slow-headers": "the answer after a delay (before the status line)",
    "slow-tokens": "a delay before every word of the stream, and before a non-streamed answer",
    "held": "two words of a stream, and the rest after a POST to /_sim/step",
    "by-hand": "every word of a stream, and its end, waits for a POST to /_sim/step",
    "split-bytes": "every byte of the answer in a write of its own",
    "split-crlf": "CRLF line ends, with a write ending between CR and LF",
    "hang": "headers, then silence until the peer goes",
    "hang-after": "two words, then silence until the peer goes",
    "hang-before": "silence before the headers until the peer goes",
    "close-silent": "headers, a delay, then an orderly close without one event",
    "close-before": "closes instead of answering",
    "reset-before": "resets the connection instead of answering",
    "reset-mid": "two words, then a TCP reset",
    "cut-mid": "two words, then an orderly close inside the body",
    "eof-one-newline": "the last event ends with one newline and the end of the stream",
    "eof-no-newline": "the last event ends with the end of the stream alone",
    "done-no-blank": "[DONE] without the blank line after it, then the end",
    "no-done": "the stream ends after the usage without [DONE]",
    "rate-limit": "429 with Retry-After",
    "fail-then-ok": "500 for the first f requests (default 1), then ok",
    "fail": "500",
    "overloaded": "503",
    "bad-gateway-html": "502 with an HTML page",
    "unauthorized": "401 invalid_api_key",
    "key-invalid": "400 whose text says that the key is not valid",
    "payment": "402 insufficient funds",
    "forbidden": "403",
    "not-found": "404 model_not_found",
    "bad-request": "400 naming a parameter",
    "unprocessable": "422",
    "content-filter": "400 content_filter",
    "leaky-error": "400 whose text repeats the key it was called with",
    "error-first": "200, then an error as the first event",
    "error-mid": "two words, then an error event",
    "no-usage": "never sends usage",
    "usage-empty-delta": "usage rides on a chunk with one choice and an empty delta",
    "usage-early": 'usage before the finish reason; later chunks say "usage":null',
    "usage-absurd": "negative and enormous numbers in usage",
    "huge-event": "one event of m MB (default 3) in the middle",
    "endless": "m MB (default 50) of words",
    "bad-json": "200 with a body that is no JSON; in a stream an event that is no JSON",
    "not-sse": "200 with a JSON answer although a stream was asked for",
    "crlf": "CRLF line ends",
    "cr": "CR line ends",
    "mixed": "LF, CRLF and CR line ends in turn",
    "bom": "a byte order mark before the first event",
    "comments": "comment lines between the events",
    "nospace": "`data:` without the space",
    "multiline": "events whose JSON is spread over several data lines",
    "fields": "events with event:, id:, retry: and unknown fields",
    "gzip": "compressed whenever Accept-Encoding allows it, flushed per event",
    "gzip-always": "compressed although nobody allowed it",
    "close-idle": "answers, then closes the kept connection",
    "keep-half": "answers, then closes the kept connection when the next request arrives on it",
    "connection-close": "answers with Connection: close",
    "redirect": "307 to another address",
}

PARAMETER = re.compile(r"^(?:(\d+)(ms)|(ai|ao|[xfkpcrwtm])(\d+))$")
NUMBERED_DEFAULTS = {"ms": 100, "f": 1, "k": 7}


@dataclass
class Behaviour:
    scenario: str = "ok"
    params: dict[str, int] = field(default_factory=dict)
    text: str | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)
    recorded: str | None = None
    seen: int = 0  # requests that met this behaviour
    steps: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    def number(self, name: str, default: int | None = None) -> int:
        if default is None:
            default = NUMBERED_DEFAULTS.get(name, 0)
        return self.params.get(name, default)

    @property
    def delay(self) -> float:
        return self.number("ms") / 1000


def from_model(model: str) -> Behaviour | None:
    """The behaviour that a model's name asks for, or None when it is no `sim-` name."""
    if not model.startswith("sim-"):
        return None
    parts = model[4:].split("-")
    params: dict[str, int] = {}
    while parts and (match := PARAMETER.match(parts[-1])):
        if match[2]:
            params["ms"] = int(match[1])
        else:
            params[match[3]] = int(match[4])
        parts.pop()
    name = "-".join(parts)
    return Behaviour(name, params) if name in SCENARIOS else None


def from_json(value: dict[str, Any]) -> Behaviour:
    name = value.get("scenario", "ok")
    if name not in SCENARIOS:
        raise ValueError(f"unknown scenario {name!r}")
    params = {str(key): int(number) for key, number in (value.get("params") or {}).items()}
    headers = [(str(key), str(text)) for key, text in (value.get("headers") or [])]
    return Behaviour(name, params, value.get("text"), headers, value.get("recorded"))
