"""Problems as shown to users: what, where, and how to fix it.

The error classes::

    SalternError
      CompileError      the states are wrong; nothing was run
        PillarError     the pillar is wrong; nothing was run
      OperationError    the environment failed: missing directory, invalid option, full disk
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    """The base of all errors that saltern raises on purpose."""

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
    """The environment failed."""


class Diagnostics:
    """Collects problems, so that all problems of a stage are shown together."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._hidden: dict[str, str] = {}

    def conceal(self, known: Mapping[str, str]) -> None:
        """Replace these names in all problems, earlier and later ones, with what ``known`` maps them to."""
        self._hidden |= {name: label for name, label in known.items() if len(name) > 2 and name != label}
        self._found = [self._relabel(one) for one in self._found]

    def _relabel(self, one: Diagnostic) -> Diagnostic:
        if not self._hidden:
            return one
        from msgspec.structs import replace

        also = tuple((self._relabel_text(text), mark) for text, mark in one.also)
        what, fix, detail = map(self._relabel_text, (one.what, one.fix, one.detail))
        return replace(one, what=what, fix=fix, detail=detail, also=also)

    def _relabel_text(self, text: str) -> str:
        import re

        names = "|".join(map(re.escape, sorted(self._hidden, key=len, reverse=True)))
        return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda found: self._hidden[found[0]], text)

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
        made = Diagnostic(code=code, what=what, where=where, fix=fix, also=also, detail=detail)
        self._found.append(self._relabel(made))

    def warn(
        self,
        code: str,
        what: str,
        *,
        where: Mark | None = None,
        fix: str = "",
        also: tuple[tuple[str, Mark], ...] = (),
    ) -> None:
        made = Diagnostic(severity=Severity.WARNING, code=code, what=what, where=where, fix=fix, also=also)
        self._found.append(self._relabel(made))

    def add(self, problems: Iterable[Diagnostic]) -> None:
        self._found.extend(map(self._relabel, problems))

    @property
    def errors(self) -> list[Diagnostic]:
        return [found for found in self._found if found.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[Diagnostic]:
        return [found for found in self._found if found.severity is Severity.WARNING]

    def check(self) -> None:
        """Raise all errors together, if there are any."""
        if errors := self.errors:
            raise CompileError(*sorted(set(errors), key=_place))


def _place(found: Diagnostic) -> tuple[str, int, int, str, str]:
    mark = found.where or Mark("")
    return (mark.file, mark.line, mark.column, found.code, found.what)


def words_of(problem: BaseException) -> str:
    """The text of an exception, even if it cannot be printed."""
    try:
        return str(problem) or type(problem).__name__
    except Exception:
        return f"{type(problem).__name__} (it cannot be printed)"


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?``; empty if no known word is similar."""
    from difflib import get_close_matches

    close = get_close_matches(given, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else ""
