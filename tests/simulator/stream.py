"""The streamed answer of each scenario, event by event."""

from __future__ import annotations

import time
from typing import Any

import serve
from dialect import Answer, encode
from scenarios import Behaviour
from sink import Lines, Sink

SSE = "text/event-stream; charset=utf-8"
DONE = b"[DONE]"
ERROR = {
    "error": {
        "message": "The server had an error",
        "type": "server_error",
        "param": None,
        "code": None,
    }
}


def compresses(sink: Sink, behaviour: Behaviour) -> bool:
    accepted = (sink.seen.request.header("accept-encoding") or "").lower()
    return behaviour.scenario == "gzip-always" or (
        behaviour.scenario == "gzip" and "gzip" in accepted
    )


async def play(
    kind: type[Player], sink: Sink, behaviour: Behaviour, parsed: dict[str, Any], answer: Answer
) -> None:
    name = behaviour.scenario
    used = serve.usage_of(behaviour, parsed, answer)
    asked = bool((parsed.get("stream_options") or {}).get("include_usage"))
    headers = [("Cache-Control", "no-cache"), *behaviour.headers]
    if name == "connection-close":
        headers.append(("Connection", "close"))
    await sink.start(200, SSE, headers, compress=compresses(sink, behaviour))
    sink.split = name == "split-bytes"
    sink.split_after = b"\r" if name == "split-crlf" else None
    player = kind(sink, behaviour, answer, used, asked)
    await getattr(player, "play_" + name.replace("-", "_"), player.play_rest)()


class Player:
    """Plays one stream. A scenario without a method of its own differs in its lines only."""

    ERROR = ERROR

    def __init__(self, sink, behaviour, answer, used, asked) -> None:
        self.sink = sink
        self.connection = sink.connection
        self.behaviour = behaviour
        self.answer = answer
        self.used = used
        self.asked = asked
        self.lines = Lines(behaviour.scenario)

    # --- pieces -----------------------------------------------------------------------------

    async def event(self, value: dict[str, Any] | bytes, event: str | None = None) -> None:
        data = value if isinstance(value, bytes) else encode(value)
        await self.sink.send(self.lines.event(data, event))

    async def chunk(self, delta: dict[str, Any], finish: str | None = None) -> None:
        if delta.get("content") or delta.get("tool_calls"):
            self.sink.seen.words_sent += len((delta.get("content") or "").split())
            self.sink.seen.first_content_at = self.sink.seen.first_content_at or time.monotonic()
        await self.put(delta, finish)

    async def put(self, delta: dict[str, Any], finish: str | None) -> None:
        value = self.answer.chunk(delta, finish)
        if self.asked:
            value["usage"] = None
        await self.event(value)

    async def content(self, limit: int | None = None) -> None:
        for delta in self.answer.deltas()[: None if limit is None else limit + 1]:
            if self.behaviour.scenario == "slow-tokens":
                await self.connection.pause(self.behaviour.delay)
            elif self.behaviour.scenario == "by-hand" and delta.get("content"):
                await self.connection.until(self.behaviour.steps)
            await self.chunk(delta)

    async def usage(self) -> None:
        """The provider charges for an answer that it has finished, asked for usage or not."""
        self.sink.seen.charged = self.used
        if self.asked:
            value = self.answer.base("chat.completion.chunk")
            await self.event({**value, "choices": [], "usage": self.used})

    async def end(self) -> None:
        await self.event(DONE)
        self.sink.seen.complete = True
        await self.sink.finish()

    async def play_rest(self) -> None:
        await self.content()
        await self.chunk({}, self.answer.finish)
        await self.usage()
        await self.end()

    # --- scenarios --------------------------------------------------------------------------

    async def play_bom(self) -> None:
        await self.sink.send(b"\xef\xbb\xbf")
        await self.play_rest()

    async def play_by_hand(self) -> None:
        await self.content()
        await self.connection.until(self.behaviour.steps)
        await self.chunk({}, self.answer.finish)
        await self.usage()
        await self.end()

    async def play_held(self) -> None:
        deltas = self.answer.deltas()
        for delta in deltas[:3]:
            await self.chunk(delta)
        await self.connection.until(self.behaviour.steps)
        for delta in deltas[3:]:
            await self.chunk(delta)
        await self.chunk({}, self.answer.finish)
        await self.usage()
        await self.end()

    async def play_hang(self) -> None:
        await self.connection.pause(3600)

    async def play_hang_after(self) -> None:
        await self.content(2)
        await self.connection.pause(3600)

    async def play_close_silent(self) -> None:
        await self.connection.pause(self.behaviour.delay)
        self.connection.close()

    async def play_reset_mid(self) -> None:
        await self.content(2)
        await self.connection.pause(0.05)
        self.connection.reset()

    async def play_cut_mid(self) -> None:
        await self.content(2)
        self.connection.close()

    async def play_empty(self) -> None:
        await self.chunk({"role": "assistant", "content": ""})
        await self.chunk({}, "stop")
        await self.usage()
        await self.end()

    async def play_error_first(self) -> None:
        await self.event(self.ERROR)
        await self.sink.finish()

    async def play_error_mid(self) -> None:
        await self.content(2)
        await self.event(self.ERROR, "error")
        await self.sink.finish()

    async def play_no_usage(self) -> None:
        await self.content()
        await self.chunk({}, self.answer.finish)
        await self.end()

    async def play_usage_empty_delta(self) -> None:
        await self.content()
        self.sink.seen.charged = self.used
        await self.event({**self.answer.chunk({}), "usage": self.used})
        await self.end()

    async def play_usage_early(self) -> None:
        await self.content(1)
        await self.usage()
        for delta in self.answer.deltas()[2:]:
            await self.chunk(delta)
        await self.chunk({}, self.answer.finish)
        await self.end()

    async def play_huge_event(self) -> None:
        await self.chunk({"role": "assistant", "content": ""})
        await self.chunk({"content": "A" * (self.behaviour.number("m", 3) * 1024 * 1024)})
        await self.chunk({"content": " end"})
        await self.chunk({}, "stop")
        await self.usage()
        await self.end()

    async def play_endless(self) -> None:
        words = " ".join("flow" for _ in range(1000))
        for _ in range(self.behaviour.number("m", 50) * 200):
            await self.chunk({"content": words})
        await self.play_rest()

    async def play_bad_json(self) -> None:
        await self.content(2)
        await self.event(b'{"id":"chatcmpl-broken","choices":[{"delta":')
        await self.play_rest_of_words()

    async def play_rest_of_words(self) -> None:
        for delta in self.answer.deltas()[3:]:
            await self.chunk(delta)
        await self.chunk({}, self.answer.finish)
        await self.usage()
        await self.end()

    async def play_no_done(self) -> None:
        await self.content()
        await self.chunk({}, self.answer.finish)
        await self.usage()
        self.sink.seen.complete = True
        await self.sink.finish()

    async def play_done_no_blank(self) -> None:
        await self.content()
        await self.chunk({}, self.answer.finish)
        await self.usage()
        self.sink.seen.complete = True
        await self.sink.send(b"data: [DONE]\n")
        await self.sink.finish()

    async def play_eof_one_newline(self) -> None:
        await self._unterminated(b"\n")

    async def play_eof_no_newline(self) -> None:
        await self._unterminated(b"")

    async def _unterminated(self, ending: bytes) -> None:
        """The usage event is the last one and is not closed by a blank line."""
        await self.content()
        await self.chunk({}, self.answer.finish)
        self.sink.seen.charged = self.used
        value = {**self.answer.base("chat.completion.chunk"), "choices": [], "usage": self.used}
        await self.sink.send(b"data: " + encode(value) + ending)
        self.sink.seen.complete = True
        await self.sink.finish()
