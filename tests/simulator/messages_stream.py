"""The streamed answer of each scenario in the Messages dialect."""

from __future__ import annotations

from typing import Any

import messages
from dialect import encode
from stream import Player


class MessagesPlayer(Player):
    """Plays the scenarios of the chat dialect; its deltas become blocks on the way out."""

    ERROR = {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.started = self.told = False
        self.open: str | None = None
        self.index = -1

    async def event(self, value: dict[str, Any] | bytes, event: str | None = None) -> None:
        if isinstance(value, dict):
            event = value["type"]
        await super().event(value, event)

    def figures(self, output: int) -> dict[str, Any]:
        """The answer's usage as it is told at the beginning, or at the end."""
        if self.behaviour.scenario == "no-usage":
            return {}
        return {"usage": {**messages.usage(self.used), "output_tokens": output}}

    async def begin(self) -> None:
        self.started = True
        message = {**messages.envelope(self.answer), "content": [], "stop_reason": None}
        message = {**message, "stop_sequence": None, **self.figures(1)}
        await self.event({"type": "message_start", "message": message})
        await self.event({"type": "ping"})

    async def block(self, kind: str, value: dict[str, Any]) -> None:
        await self.close()
        self.open = kind
        self.index += 1
        start = {"type": "content_block_start", "index": self.index}
        await self.event({**start, "content_block": {"type": kind, **value}})

    async def close(self) -> None:
        if self.open == "thinking":
            sign = {"type": "signature_delta", "signature": messages.signature(self.answer)}
            await self.delta(sign)
        if self.open is not None:
            await self.event({"type": "content_block_stop", "index": self.index})
        self.open = None

    async def delta(self, value: dict[str, Any]) -> None:
        kind = {"type": "content_block_delta", "index": self.index}
        await self.event({**kind, "delta": value})

    async def put(self, delta: dict[str, Any], finish: str | None) -> None:
        if not self.started:
            await self.begin()
        if delta.get("reasoning_content"):
            if self.open != "thinking":
                await self.block("thinking", {"thinking": "", "signature": ""})
            await self.delta({"type": "thinking_delta", "thinking": delta["reasoning_content"]})
        if delta.get("content"):
            if self.open != "text":
                await self.block("text", {"text": ""})
            await self.delta({"type": "text_delta", "text": delta["content"]})
        for call in delta.get("tool_calls") or []:
            if "id" in call:
                made = {"id": call["id"], "name": call["function"]["name"], "input": {}}
                await self.block("tool_use", made)
            piece = call["function"].get("arguments")
            if piece:
                await self.delta({"type": "input_json_delta", "partial_json": piece})
        if finish is not None:
            await self.close()

    async def usage(self) -> None:
        self.sink.seen.charged = self.used
        await self.event(self.last())

    def last(self) -> dict[str, Any]:
        self.told = True
        stop = messages.STOP_REASONS[self.answer.finish]
        event = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}}
        return {**event, **self.figures(self.used["completion_tokens"])}

    async def end(self) -> None:
        if not self.told:
            await self.event(self.last())
        await self.event({"type": "message_stop"})
        self.sink.seen.complete = True
        await self.sink.finish()

    async def play_usage_empty_delta(self) -> None:
        await self.play_rest()

    async def play_usage_early(self) -> None:
        await self.play_rest()

    async def play_done_no_blank(self) -> None:
        await self._finished()
        await self.sink.send(b'event: message_stop\ndata: {"type":"message_stop"}\n')
        await self.sink.finish()

    async def _finished(self) -> None:
        await self.content()
        await self.chunk({}, self.answer.finish)
        await self.usage()
        self.sink.seen.complete = True

    async def _unterminated(self, ending: bytes) -> None:
        await self.content()
        await self.chunk({}, self.answer.finish)
        self.sink.seen.charged = self.used
        await self.sink.send(b"event: message_delta\ndata: " + encode(self.last()) + ending)
        self.sink.seen.complete = True
        await self.sink.finish()
