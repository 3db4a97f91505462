"""The process that renders for a controller: tasks come on standard input, results leave on output.

Templates of users run here, so that one that hangs or crashes affects nothing else.
"""

from __future__ import annotations

import sys
from functools import partial

import msgspec

from saltern.fleet.pillar.worker import answer_tasks
from saltern.fleet.render.task import FAILED, RenderResult, RenderTask, RunRenderers
from saltern.render.remote import Sent, SentProblem


def main() -> int:
    return answer_tasks(partial(_result, RunRenderers()))


def _result(runs: RunRenderers, data: bytes) -> RenderResult:
    try:
        return runs.answer(msgspec.msgpack.decode(data, type=RenderTask))
    except Exception as problem:  # from a template or a module: its text may contain secrets
        what = f"rendering it failed with {type(problem).__name__}"
        sent = Sent(problems=[SentProblem(FAILED, what)])
        return RenderResult(sent=msgspec.msgpack.encode(sent), detail=what)


if __name__ == "__main__":
    sys.exit(main())
