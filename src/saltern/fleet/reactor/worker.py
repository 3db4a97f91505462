"""The process that renders reaction files for a controller: tasks come on standard input, results leave on
output.
"""

from __future__ import annotations

import sys
from functools import partial

import msgspec

from saltern.fleet.pillar.worker import answer_tasks
from saltern.fleet.reactor.forms import Wrong
from saltern.fleet.reactor.render import Renderer, RenderResult, RenderTask


def main() -> int:
    return answer_tasks(partial(_result, Renderer()))


def _result(renderer: Renderer, data: bytes) -> RenderResult:
    task = msgspec.msgpack.decode(data, type=RenderTask)
    try:
        return renderer.call(task) if task.call is not None else renderer.render(task)
    except Exception as problem:
        why = f"rendering failed with {type(problem).__name__}: {problem}"
        return RenderResult(wrong=[Wrong(line=0, why=why, source=", ".join(task.sources))], problem=why)


if __name__ == "__main__":
    sys.exit(main())
