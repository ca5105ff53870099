"""A second gateway on the same stores, with a conf of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.fcgi import FcgiClient
from harness.gateway import render
from harness.procs import Process
from harness.stack import Stack


@contextmanager
def another_gateway(
    stack: Stack, name: str, allowed: list[str] | None = None, **changes: str | int | bool
) -> Iterator[FcgiClient]:
    """`pool__workers=1` changes pool.workers; name is its node's. It must end cleanly.

    Afterwards the node is forgotten: it is gone for good, and nobody shall wait for it.
    """
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    settings = {**stack.site.settings, "node.name": name, **changed}
    conf = stack.directory / f"{name}.conf"
    conf.write_text(render(settings))
    argv = [stack.site.program("fcgi-app/tollgate-fcgi"), "--conf", str(conf)]
    process = Process(name, argv, stack.directory, env=stack.site.env)
    process.start("tollgate-fcgi: ready, listening on")
    try:
        yield FcgiClient(str(settings["listen.address"]))
        assert process.stop(90) == 0, process.tail()
        assert process.complaints(0, allowed or []) == []
    finally:
        process.kill()
        stack.site.run_ctl("node", "forget", name)
