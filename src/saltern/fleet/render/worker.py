"""The process that renders for a controller: tasks come on standard input, results leave on output.

Templates of users run here, so that one that hangs or crashes takes nothing else with it.
"""

from __future__ import annotations

import os
import sys

import msgspec

from saltern.fleet.pillar.worker import read, write
from saltern.fleet.render.task import FAILED, RenderResult, RenderTask, RunRenderers
from saltern.render.remote import Sent, SentProblem


def main() -> int:
    """Answer until the other side is gone."""
    tasks, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a template prints must not be taken for a result
    runs = RunRenderers()
    while (data := read(tasks)) is not None:
        write(results, msgspec.msgpack.encode(_result(runs, data)))
    return 0


def _result(runs: RunRenderers, data: bytes) -> RenderResult:
    try:
        return runs.answer(msgspec.msgpack.decode(data, type=RenderTask))
    except Exception as problem:  # of a template or a module: its text may hold what is secret
        what = f"rendering it failed with {type(problem).__name__}"
        sent = Sent(problems=[SentProblem(FAILED, what)])
        return RenderResult(sent=msgspec.msgpack.encode(sent), detail=what)


if __name__ == "__main__":
    sys.exit(main())
