"""The upstream simulator: an OpenAI-compatible provider that needs no key that costs money.

    python3 tests/simulator --port 0 --port-file FILE [--key KEY]... [--recorded DIR]

Python 3.11 or newer, nothing but the standard library. See control.py for what it can be asked.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from control import control  # noqa: E402
from dialect import Refusal  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402
from serve import provider, refuse  # noqa: E402
from sink import Sink  # noqa: E402
from state import State  # noqa: E402
from wire import BadRequest, Connection, PeerGone, Request  # noqa: E402

DEFAULT_KEY = "sk-sim-upstream-key-0001"


async def own(state: State, connection: Connection) -> None:
    """Serves the requests of one connection in turn until either side closes it."""
    state.connections += 1
    connection.number = state.connections
    half = False
    try:
        while True:
            request = await connection.read_request()
            if request is None or half:
                break
            if request.path.startswith("/_sim"):
                await control(state, connection, request)
            else:
                await provider(state, connection, request)
                half = state.seen[-1].scenario == "keep-half" if state.seen else False
            if wants_close(request):
                break
    except BadRequest as error:
        state.problems.append(str(error))
        await refuse_bytes(state, connection, str(error))
    except PeerGone:
        pass
    finally:
        connection.close()
        await state.notify()


def wants_close(request: Request) -> bool:
    wish = (request.header("connection") or "").lower()
    return wish == "close" or request.version == "HTTP/1.0"


async def refuse_bytes(state: State, connection: Connection, text: str) -> None:
    seen = state.add(Request("?", "?", "?", []), connection)
    try:
        await refuse(Sink(connection, seen), Refusal(400, text))
    except PeerGone:
        pass


async def main(options: argparse.Namespace) -> None:
    keys = frozenset(options.key or [DEFAULT_KEY])
    state = State(set(keys), keys, options.recorded)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(lambda connection: own(state, connection)),
        options.address,
        options.port,
        backlog=1024,
    )
    port = server.sockets[0].getsockname()[1]
    if options.port_file:
        temporary = options.port_file.with_suffix(".new")
        temporary.write_text(f"{port}\n")
        os.replace(temporary, options.port_file)
    print(f"simulator: ready, listening on {options.address}:{port}", flush=True)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()
    server.close()


def parse() -> argparse.Namespace:
    scenarios = "\n".join(f"  {name:18} {text}" for name, text in SCENARIOS.items())
    parser = argparse.ArgumentParser(
        prog="simulator",
        description=__doc__.split("\n")[0],
        epilog=f"scenarios:\n{scenarios}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--port-file", type=Path, help="the port is written there when ready")
    parser.add_argument("--key", action="append", help=f"accepted keys (default {DEFAULT_KEY})")
    parser.add_argument("--recorded", type=Path, help="folder of recorded exchanges")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(parse()))
