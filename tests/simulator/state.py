"""What the simulator remembers: requests seen, charges, behaviours, recorded exchanges."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenarios import Behaviour, from_model
from wire import Connection, Request


@dataclass
class Seen:
    """One request to the provider's side, as it arrived, and what became of it."""

    number: int
    request: Request
    connection: Connection
    model: str | None = None
    parsed: dict[str, Any] = field(default_factory=dict)
    scenario: str | None = None
    status: int | None = None
    sent_bytes: int = 0
    words_sent: int = 0
    charged: dict[str, Any] | None = None
    complete: bool = False
    finished_at: float | None = None
    first_content_at: float | None = None

    def as_json(self) -> dict[str, Any]:
        start = self.request.arrived_at
        closed = self.connection.gone_at

        def since(moment: float | None) -> float | None:
            return None if moment is None else round(moment - start, 4)

        return {
            "number": self.number,
            "connection": self.connection.number,
            "method": self.request.method,
            "path": self.request.path,
            "target": self.request.target,
            "headers": self.request.headers,
            "chunked": self.request.chunked,
            "body": base64.b64encode(self.request.body).decode(),
            "model": self.model,
            "scenario": self.scenario,
            "status": self.status,
            "sent_bytes": self.sent_bytes,
            "words_sent": self.words_sent,
            "charged": self.charged,
            "complete": self.complete,
            "arrived_monotonic": start,
            "first_content_s": since(self.first_content_at),
            "finished_s": since(self.finished_at),
            "peer_closed_s": since(closed),
            "peer_closed_monotonic": closed,
        }


@dataclass
class State:
    keys: set[str]
    default_keys: frozenset[str]
    recorded_dir: Path | None = None
    refuse_chunked: bool = True
    strict: bool = False
    limit_usd: float = 10
    used_cents: float = 0
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    connections: int = 0
    numbers: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    started_at: float = field(default_factory=time.monotonic)

    def reset(self) -> None:
        self.behaviours.clear()
        self.seen.clear()
        self.problems.clear()
        self.failures.clear()
        self.keys = set(self.default_keys)
        self.refuse_chunked = True
        self.strict = False
        self.limit_usd, self.used_cents = 10, 0

    def add(self, request: Request, connection: Connection) -> Seen:
        self.numbers += 1
        seen = Seen(self.numbers, request, connection)
        self.seen.append(seen)
        return seen

    def behaviour(self, model: str, key: str | None) -> Behaviour:
        """Set for key and model, for the model, for the key, in the model's name, for all."""
        for name in (f"{key}/{model}", model, f"{key}/*"):
            if name in self.behaviours:
                return self.behaviours[name]
        return from_model(model) or self.behaviours.get("*") or Behaviour()

    def recorded(self, name: str) -> dict[str, Any]:
        if self.recorded_dir is None:
            raise FileNotFoundError("no folder of recorded exchanges was given")
        if "/" in name or name.startswith("."):
            raise FileNotFoundError(name)
        return json.loads((self.recorded_dir / f"{name}.json").read_text())

    async def notify(self) -> None:
        async with self.changed:
            self.changed.notify_all()
