"""Locks: only one leg at a time runs on this machine, and only one is accepted at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from saltern.journal.journals import Journals
from saltern.journal.lock_file import LockFile, lock_of_legs, sign, take, text_of
from saltern.language.diagnostics import Diagnostic, OperationError

ACCEPT = 120.0  # seconds to wait for other processes to accept their legs


class LegLock:
    """The lock of the legs in ``folder``; it contains the name of the leg that holds it."""

    def __init__(self, folder: str, journals: Journals[Any]) -> None:
        self._folder, self._journals = folder, journals
        self._file = lock_of_legs(os.path.dirname(folder))

    def holder(self) -> str:
        """The leg that a process is running; empty if there is none."""
        text = self._file.holder()
        return "" if text is None else text.decode(errors="replace") or "of unknown number"

    @contextmanager
    def hold_for_accepting(self) -> Iterator[None]:
        """Hold the lock for accepting a leg. That takes little time, so others wait for it."""
        try:
            file = LockFile(os.path.join(self._folder, "accept")).open()
        except OSError as problem:
            raise self._journals.no_folder(self._folder, problem) from None
        try:
            take(file, ACCEPT)
            yield
        finally:
            os.close(file)

    @contextmanager
    def hold(self, leg: str, wait: float = 0.0) -> Iterator[None]:
        """Hold the lock of the legs. Raises ``OperationError`` with the name of the running leg if it
        keeps the lock for ``wait`` seconds."""
        try:
            file = self._file.open()
        except OSError as problem:
            raise self._journals.no_folder(self._file.path, problem) from None
        try:
            _take(file, wait)
            sign(file, leg.encode())
            yield
        finally:
            os.close(file)


def _take(file: int, wait: float) -> None:
    try:
        take(file, wait)
    except BlockingIOError:
        who = text_of(file).decode(errors="replace")
        what = f"a chain is running on this machine: {who or 'of unknown number'}"
        fix = "wait for it, or end it with `saltern chain cancel`"
        raise OperationError(Diagnostic(code="chain-busy", what=what, fix=fix)) from None
