"""The control interface under /_sim/: what a test asks the simulator about and tells it to do.

GET  /_sim/health                       {"ok": true}
POST /_sim/reset                        forgets requests, charges, behaviours
GET  /_sim/requests[?from=N]            what was seen, in order (bodies in base64)
GET  /_sim/wait?count=N&finished=1&timeout=S   returns when N requests were seen (and ended)
GET  /_sim/charges                      [{number, model, charged}] of the requests that cost money
GET  /_sim/problems                     breaches of HTTP or of the dialect's transport rules
POST /_sim/behaviour                    {"model": NAME | "*" | "KEY/MODEL", "scenario": ...,
                                         "params", "text", "headers", "recorded"}
POST /_sim/step                         {"model": NAME, "count": 1}: by-hand or held goes on
POST /_sim/settings                     {"keys": [...], "refuse_chunked": bool, "strict": bool,
                                         "limit_usd", "used_cents"}: of /dashboard/billing/
POST /_sim/recorded/ID[?model=NAME]     serves that recorded exchange (to one model, or to all)
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from dialect import encode
from scenarios import Behaviour, from_json
from state import State
from wire import Connection, Request, head


async def control(state: State, connection: Connection, request: Request) -> None:
    try:
        status, value = 200, await answer(state, request)
    except FileNotFoundError as error:
        status, value = 404, {"error": str(error)}
    except (KeyError, ValueError, TypeError) as error:
        status, value = 400, {"error": repr(error)}
    body = encode(value)
    fields = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    await connection.write(head(status, fields) + body)


async def answer(state: State, request: Request) -> Any:
    parts = request.path.strip("/").split("/")[1:]
    name = parts[0] if parts else ""
    posted = json.loads(request.body) if request.body else {}
    if request.method == "GET":
        return await ask(state, name, request)
    if name == "reset":
        state.reset()
    elif name == "behaviour":
        state.behaviours[posted.get("model", "*")] = from_json(posted)
    elif name == "step":
        for _ in range(posted.get("count", 1)):
            state.behaviours[posted["model"]].steps.release()
    elif name == "settings":
        if "keys" in posted:
            state.keys = set(posted["keys"])
        state.limit_usd = posted.get("limit_usd", state.limit_usd)
        state.used_cents = posted.get("used_cents", state.used_cents)
        state.strict = bool(posted.get("strict", state.strict))
        state.refuse_chunked = bool(posted.get("refuse_chunked", state.refuse_chunked))
    elif name == "recorded" and len(parts) == 2:
        state.recorded(parts[1])
        model = request.query.get("model", ["*"])[0]
        state.behaviours[model] = Behaviour(recorded=parts[1])
    else:
        raise FileNotFoundError(request.path)
    return {"ok": True}


async def ask(state: State, name: str, request: Request) -> Any:
    query = {key: values[0] for key, values in request.query.items()}
    if name == "health":
        return {"ok": True}
    if name == "problems":
        return state.problems
    if name == "requests":
        first = int(query.get("from", "0"))
        return [seen.as_json() for seen in state.seen if seen.number >= first]
    if name == "charges":
        return [
            {"number": seen.number, "model": seen.model, "charged": seen.charged}
            for seen in state.seen
            if seen.charged is not None
        ]
    if name == "wait":
        return await wait(state, query)
    raise FileNotFoundError(request.path)


async def wait(state: State, query: dict[str, str]) -> Any:
    """Waits until enough requests were seen; with finished=1 until they have ended too."""
    count = int(query.get("count", "1"))
    finished = query.get("finished") == "1"

    def enough() -> bool:
        ended = [seen for seen in state.seen if not finished or seen.finished_at is not None]
        return len(ended) >= count

    async with state.changed:
        waiting = state.changed.wait_for(enough)
        try:
            await asyncio.wait_for(waiting, float(query.get("timeout", "10")))
        except asyncio.TimeoutError:
            return {"ok": False, "seen": len(state.seen)}
    return {"ok": True, "seen": len(state.seen)}
