"""What a check finds: problems, and for the mechanical ones the edit that fixes them."""

from __future__ import annotations

from collections.abc import Container

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, Diagnostics, Severity
from saltern.language.source import Mark


class Edit(Struct, frozen=True):
    """The characters of a file's text from ``start`` to ``end`` become ``text``."""

    file: str
    start: int
    end: int
    text: str


class Findings(Diagnostics):
    """The problems of all stages. ``check`` never raises, so that no stage ends early."""

    def __init__(self) -> None:
        super().__init__()
        self.edits: dict[Diagnostic, Edit] = {}

    def check(self) -> None:
        return

    def warn(
        self,
        code: str,
        what: str,
        *,
        where: Mark | None = None,
        fix: str = "",
        also: tuple[tuple[str, Mark], ...] = (),
        edit: Edit | None = None,
    ) -> None:
        """Add a problem. Rules use this, too: the table of rules and the user decide its severity."""
        problem = Diagnostic(severity=Severity.WARNING, code=code, what=what, where=where, fix=fix, also=also)
        self._found.append(problem)
        if edit is not None:
            self.edits[problem] = edit

    def take(self, other: Findings, *, without: Container[str] = ()) -> None:
        self.add(problem for problem in other if problem.code not in without)
        self.edits |= other.edits
