"""The streamed answer of each scenario in the Gemini dialect: calls go out whole."""

from __future__ import annotations

from typing import Any

import gemini
from dialect import encode
from stream import Player


class GeminiPlayer(Player):
    """Plays the scenarios of the chat dialect; its deltas become parts on the way out."""

    ERROR = {"error": {"code": 500, "message": "An internal error has occurred.",
                       "status": "INTERNAL"}}  # fmt: skip

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.told = False

    def chunk_of(self, parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
        made = {"candidates": [gemini.candidate(parts, finish)], **gemini.envelope(self.answer)}
        if finish is not None and self.behaviour.scenario != "no-usage":
            made["usageMetadata"] = gemini.usage(self.used)
        return made

    async def put(self, delta: dict[str, Any], finish: str | None) -> None:
        if delta.get("reasoning_content"):
            part = {"text": delta["reasoning_content"], "thought": True}
            await self.event(self.chunk_of([part]))
        if delta.get("content"):
            await self.event(self.chunk_of([{"text": delta["content"]}]))
        for call in delta.get("tool_calls") or []:
            if "id" in call:
                made = self.answer.tool_calls[call["index"]]
                await self.event(self.chunk_of([gemini.call_part(self.answer, made)]))
        if finish is not None:
            self.told = True
            await self.event(self.chunk_of([{"text": ""}], finish))

    async def event(self, value: dict[str, Any] | bytes, event: str | None = None) -> None:
        await super().event(value, None)

    async def usage(self) -> None:
        self.sink.seen.charged = self.used

    async def end(self) -> None:
        if not self.told:
            await self.put({}, self.answer.finish)
        self.sink.seen.complete = True
        await self.sink.finish()

    async def play_usage_empty_delta(self) -> None:
        await self.play_rest()

    async def play_usage_early(self) -> None:
        await self.play_rest()

    async def play_done_no_blank(self) -> None:
        await self._unterminated(b"\n")

    async def _unterminated(self, ending: bytes) -> None:
        await self.content()
        self.sink.seen.charged = self.used
        last = self.chunk_of([{"text": ""}], self.answer.finish)
        await self.sink.send(b"data: " + encode(last) + ending)
        self.sink.seen.complete = True
        await self.sink.finish()
