"""Find the run that a word of the command line names."""

from __future__ import annotations

from saltern.journal.runs import Runs
from saltern.language.diagnostics import Diagnostic, OperationError

LAST = "last"


def run_number(runs: Runs, word: str = LAST) -> str:
    """The number of a run; ``last`` is the newest."""
    if word != LAST:
        return word
    jids = runs.jids()
    if not jids:
        fix = "apply something first, or name the directory it was kept in: SALTERN_STATE_DIR"
        raise OperationError(Diagnostic(code="runs-none", what="there are no runs yet", fix=fix))
    return jids[0]


def given_run(words: list[str]) -> str | None:
    """The named run, or None; ``last`` counts as no name."""
    return None if not words or words[0] == LAST else words[0]
