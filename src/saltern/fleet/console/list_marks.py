"""How a list detects changes: by the names of its rows and their appearance. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from saltern.fleet.console.row import Data


def run_marks(runs: Iterable[Data]) -> list[tuple[str, object]]:
    return [(one["run"], one["status"]) for one in runs]


def job_marks(jobs: Iterable[Data]) -> list[tuple[str, object]]:
    return [(one["jid"], one["ended"] is None) for one in jobs]


def mark_of(rows: Iterable[tuple[str, object]]) -> Data:
    """The names of the rows, which a page compares with its own, and everything else that changes their
    appearance.
    """
    found = list(rows)
    return {"names": " ".join(name for name, _ in found), "sign": " ".join(str(sign) for _, sign in found)}
