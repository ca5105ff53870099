"""Real exchanges of Anthropic's and of chat providers, served again by the simulator: relayed byte
by byte (those with chat providers in tests/servers), and converted for the other protocol's
official SDKs, Python and Node, which must see the same text, calls, finish reason and usage. The
bill is that of the provider's usage every time.

The exchanges lie outside the project (TOLLGATE_RECORDED, else ../shared/recorded beside it);
without them this is skipped. All are played once, before the first test.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from harness.answer import Answer
from harness.messages import COUNT, MESSAGES, auth
from harness.money import Price, bill
from harness.procs import eventually
from harness.stack import CHAT, Account, Stack, recorded_folder
from harness.webservers import SERVERS, WebServer

FOLDER = recorded_folder()
MODELS = {"chat": "m-recorded-chat", "messages": "claude-sonnet-4-5"}
OTHER = {"chat": "messages", "messages": "chat"}
# Fractions that no float holds, so that only the exact sum rounds to the right quota.
PRICE = Price("2.37", "11.13", "0.593", "2.9", "4.7")
HELLO: Any = [{"role": "user", "content": "hello"}]
FINISH = {  # of Messages in Chat
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


@dataclass
class Exchange:
    """A recorded exchange, and what a client of the other protocol shall see of its answer."""

    name: str
    raw: dict[str, Any]
    text: str = ""
    calls: list[list[Any]] = field(default_factory=list)
    finish: str | None = None
    usage: dict[str, Any] | None = None

    @property
    def protocol(self) -> str:
        return "messages" if self.name.startswith("anthropic") else "chat"

    @property
    def model(self) -> str:
        return MODELS[self.protocol]

    @property
    def counts(self) -> bool:
        return self.raw["path"].endswith("count_tokens")

    @property
    def stream(self) -> bool:
        return self.raw["stream"]

    @property
    def response(self) -> Any:
        return self.raw["response"]

    def events(self) -> list[tuple[bytes, dict[str, Any]]]:
        """The frames that carry data, with it; comments, pings and [DONE] are no answer."""
        found = []
        for frame in self.response.replace("\r\n", "\n").split("\n\n"):
            lines = [line for line in frame.split("\n") if line and not line.startswith(":")]
            data = "\n".join(line[5:].strip() for line in lines if line.startswith("data:"))
            if data and data != "[DONE]" and json.loads(data).get("type") != "ping":
                found.append(("\n".join(lines).encode(), json.loads(data)))
        return found

    @property
    def fails(self) -> bool:
        """Refused at once, or an error in the midst of the stream."""
        ends = self.raw["status"] == 200 and self.stream and "error" in self.events()[-1][1]
        return self.raw["status"] != 200 or ends


def load(path: Path) -> Exchange | None:
    """One recorder cut characters in two: what is no JSON cannot be served again."""
    try:
        exchange = Exchange(path.stem, json.loads(path.read_text()))
        if not exchange.fails and not exchange.counts:
            read = {"messages": read_messages, "chat": read_chat}[exchange.protocol]
            read(exchange)
    except json.JSONDecodeError:
        return None
    return exchange


def read_messages(exchange: Exchange) -> None:
    message = exchange.response
    if exchange.stream:
        message = {"content": [], "usage": {}}
        for _, event in exchange.events():
            add_event(message, event)
    for block in message["content"]:
        if block["type"] == "text":
            exchange.text += block["text"]
        if block["type"] == "tool_use":
            exchange.calls.append([block["name"], block["input"]])
    exchange.finish = FINISH[message["stop_reason"]]
    exchange.usage = message["usage"]


def add_event(message: dict[str, Any], event: dict[str, Any]) -> None:
    if event["type"] == "message_start":
        message["usage"] = event["message"]["usage"]
    elif event["type"] == "content_block_start":
        message["content"].append({**event["content_block"], "json": ""})
    elif event["type"] == "content_block_delta":
        block, delta = message["content"][-1], event["delta"]
        block["text"] = block.get("text", "") + delta.get("text", "")
        block["json"] += delta.get("partial_json", "")
    elif event["type"] == "content_block_stop":
        block = message["content"][-1]
        block["input"] = json.loads(block["json"] or "{}")
    elif event["type"] == "message_delta":
        message["stop_reason"] = event["delta"]["stop_reason"]
        message["usage"] = {**message["usage"], **event["usage"]}


def read_chat(exchange: Exchange) -> None:
    calls: dict[int, list[Any]] = {}
    values = [v for _, v in exchange.events()] if exchange.stream else [exchange.response]
    for value in values:
        exchange.usage = value.get("usage") or exchange.usage
        for choice in value["choices"]:
            said = choice.get("delta") or choice.get("message") or {}
            exchange.text += plain_text(said.get("content"))
            exchange.finish = choice.get("finish_reason") or exchange.finish
            for at, call in enumerate(said.get("tool_calls") or []):
                kept = calls.setdefault(call.get("index", at), ["", ""])
                kept[0] += call["function"].get("name") or ""
                kept[1] += call["function"].get("arguments") or ""
    exchange.calls = [[name, json.loads(text)] for name, text in calls.values()]
    words = {chat: word for word, chat in reversed(FINISH.items())}
    if not exchange.finish:  # one server never says why it stopped
        exchange.finish = "tool_calls" if calls else "stop"
    exchange.finish = words[exchange.finish]


def plain_text(content: Any) -> str:
    """Mistral's reasoning models answer in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content or ""


def load_all() -> dict[str, Exchange]:
    if FOLDER is None:
        return {}
    paths = [*FOLDER.glob("anthropic-*.json"), *FOLDER.glob("openai-chat-*.json")]
    loaded = [load(path) for path in sorted(paths)]
    return {exchange.name: exchange for exchange in loaded if exchange is not None}


EXCHANGES = load_all()
ANSWERS = [name for name, exchange in EXCHANGES.items() if not exchange.counts]
SUCCESSES = [name for name in ANSWERS if not EXCHANGES[name].fails]
pytestmark = pytest.mark.skipif(not EXCHANGES, reason="no recorded exchanges (TOLLGATE_RECORDED)")


# --- playing --------------------------------------------------------------------------------------


@dataclass
class Played:
    """What came of all exchanges, by name."""

    asked: dict[str, bytes] = field(default_factory=dict)  # what the client sent
    sent: dict[str, bytes] = field(default_factory=dict)  # what the provider got
    native: dict[str, Answer] = field(default_factory=dict)
    python: dict[str, dict[str, Any]] = field(default_factory=dict)
    node: dict[str, dict[str, Any]] = field(default_factory=dict)
    quotas: dict[str, list[int]] = field(default_factory=dict)  # native, Python, Node


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def play_natively(account: Account, exchange: Exchange, played: Played) -> None:
    simulator = account.stack.simulator
    simulator.reset()
    simulator.serve_recorded(exchange.name, exchange.model)
    body = compact({**exchange.raw["request"], "model": exchange.model})
    if exchange.protocol == "chat":
        answer = account.post(body, uri=CHAT)
    else:
        answer = account.post(body, auth(account), uri=COUNT if exchange.counts else MESSAGES)
    played.asked[exchange.name] = body
    played.sent[exchange.name] = simulator.requests()[0].body
    played.native[exchange.name] = answer


def by_python(server: WebServer, account: Account, exchange: Exchange) -> dict[str, Any]:
    account.stack.simulator.serve_recorded(exchange.name, exchange.model)
    options: dict[str, Any] = {"api_key": account.token, "max_retries": 0, "timeout": 30}
    try:
        if exchange.protocol == "chat":
            sdk = anthropic.Anthropic(base_url=server.base_url, **options)
            return message_by_python(sdk, exchange)
        chat = openai.OpenAI(base_url=server.base_url + "/v1", **options)
        return chat_by_python(chat, exchange)
    except (anthropic.APIStatusError, openai.APIStatusError) as error:
        return {"error": type(error).__name__, "status": error.status_code}
    except (anthropic.APIError, openai.APIError) as error:
        return {"error": type(error).__name__, "status": None}


def message_by_python(sdk: anthropic.Anthropic, exchange: Exchange) -> dict[str, Any]:
    asked: Any = {"model": exchange.model, "max_tokens": 100, "messages": HELLO}
    if exchange.stream:
        with sdk.messages.stream(**asked) as stream:
            message: Any = stream.get_final_message()
    else:
        message = sdk.messages.create(**asked)
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [[b.name, b.input] for b in message.content if b.type == "tool_use"],
        "finish": message.stop_reason,
        "usage": message.usage.model_dump(),
    }


def chat_by_python(sdk: openai.OpenAI, exchange: Exchange) -> dict[str, Any]:
    asked: Any = {"model": exchange.model, "messages": HELLO}
    if exchange.stream:
        # The SDK's own accumulator; only the last chunk, behind the choices, has the usage.
        asked["stream_options"] = {"include_usage": True}
        with sdk.chat.completions.stream(**asked) as stream:
            answer: Any = stream.get_final_completion()
    else:
        answer = sdk.chat.completions.create(**asked)
    (choice,) = answer.choices
    calls = [call.function for call in choice.message.tool_calls or []]
    return {
        "text": choice.message.content or "",
        "calls": [[call.name, json.loads(call.arguments)] for call in calls],
        "finish": choice.finish_reason,
        "usage": answer.usage.model_dump(),
    }


def by_node(work: Path, server: WebServer, account: Account) -> dict[str, dict[str, Any]]:
    jobs = [
        {"name": name, "client": OTHER[exchange.protocol], "model": exchange.model,
         "stream": exchange.stream}
        for name, exchange in EXCHANGES.items()
        if name in ANSWERS
    ]  # fmt: skip
    control = account.stack.simulator.base_url.removesuffix("/v1")
    where = {"BASE_URL": server.base_url, "KEY": account.token, "CONTROL": control}
    done = subprocess.run(
        ["node", str(work / "recorded.mjs")],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **where},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def server(stack: Stack) -> Iterator[WebServer]:
    made = SERVERS["nginx"](stack.directory, stack.site.socket)
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def played(stack: Stack, server: WebServer, node_work: Path) -> Played:
    for model in MODELS.values():
        stack.price(model, PRICE)
    stack.channel("rec-chat", [MODELS["chat"]])
    claude = ["--provider", "anthropic"]
    stack.channel("rec-messages", [MODELS["messages"]], *claude)
    native, python, node, counting = (stack.account() for _ in range(4))
    stack.wait_model(native, MODELS["messages"])
    made = Played()
    for name, exchange in EXCHANGES.items():
        play_natively(counting if exchange.counts else native, exchange, made)
    for name in ANSWERS:
        made.python[name] = by_python(server, python, EXCHANGES[name])
    made.node = by_node(node_work, server, node)
    for account in (native, python, node):
        add_quotas(stack, account, made)
    return made


def add_quotas(stack: Stack, account: Account, made: Played) -> None:
    """The bills of an account's requests, which were made one after the other."""
    table = f"request_log WHERE token_id = {account.token_id}"

    def count() -> int:
        return int(stack.site.log_sql(f"SELECT COUNT(*) FROM {table}")[0][0])

    eventually("the ledger has written all requests", lambda: count() == len(ANSWERS), 30)
    rows = stack.site.log_sql(f"SELECT quota FROM {table} ORDER BY request_id")
    for name, (quota,) in zip(ANSWERS, rows, strict=True):
        made.quotas.setdefault(name, []).append(int(quota))
    account.wait_spent(sum(int(quota) for (quota,) in rows))


def tokens(usage: dict[str, Any] | None) -> tuple[int, int, int, int]:
    """All that was read, of it from and into a cache, and all that was written, in any words."""
    usage = usage or {}
    if "input_tokens" in usage:
        cached = usage.get("cache_read_input_tokens") or 0
        written = usage.get("cache_creation_input_tokens") or 0
        return usage["input_tokens"] + cached + written, cached, written, usage["output_tokens"]
    details = usage.get("prompt_tokens_details") or {}
    cached, written = (details.get(key) or 0 for key in ("cached_tokens", "cache_write_tokens"))
    return usage.get("prompt_tokens") or 0, cached, written, usage.get("completion_tokens") or 0


# --- comparing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in EXCHANGES if name.startswith("anthropic")])
def test_relayed_byte_by_byte(played: Played, name: str) -> None:
    exchange, answer = EXCHANGES[name], played.native[name]
    assert answer.status == exchange.raw["status"]
    assert played.sent[name] == played.asked[name]
    if answer.status != 200:
        for word in ("type", "message"):
            assert answer.error[word] == exchange.response["error"][word]
    elif not exchange.stream:
        assert answer.body == compact(exchange.response)
    else:
        frames = [f for f in answer.body.split(b"\n\n") if f and not f.startswith(b"event: ping")]
        assert frames == [frame for frame, _ in exchange.events()]


@pytest.mark.parametrize("sdk", ["python", "node"])
@pytest.mark.parametrize("name", ANSWERS)
def test_converted_for_the_other_sdk(played: Played, name: str, sdk: str) -> None:
    exchange, said = EXCHANGES[name], getattr(played, sdk)[name]
    if exchange.fails:
        assert "error" in said and said["status"] in (None, exchange.raw["status"])
        return
    assert said["text"] == exchange.text
    assert said["calls"] == exchange.calls
    assert said["finish"] == exchange.finish
    assert tokens(said["usage"]) == tokens(exchange.usage)


@pytest.mark.parametrize("name", SUCCESSES)
def test_the_bill_is_the_same_every_way(played: Played, name: str) -> None:
    exchange = EXCHANGES[name]
    native, python, node = played.quotas[name]
    assert native == python == node
    if not (exchange.usage or {}).get("server_tool_use"):
        read, cached, written, generated = tokens(exchange.usage)
        details = {"cached_tokens": cached, "cache_write_tokens": written}
        usage = {"prompt_tokens": read, "completion_tokens": generated}
        assert native == bill({**usage, "prompt_tokens_details": details}, PRICE)
