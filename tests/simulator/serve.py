"""The provider's side: access, checks, and the scenarios played on the connection."""

from __future__ import annotations

import json
import time
from typing import Any

import chat_check
import gemini
import gemini_check
import messages
import messages_check
import responses
import responses_check
import stream
from dialect import (
    DEFAULT_TEXT,
    Answer,
    Refusal,
    agent_answer,
    check_request,
    count_prompt,
    encode,
    parse_body,
    tool_answer,
)
from dialect import usage as make_usage
from gemini_stream import GeminiPlayer
from messages_stream import MessagesPlayer
from responses_stream import ResponsesPlayer
from scenarios import Behaviour
from sink import Sink
from state import Seen, State
from wire import Connection, Request

JSON = "application/json"
CEILINGS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
PLAYERS = {
    "chat": stream.Player,
    "anthropic": MessagesPlayer,
    "responses": ResponsesPlayer,
    "gemini": GeminiPlayer,
}
COUNTERS = {
    "chat": count_prompt,
    "anthropic": messages.count_prompt,
    "responses": responses.count_prompt,
    "gemini": lambda asked: asked["prompt"],
}

ERRORS: dict[str, Refusal] = {
    "rate-limit": Refusal(
        429, "Rate limit reached for requests", "requests", "rate_limit_exceeded"
    ),
    "fail": Refusal(500, "The server had an error while processing your request", "server_error"),
    "overloaded": Refusal(503, "The engine is currently overloaded", "server_error"),
    "unauthorized": Refusal(401, "Incorrect API key provided", code="invalid_api_key"),
    "key-invalid": Refusal(400, "API key not valid. Please pass a valid API key.", "bad_request"),
    "payment": Refusal(402, "Insufficient Balance", "unknown_error", "invalid_request_error"),
    "forbidden": Refusal(403, "Country, region, or territory not supported", "request_forbidden"),
    "not-found": Refusal(404, "The model does not exist", code="model_not_found", param="model"),
    "bad-request": Refusal(
        400, "Unsupported value: 'temperature'", code="unsupported_value", param="temperature"
    ),
    "unprocessable": Refusal(422, "Input should be a valid number", code="unprocessable"),
    "content-filter": Refusal(400, "The response was filtered", code="content_filter"),
}


def authorize(state: State, request: Request) -> str:
    """The bearer key of a request, or a Refusal as the provider words it."""
    given = request.header("authorization")
    if request.header_count("authorization") > 1:
        raise Refusal(400, "Several Authorization headers")
    if not given or not given.startswith("Bearer ") or not given[7:].strip():
        raise Refusal(401, "You didn't provide an API key.", code=None)
    key = given[7:]
    if key not in state.keys:
        hint = f"Incorrect API key provided: {key[:3]}***{key[-4:]}."
        raise Refusal(401, hint, code="invalid_api_key")
    return key


async def provider(state: State, connection: Connection, request: Request) -> None:
    """Answers one request below any prefix; the record stays in state.seen."""
    seen = state.add(request, connection)
    await state.notify()
    sink = Sink(connection, seen)
    try:
        await route(state, sink, request)
    except Refusal as refusal:
        await refuse(sink, in_shape(request, refusal))
    finally:
        seen.finished_at = time.monotonic()
        await state.notify()


def in_shape(request: Request, refusal: Refusal) -> Refusal:
    if gemini.is_ours(request):
        return gemini.in_shape(refusal)
    return messages.in_shape(refusal) if is_messages(request) else refusal


async def refuse(sink: Sink, refusal: Refusal) -> None:
    body = refusal.body()
    await sink.start(refusal.status, JSON, refusal.headers, len(body))
    await sink.send(body)


def is_messages(request: Request) -> bool:
    return request.path.endswith(("/messages", "/messages/count_tokens"))


def is_responses(request: Request) -> bool:
    return "/responses" in request.path


def take_up(
    state: State, sink: Sink, request: Request, key: str
) -> tuple[dict[str, Any], Behaviour]:
    """What is asked for, and what shall come of it; both are noted."""
    check_transport(state, request)
    parsed = parse_body(request.body)
    seen = sink.seen
    asks_in_path = gemini.is_ours(request)
    seen.model = gemini.asked(request)[0] if asks_in_path else str(parsed.get("model"))
    behaviour = state.behaviour(seen.model, key)
    behaviour.seen += 1
    seen.scenario = behaviour.scenario
    seen.parsed = parsed
    return parsed, behaviour


async def route(state: State, sink: Sink, request: Request) -> None:
    if is_messages(request):
        await route_messages(state, sink, request)
        return
    if gemini.is_ours(request):
        await route_gemini(state, sink, request)
        return
    key = authorize(state, request)
    if request.path.endswith("/models") and request.method == "GET":
        names = sorted({"m-ref", "gpt-4o", *(n for n in state.behaviours if "/" not in n)})
        data = [{"id": n, "object": "model", "created": 1, "owned_by": "sim"} for n in names]
        body = encode({"object": "list", "data": data})
        await sink.start(200, JSON, length=len(body))
        await sink.send(body)
        return
    if "/dashboard/billing/" in request.path and request.method == "GET":
        await tell_balance(state, sink, request)
        return
    if is_responses(request):
        await route_responses(state, sink, request, key)
        return
    if not request.path.endswith("/chat/completions"):
        raise Refusal(404, f"Unknown request URL: {request.method} {request.path}.", code=None)
    if request.method != "POST":
        raise Refusal(405, f"Not allowed to {request.method} on {request.path}.")
    parsed, behaviour = take_up(state, sink, request, key)
    if behaviour.recorded:
        # Other vendors of the dialect take parts that OpenAI refuses.
        await play_recorded(state, sink, behaviour.recorded)
        return
    check_request(parsed)
    if state.strict:
        chat_check.check_strict(parsed)
    await play(state, sink, behaviour, parsed)


async def tell_balance(state: State, sink: Sink, request: Request) -> None:
    """The account of all keys, as gateways in OpenAI's dialect tell of it."""
    value: dict[str, Any] = {"object": "list", "total_usage": state.used_cents}
    if request.path.endswith("/subscription"):
        value = {"object": "billing_subscription", "has_payment_method": True}
        value |= {"hard_limit_usd": state.limit_usd}
    body = encode(value)
    await sink.start(200, JSON, length=len(body))
    await sink.send(body)


async def route_responses(state: State, sink: Sink, request: Request, key: str) -> None:
    tail = request.path[request.path.index("/responses") + len("/responses") :]
    if tail not in ("", "/input_tokens", "/compact") or request.method != "POST":
        raise Refusal(404, f"Unknown request URL: {request.method} {request.path}.", code=None)
    parsed, behaviour = take_up(state, sink, request, key)
    if behaviour.recorded:
        await play_recorded(state, sink, behaviour.recorded)
        return
    responses_check.check_request(parsed)
    if tail == "":
        await play(state, sink, behaviour, parsed)
        return
    counted = responses.count_prompt(parsed)
    body = encode({"object": "response.input_tokens", "input_tokens": counted})
    if tail == "/compact":
        sink.seen.charged = make_usage(counted, 5, behaviour.params)
        body = encode(responses.compacted(sink.seen.number, sink.seen.charged))
        sink.seen.complete = True
    await sink.start(200, JSON, length=len(body))
    await sink.send(body)


async def route_messages(state: State, sink: Sink, request: Request) -> None:
    key = messages.authorize(state, request)
    if request.method != "POST":
        raise Refusal(405, f"Not allowed to {request.method} on {request.path}.")
    parsed, behaviour = take_up(state, sink, request, key)
    counting = request.path.endswith("/count_tokens")
    if behaviour.recorded:
        await play_recorded(state, sink, behaviour.recorded)
        return
    messages_check.check_request(parsed, request.header, counting)
    if not counting:
        await play(state, sink, behaviour, parsed)
        return
    if behaviour.scenario in ERRORS:
        raise with_headers(ERRORS[behaviour.scenario], behaviour)
    body = encode({"input_tokens": messages.count_prompt(parsed)})
    await sink.start(200, JSON, length=len(body))
    await sink.send(body)


async def route_gemini(state: State, sink: Sink, request: Request) -> None:
    key = gemini.authorize(state, request)
    model, verb = gemini.asked(request)
    parsed, behaviour = take_up(state, sink, request, key)
    if behaviour.recorded:
        await play_recorded(state, sink, behaviour.recorded)
        return
    gemini_check.check_request(parsed, model, verb == "countTokens", state.strict)
    if verb != "countTokens":
        await play(state, sink, behaviour, gemini.as_chat(parsed, model, verb))
        return
    if behaviour.scenario in ERRORS:
        raise with_headers(ERRORS[behaviour.scenario], behaviour)
    whole = parsed.get("generateContentRequest", parsed)
    body = encode({"totalTokens": gemini.count_prompt(whole)})
    await sink.start(200, JSON, length=len(body))
    await sink.send(body)


def check_transport(state: State, request: Request) -> None:
    content_type = (request.header("content-type") or "").split(";")[0].strip().lower()
    if content_type != JSON:
        raise Refusal(415, f"Unsupported content type: {content_type!r}")
    if request.chunked and state.refuse_chunked:
        raise Refusal(411, "A Content-Length is required.")
    if not request.chunked and request.header("content-length") is None:
        raise Refusal(411, "A Content-Length is required.")


async def play(state: State, sink: Sink, behaviour: Behaviour, parsed: dict[str, Any]) -> None:
    name = behaviour.scenario
    connection = sink.connection
    if name == "hang-before":
        await connection.pause(3600)
    if name == "close-before":
        connection.close()
        return
    if name == "reset-before":
        connection.reset()
        return
    if name == "slow-headers" or (name in ERRORS and "ms" in behaviour.params):
        await connection.pause(behaviour.delay)
    if name in ERRORS:
        raise with_headers(ERRORS[name], behaviour)
    if name == "fail-then-ok" and behaviour.seen <= behaviour.number("f"):
        raise ERRORS["fail"]
    if name == "leaky-error":
        headers = sink.seen.request.header
        key = headers("x-api-key") or headers("x-goog-api-key")
        key = key or (headers("authorization") or "")[7:]
        raise Refusal(400, f"Key {key} may not use this model", code="model_not_allowed")
    if name == "redirect":
        headers = [("Location", "http://127.0.0.1:9/elsewhere")]
        await sink.start(307, "text/plain", headers, 0)
        return
    if name == "bad-gateway-html":
        page = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
        await sink.start(502, "text/html", behaviour.headers, len(page))
        await sink.send(page)
        return
    answer = make_answer(sink.seen, behaviour, parsed)
    if parsed.get("stream") and name != "not-sse":
        await stream.play(PLAYERS[answer.wire], sink, behaviour, parsed, answer)
    else:
        await play_whole(sink, behaviour, parsed, answer)
    if name == "close-idle" or name == "connection-close":
        connection.close()


def with_headers(refusal: Refusal, behaviour: Behaviour) -> Refusal:
    headers = list(behaviour.headers)
    if refusal.status == 429:
        headers.append(("Retry-After", str(behaviour.number("k"))))
    return Refusal(
        refusal.status, refusal.message, refusal.type, refusal.code, refusal.param, headers
    )


def make_answer(seen: Seen, behaviour: Behaviour, parsed: dict[str, Any]) -> Answer:
    answer = Answer(seen.number, parsed["model"])
    if is_messages(seen.request):
        answer.wire = "anthropic"
    elif is_responses(seen.request):
        answer.wire = "responses"
    elif gemini.is_ours(seen.request):
        answer.wire = "gemini"
    if behaviour.scenario == "agent":
        agent_answer(parsed, answer, behaviour.text or "[{}]")
    elif behaviour.text is not None:
        answer.text = behaviour.text
    elif behaviour.scenario == "echo":
        answer.text = seen.request.body.decode()
    elif behaviour.scenario == "empty":
        answer.text = ""
    elif "x" in behaviour.params:
        answer.text = " ".join(f"word{n}" for n in range(behaviour.params["x"]))
    else:
        answer.text = DEFAULT_TEXT
    if behaviour.scenario == "tools":
        tool_answer(parsed, answer)
    if behaviour.scenario == "think":
        answer.reasoning = "first a thought"
    if behaviour.scenario == "refuse":
        answer.finish = "content_filter"
    limit = next((parsed[name] for name in CEILINGS if parsed.get(name)), None)
    if limit and answer.count() > limit and behaviour.scenario != "echo":
        answer.text = " ".join(answer.text.split()[:limit])
        answer.finish = "length"
    return answer


def usage_of(behaviour: Behaviour, parsed: dict[str, Any], answer: Answer) -> dict[str, Any]:
    if behaviour.scenario == "usage-absurd":
        return make_usage(-5, 10**17, {})
    return make_usage(COUNTERS[answer.wire](parsed), answer.count(), behaviour.params)


def whole_body(answer: Answer, used: dict[str, Any] | None, parsed: dict[str, Any]) -> bytes:
    if answer.wire == "anthropic":
        return encode(messages.whole(answer, used, json.loads))
    if answer.wire == "responses":
        return encode(responses.whole(answer, parsed, used))
    if answer.wire == "gemini":
        return encode(gemini.whole(answer, used))
    return encode(answer.whole(used))


async def play_whole(
    sink: Sink, behaviour: Behaviour, parsed: dict[str, Any], answer: Answer
) -> None:
    name = behaviour.scenario
    seen = sink.seen
    used = None if name == "no-usage" else usage_of(behaviour, parsed, answer)
    body = whole_body(answer, used, parsed)
    if name == "huge-event":
        answer.text = "A" * (behaviour.number("m", 3) * 1024 * 1024)
        body = whole_body(answer, used, parsed)
    if name == "bad-json":
        body = body[: len(body) // 2]
    if name == "error-first":
        used, body = None, encode(PLAYERS[answer.wire].ERROR)
    if name in ("slow-tokens", "close-silent"):
        await sink.connection.pause(behaviour.delay * max(1, len(answer.text.split())))
    headers = list(behaviour.headers)
    if name == "connection-close":
        headers.append(("Connection", "close"))
    await sink.start(200, JSON, headers, len(body), stream.compresses(sink, behaviour))
    if name in ("hang", "hang-after"):
        await sink.send(body[: 10 if name == "hang-after" else 0])
        await sink.connection.pause(3600)
    if name in ("reset-mid", "cut-mid"):
        await sink.send(body[: len(body) // 2])
        await sink.connection.pause(0.05)
        sink.connection.reset() if name == "reset-mid" else sink.connection.close()
        return
    sink.split = name == "split-bytes"
    await sink.send(body)
    await sink.finish()
    seen.words_sent = answer.count()
    seen.charged = None if name == "bad-json" else used
    seen.complete = True


async def play_recorded(state: State, sink: Sink, name: str) -> None:
    """A recorded answer byte for byte; a stream goes out event by event."""
    exchange = state.recorded(name)
    response = exchange["response"]
    body = response.encode() if isinstance(response, str) else encode(response)
    content_type = exchange["headers"].get("content-type", JSON)
    headers = [(k, v) for k, v in exchange["headers"].items() if k.startswith("x-ratelimit")]
    sink.seen.charged = recorded_usage(exchange)
    if not exchange["stream"]:
        await sink.start(exchange["status"], content_type, headers, len(body))
        await sink.send(body)
        sink.seen.complete = True
        return
    await sink.start(exchange["status"], content_type, headers)
    for event in body.split(b"\n\n"):
        if event:
            await sink.send(event + b"\n\n" if not event.endswith(b"\n") else event + b"\n")
            await sink.connection.pause(0)
    await sink.finish()
    sink.seen.complete = True


def recorded_usage(exchange: dict[str, Any]) -> dict[str, Any] | None:
    """The last usage object of a recorded answer, wherever it rides."""
    name = "usageMetadata" if ":" in exchange["path"] else "usage"
    response = exchange["response"]
    if isinstance(response, dict):
        return response.get(name)
    used = None
    for line in response.splitlines():
        if line.startswith("data:") and f'"{name}"' in line:
            used = json.loads(line[5:]).get(name) or used
    return used
