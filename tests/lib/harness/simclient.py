"""The test's side of the upstream simulator: start it, tell it, ask it."""

from __future__ import annotations

import base64
import json
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.procs import Process

KEYS = [f"sk-sim-upstream-key-{number:04d}" for number in range(1, 10)]
TESTS = Path(__file__).resolve().parents[2]


@dataclass
class Seen:
    """One request as it reached the provider."""

    raw: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.raw[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def body(self) -> bytes:
        return base64.b64decode(self.raw["body"])

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        values = [value for key, value in self.raw["headers"] if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    @property
    def key(self) -> str:
        return (self.header("authorization") or "").removeprefix("Bearer ")


class Simulator:
    def __init__(self, directory: Path, recorded: Path | None = None) -> None:
        self.port_file = directory / "simulator.port"
        argv = [sys.executable, str(TESTS / "simulator"), "--port-file", str(self.port_file)]
        for key in KEYS:
            argv += ["--key", key]
        if recorded is not None:
            argv += ["--recorded", str(recorded)]
        self.process = Process("simulator", argv, directory)
        self.port = 0

    def start(self) -> None:
        self.process.start("simulator: ready")
        self.port = int(self.port_file.read_text())

    def stop(self) -> None:
        self.process.stop()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/_sim/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=70) as answer:
            return json.load(answer)

    def reset(self) -> None:
        self.call("POST", "reset", {})

    def behave(self, model: str, scenario: str, text: str | None = None, **params: int) -> None:
        """From now on `model` (or KEY/MODEL, or *) plays the scenario."""
        value = {"model": model, "scenario": scenario, "params": params, "text": text}
        self.call("POST", "behaviour", value)

    def serve_recorded(self, exchange: str, model: str = "*") -> None:
        self.call("POST", "behaviour", {"model": model, "recorded": exchange})

    def step(self, model: str, count: int = 1) -> None:
        """As many streams go on: by one word of by-hand, or to the end of held."""
        self.call("POST", "step", {"model": model, "count": count})

    def settings(self, **values: Any) -> None:
        self.call("POST", "settings", values)

    def requests(self) -> list[Seen]:
        return [Seen(raw) for raw in self.call("GET", "requests")]

    def only(self) -> Seen:
        seen = self.requests()
        assert len(seen) == 1, f"{len(seen)} requests reached the provider"
        return seen[0]

    def wait(self, count: int = 1, finished: bool = False, timeout: float = 10) -> list[Seen]:
        path = f"wait?count={count}&finished={int(finished)}&timeout={timeout}"
        answer = self.call("GET", path)
        assert answer["ok"], f"only {answer['seen']} of {count} requests reached the provider"
        return self.requests()

    def charges(self) -> list[dict[str, Any]]:
        return self.call("GET", "charges")

    def problems(self) -> list[str]:
        return self.call("GET", "problems")
