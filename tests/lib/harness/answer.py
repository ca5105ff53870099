"""One HTTP answer as a client sees it, whatever carried it; and its server-sent events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


def parse_events(body: bytes) -> list[bytes]:
    """The data of every complete event, by the rules of the standard, whatever ends the lines."""
    text = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    events: list[bytes] = []
    data: list[bytes] = []
    for line in text.split(b"\n")[:-1]:
        if not line:
            if data:
                events.append(b"\n".join(data))
            data = []
        elif line.startswith(b"data"):
            value = line[5:]
            data.append(value[1:] if value.startswith(b" ") else value)
    return events


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""
    arrivals: list[float] = field(default_factory=list)
    complete: bool = True

    def header(self, name: str) -> str | None:
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    @property
    def request_id(self) -> str:
        value = self.header("x-request-id")
        assert value, f"no x-request-id in {self.headers}"
        return value

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        value = self.json
        assert set(value) >= {"error"}, f"no error body: {self.body[:300]!r}"
        return value["error"]

    @property
    def event_data(self) -> list[bytes]:
        return parse_events(self.body)

    @property
    def chunks(self) -> list[dict[str, Any]]:
        return [json.loads(data) for data in self.event_data if data != b"[DONE]"]

    @property
    def done(self) -> bool:
        return self.event_data[-1:] == [b"[DONE]"]

    @property
    def text(self) -> str:
        """The content of the answer, streamed or not."""
        if (self.header("content-type") or "").startswith("text/event-stream"):
            return "".join(
                choice["delta"].get("content") or ""
                for chunk in self.chunks
                for choice in chunk.get("choices", [])
            )
        return self.json["choices"][0]["message"]["content"] or ""
