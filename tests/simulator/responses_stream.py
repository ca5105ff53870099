"""The streamed answer of each scenario in the Responses dialect."""

from __future__ import annotations

from typing import Any

import responses
from dialect import encode
from stream import Player


class ResponsesPlayer(Player):
    """Plays the scenarios of the chat dialect; its deltas become items on the way out."""

    ERROR = {"type": "error", "param": None, **responses.ERROR}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.started = self.told = False
        self.number = 0
        self.items = responses.output(self.answer, self.sink.seen.parsed)
        self.open = -1  # the item that is open
        self.text = ""

    async def event(self, value: dict[str, Any] | bytes, event: str | None = None) -> None:
        if isinstance(value, dict):
            event = value["type"]
            value = {**value, "sequence_number": self.number}
            self.number += 1
        await super().event(value, event)

    def envelope(self, status: str) -> dict[str, Any]:
        return responses.envelope(self.answer, self.sink.seen.parsed, status)

    async def begin(self) -> None:
        self.started = True
        for kind in ("created", "in_progress"):
            await self.event({"type": f"response.{kind}", "response": self.envelope("in_progress")})

    def at(self, kind: str, **more: Any) -> dict[str, Any]:
        item = self.items[self.open]
        made = {"type": f"response.{kind}", "item_id": item["id"], "output_index": self.open}
        return {**made, **more}

    async def turn_to(self, index: int) -> None:
        """Closes what is open and opens the item <index>."""
        if index == self.open:
            return
        await self.close()
        self.open, self.text = index, ""
        item = dict(self.items[index])
        for key in ("content", "summary"):
            if key in item:
                item[key] = []
        for key in ("arguments", "input"):
            if key in item:
                item[key] = ""
        item.pop("encrypted_content", None)
        if "status" in item:
            item["status"] = "in_progress"
        await self.event(
            {"type": "response.output_item.added", "output_index": index, "item": item}
        )
        if item["type"] == "message":
            part = {**self.items[index]["content"][0], "text": ""}
            await self.event(self.at("content_part.added", content_index=0, part=part))
        elif item["type"] == "reasoning":
            part = {"type": "summary_text", "text": ""}
            await self.event(self.at("reasoning_summary_part.added", summary_index=0, part=part))

    async def close(self) -> None:
        if self.open < 0:
            return
        item = self.items[self.open]
        if item["type"] == "message":
            text = {"content_index": 0, "text": self.text, "logprobs": []}
            await self.event(self.at("output_text.done", **text))
            part = {**item["content"][0], "text": self.text}
            await self.event(self.at("content_part.done", content_index=0, part=part))
            item["content"] = [part]
        elif item["type"] == "reasoning":
            await self.event(
                self.at("reasoning_summary_text.done", summary_index=0, text=self.text)
            )
            part = {"type": "summary_text", "text": self.text}
            await self.event(self.at("reasoning_summary_part.done", summary_index=0, part=part))
        elif item["type"] == "custom_tool_call":
            await self.event(self.at("custom_tool_call_input.done", input=self.text))
        else:
            done = {"name": item["name"], "arguments": self.text}
            await self.event(self.at("function_call_arguments.done", **done))
        await self.event(
            {"type": "response.output_item.done", "output_index": self.open, "item": item}
        )
        self.open = -1

    def index_of(self, kind: str) -> int:
        return next(i for i, item in enumerate(self.items) if item["type"] == kind)

    async def put(self, delta: dict[str, Any], finish: str | None) -> None:
        if not self.started:
            await self.begin()
        if delta.get("reasoning_content"):
            await self.turn_to(self.index_of("reasoning"))
            await self.piece("reasoning_summary_text.delta", delta["reasoning_content"],
                             summary_index=0)  # fmt: skip
        if delta.get("content"):
            if not any(item["type"] == "message" for item in self.items):
                self.items.append(responses.output(self.made_up(), {})[0])
            await self.turn_to(self.index_of("message"))
            await self.piece("output_text.delta", delta["content"], content_index=0, logprobs=[])
        for call in delta.get("tool_calls") or []:
            first = next(i for i, item in enumerate(self.items) if "call_id" in item)
            await self.turn_to(first + call["index"])
            if call["function"].get("arguments"):
                custom = "input" in self.items[self.open]
                kind = "custom_tool_call_input" if custom else "function_call_arguments"
                await self.piece(f"{kind}.delta", call["function"]["arguments"])
        if finish is not None:
            await self.close()

    def made_up(self):
        """An answer with a text, for scenarios that say more than the answer does."""
        return type(self.answer)(self.answer.number, self.answer.model, text="?")

    async def piece(self, kind: str, text: str, **more: Any) -> None:
        self.text += text
        await self.event(self.at(kind, delta=text, **more))

    async def usage(self) -> None:
        self.sink.seen.charged = self.used

    def last(self) -> dict[str, Any]:
        self.told = True
        used = None if self.behaviour.scenario == "no-usage" else self.used
        response = responses.whole(self.answer, self.sink.seen.parsed, used)
        response["output"] = self.items
        return {"type": f"response.{response['status']}", "response": response}

    async def end(self) -> None:
        await self.event(self.last())
        self.sink.seen.complete = True
        await self.sink.finish()

    async def play_usage_empty_delta(self) -> None:
        await self.play_rest()

    async def play_usage_early(self) -> None:
        await self.play_rest()

    async def play_no_done(self) -> None:
        await self.play_rest()

    async def play_done_no_blank(self) -> None:
        await self._unterminated(b"\n")

    async def _unterminated(self, ending: bytes) -> None:
        await self.content()
        await self.chunk({}, self.answer.finish)
        self.sink.seen.charged = self.used
        last = {**self.last(), "sequence_number": self.number}
        head = f"event: {last['type']}\ndata: ".encode()
        await self.sink.send(head + encode(last) + ending)
        self.sink.seen.complete = True
        await self.sink.finish()
