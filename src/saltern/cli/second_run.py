"""``--check-idempotent``: find states that change something again in a second run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.result import Outcome

if TYPE_CHECKING:
    from saltern.engine.session import Session
    from saltern.language.events import Answer, Report


def is_idempotent(args: SimpleNamespace, engine: Session, run: Callable[[], Report]) -> bool:
    """Apply once more, and report each state on stderr that changed something or failed."""
    if engine.settings.test:
        what = "--check-idempotent applies twice, and a test run applies nothing"
        raise OperationError(Diagnostic(code="idempotence-untested", what=what, fix="leave out --test"))
    with redirect_stdout(sys.stderr):
        report = run()
    moved = [one for one in report.answers if one.result.changes or one.result.outcome is Outcome.FAILED]
    if moved:
        from saltern.report.colours import wanted
        from saltern.report.diagnostics import show

        show(
            [_diagnostic(engine, answer) for answer in moved],
            sys.stderr,
            colour=wanted(sys.stderr, args.color),
        )
        number = "1 state is" if len(moved) == 1 else f"{len(moved)} states are"
        print(f"saltern: {number} not idempotent", file=sys.stderr)
    else:
        print("saltern: idempotent, the second run changed nothing", file=sys.stderr)
    return not moved


def _diagnostic(engine: Session, answer: Answer) -> Diagnostic:
    chunk, result = answer.chunk, answer.result
    how = f"changed {', '.join(map(str, result.changes))} again" if result.changes else "failed"
    why = f": {result.comment}" if result.outcome is Outcome.FAILED else ""
    return Diagnostic(
        code="not-idempotent",
        what=f"the second run of {chunk.function} {answer.path!r} {how}{why}",
        where=chunk.mark(),
        fix=engine.registry.nature(chunk.state, chunk.fun).advice,
    )
