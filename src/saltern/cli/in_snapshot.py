"""The process that applies states in a new snapshot, which it has as its root.

``python -m saltern.cli.in_snapshot``. What to apply comes as JSON on standard input; each result is a marked
line on standard output. See ``snapshot_states.py`` of ``modules/lib/boots``.
"""

from __future__ import annotations

import sys

from msgspec import json

from saltern.cli.main import run_guarded
from saltern.cli.output import exit_code
from saltern.config.settings import Settings
from saltern.durable.head import restore_session
from saltern.engine.apply import apply
from saltern.engine.request import Request
from saltern.language.events import Answer, ChunkFinished, Event
from saltern.modules.lib.boots.snapshot_states import END, STATE, Task, Wanted
from saltern.modules.lib.engines.drive import MARK


def main() -> int:
    """Apply what is asked for; the exit code of ``saltern apply``."""
    task = json.decode(sys.stdin.buffer.read(), type=Task)
    return run_guarded(lambda: _apply(task))


def _apply(task: Task) -> int:
    session = restore_session(Settings(), task.settings, task.wanted.pillar)
    session.pillar_compiler.compiled = task.known
    report = apply(session, _request(task.wanted), Results().hear)
    _say({"event": END})
    return exit_code(report)


def _request(wanted: Wanted) -> Request:
    options = {key: value for key, value in wanted.options().items() if key != "pillar"}
    return Request(sls=wanted.sls, **options)  # type: ignore[arg-type]


class Results:
    """Reports each state with the steps that it has reported itself."""

    def __init__(self) -> None:
        self._steps: dict[int, list[dict[str, object]]] = {}  # of states that have not ended yet

    def hear(self, event: Event) -> None:
        if not isinstance(event, ChunkFinished):
            return
        answer = event.answer
        made = entry(answer, self._steps.pop(answer.number, []))
        if answer.sub:
            self._steps.setdefault(answer.under, []).append(made)
        else:
            _say({"event": STATE, "entry": made})


def entry(answer: Answer, steps: list[dict[str, object]]) -> dict[str, object]:
    """One result in the step format."""
    chunk, result = answer.chunk, answer.result
    return {
        "low": {"state": chunk.state, "fun": chunk.fun, "__id__": chunk.id, "name": chunk.name},
        "result": result.outcome.value,
        "comment": result.comment,
        "changes": result.changes,
        "data": result.data,
        "warnings": list(result.warnings),
        "ran": result.ran,
        "start_time": answer.started,
        "sub_state_run": steps,
        **({"duration": answer.took} if answer.timed else {}),
    }


def _say(event: dict[str, object]) -> None:
    sys.stdout.buffer.write(MARK + json.encode(event, enc_hook=str) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
