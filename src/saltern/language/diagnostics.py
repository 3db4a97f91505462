"""Problems, as the user reads them: what, where, and how to fix it.

The family of errors::

    SalternError
      CompileError      the states are wrong; nothing was run
        PillarError     the pillar is wrong; nothing was run
      OperationError    the surroundings failed: no such directory, bad option, disk full
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct

from saltern.language.source import Mark


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


class Diagnostic(Struct, frozen=True, kw_only=True):
    """One problem. ``code`` is a stable slug with a page in the docs."""

    severity: Severity = Severity.ERROR
    code: str
    what: str
    where: Mark | None = None
    fix: str = ""
    also: tuple[tuple[str, Mark], ...] = ()
    detail: str = ""

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what} [{self.code}]" if self.where else f"{self.what} [{self.code}]"]
        lines += [f"  {line}" for line in self.detail.splitlines()]
        lines += [f"  {note}: {mark}" for note, mark in self.also]
        if self.fix:
            lines.append(f"  fix: {self.fix}")
        return "\n".join(lines)


class SalternError(Exception):
    """Base of every error saltern raises on purpose."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


class CompileError(SalternError):
    """The states are wrong; nothing was run."""


class PillarError(CompileError):
    """The pillar is wrong; nothing was run."""


class ChainError(CompileError):
    """The chain file is wrong; nothing was run."""


class OperationError(SalternError):
    """The surroundings failed."""


class Diagnostics:
    """Collects problems so that one compile shows all of a stage."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def error(
        self,
        code: str,
        what: str,
        *,
        where: Mark | None = None,
        fix: str = "",
        also: tuple[tuple[str, Mark], ...] = (),
        detail: str = "",
    ) -> None:
        self._found.append(Diagnostic(code=code, what=what, where=where, fix=fix, also=also, detail=detail))

    def warn(
        self,
        code: str,
        what: str,
        *,
        where: Mark | None = None,
        fix: str = "",
        also: tuple[tuple[str, Mark], ...] = (),
    ) -> None:
        self._found.append(
            Diagnostic(severity=Severity.WARNING, code=code, what=what, where=where, fix=fix, also=also)
        )

    def add(self, problems: Iterable[Diagnostic]) -> None:
        self._found.extend(problems)

    @property
    def errors(self) -> list[Diagnostic]:
        return [found for found in self._found if found.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[Diagnostic]:
        return [found for found in self._found if found.severity is Severity.WARNING]

    def check(self) -> None:
        """End the stage here if it found an error; all of them travel together."""
        if errors := self.errors:
            raise CompileError(*sorted(set(errors), key=_place))


def _place(found: Diagnostic) -> tuple[str, int, int, str, str]:
    mark = found.where or Mark("")
    return (mark.file, mark.line, mark.column, found.code, found.what)


def words_of(problem: BaseException) -> str:
    """What an exception says of itself, if it can."""
    try:
        return str(problem) or type(problem).__name__
    except Exception:
        return f"{type(problem).__name__} (it cannot be printed)"


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?``, or nothing when no known word is near."""
    from difflib import get_close_matches

    close = get_close_matches(given, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else ""
