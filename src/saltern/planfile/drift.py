"""How much this machine differs from its states, and since when.

A comparison is a test run. Its result is kept beside the journals of runs, so that the next comparison knows
since when each state has differed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from msgspec import DecodeError, Struct, ValidationError, json

from saltern.config.settings import Settings, state_directory
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.forecast import KEEP, Foreseen
from saltern.system import files
from saltern.system.private import make_private
from saltern.system.regular import read_regular

FILE = "drift.json"


class Different(Struct, frozen=True, kw_only=True):
    """One state that differs. ``since`` is when a comparison first found it so."""

    tag: str
    kind: str
    function: str
    id: str
    where: str
    since: float
    comment: str = ""


class Drift(Struct, frozen=True, kw_only=True):
    """The result of one comparison. ``asked`` is what was compared: SLS names, or the highstate."""

    at: float
    asked: str
    states: int
    different: list[Different]


def compare(rows: Iterable[Foreseen], before: Mapping[str, float], *, asked: str, now: float) -> Drift:
    """The current result; ``before`` has since when each state was known to differ."""
    found = [row for row in rows if not row.sub]
    different = [
        Different(
            tag=row.tag,
            kind=row.kind,
            function=row.function,
            id=row.id,
            where=row.where,
            since=min(before.get(row.tag, now), now),
            comment=row.comment,
        )
        for row in found
        if row.kind != KEEP
    ]
    return Drift(at=now, asked=asked, states=len(found), different=different)


def known_since(last: Drift | None, asked: str) -> dict[str, float]:
    """Since when states differ, from the last comparison of the same files."""
    return {one.tag: one.since for one in last.different} if last and last.asked == asked else {}


def load(settings: Settings) -> Drift | None:
    """The last result; None if there is none, or if its file cannot be read."""
    try:
        return json.decode(read_regular(os.path.join(state_directory(settings), FILE)), type=Drift)
    except (OSError, ValidationError, DecodeError):
        return None


def save(settings: Settings, drift: Drift) -> None:
    folder = state_directory(settings)
    try:
        make_private(folder)
        files.write(os.path.join(folder, FILE), json.encode(drift) + b"\n", files.Attributes(mode=0o600))
    except OSError as problem:
        what = f"the result cannot be saved in {folder!r}: {problem.strerror or problem}"
        raise OperationError(Diagnostic(code="drift-unwritable", what=what, fix="set state_dir")) from None
