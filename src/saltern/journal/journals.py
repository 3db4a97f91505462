"""The journals of one folder, of runs or of chains: names, reading, moving aside, pruning."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from msgspec import Struct

from saltern.journal.form import ASIDE, Damaged, Record, Unreadable, is_aside, names_in, remove_unfinished
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.system.run_numbers import later_number

INCONSISTENT = (KeyError, TypeError, ValueError, AttributeError, IndexError)

Folded = TypeVar("Folded")


class Wording(Struct, frozen=True, kw_only=True):
    """The wording of problems with one kind of journal; ``{name}``, ``{path}``, ``{aside}`` are filled in."""

    suffix: str  # of the files
    unknown: Callable[[str, str], Diagnostic]  # from a name and a suggestion
    title: str
    unreadable: str = ""  # each of these is a fix
    damaged: str
    set_aside: str
    no_folder: str


class Journals(Generic[Folded]):
    """``fold`` turns a name and its records into a state; ``keep`` journals are not pruned."""

    def __init__(
        self, folder: str, wording: Wording, fold: Callable[[str, list[Record]], Folded], *, keep: int
    ) -> None:
        self.folder = folder
        self.wording = wording
        self._fold = fold
        self._keep = keep

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name + self.wording.suffix)

    def aside_path(self, name: str) -> str:
        """The path to which a damaged journal is moved."""
        return self.path(name) + ASIDE

    def is_aside(self, name: str) -> bool:
        return is_aside(self.path(name))

    def names(self) -> list[str]:
        """All names, the newest first."""
        try:
            return names_in(self.folder, self.wording.suffix)
        except OSError as problem:
            raise self.no_folder(self.folder, problem) from None

    def next_name(self, wanted: str) -> str:
        """A name later than all existing ones, whatever the clock says."""
        last = next((name for name in self.names() if name.isdigit()), "")
        return later_number(wanted, last)

    def read(self, name: str) -> Folded:
        """The state from the journal. Raises ``Damaged`` and ``Unreadable``."""
        if self.is_aside(name):
            raise Damaged("it could not be read to its end")
        from saltern.journal.reader import read

        try:
            return self._fold(name, read(self.path(name)))
        except INCONSISTENT as problem:
            raise Damaged(f"its records are inconsistent: {problem!r}") from None

    def load(self, name: str) -> Folded:
        """The state from the journal. Damage raises an error for the user; nothing is moved."""
        words = self.wording
        if name not in self.names():
            raise OperationError(words.unknown(name, did_you_mean(name, self.names())))
        try:
            return self.read(name)
        except Unreadable as problem:
            what = self._fill_in(f"the journal of {words.title} cannot be read: ", name) + str(problem)
            fix = self._fill_in(words.unreadable, name)
            raise OperationError(Diagnostic(code="journal-unreadable", what=what, fix=fix)) from None
        except Damaged as problem:
            what = self._fill_in(f"the journal of {words.title} is damaged: ", name) + str(problem)
            fix = self._fill_in(words.set_aside if self.is_aside(name) else words.damaged, name)
            raise OperationError(Diagnostic(code="journal-damaged", what=what, fix=fix)) from None

    def _fill_in(self, text: str, name: str) -> str:
        return text.format(name=name, path=self.path(name), aside=self.aside_path(name))

    def is_damaged(self, name: str) -> bool:
        try:
            self.read(name)
        except Damaged:
            return True
        except Unreadable:
            return False
        return False

    def set_aside(self, name: str) -> bool:
        """Rename a damaged journal: it stays listed, and is not resumed. False if it is already moved."""
        if self.is_aside(name):
            return False
        from saltern.journal.reader import quarantine

        try:
            quarantine(self.path(name))
        except OSError as problem:
            what = f"the damaged journal {self.path(name)} cannot be moved aside: {problem.strerror}"
            raise OperationError(Diagnostic(code="journal-damaged", what=what)) from None
        return True

    def prune(self, remove_if_over: Callable[[str], None]) -> None:
        """Offer all but the newest for removal, and remove unfinished files; keep what cannot be read or
        removed."""
        for name in self.names()[self._keep :]:
            with suppress(Damaged, Unreadable, OSError):
                remove_if_over(name)
        with suppress(OSError):
            remove_unfinished(self.folder)

    def no_folder(self, path: str, problem: OSError) -> OperationError:
        what = f"{self.wording.no_folder}: {path}: {problem.strerror}"
        fix = "name a directory of your own: state_dir, SALTERN_STATE_DIR; or do without: --no-journal"
        return OperationError(Diagnostic(code="state-dir", what=what, fix=fix))
