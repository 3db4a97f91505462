"""The legs of this machine: one journal each, one at work at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import Struct

from saltern.chains.compile import plan_for
from saltern.chains.document import read_chain
from saltern.chains.leg import LegState, fold
from saltern.chains.statuses import OVER
from saltern.config.settings import Settings, state_directory
from saltern.journal.form import ASIDE, Damaged, Record, Unreadable, is_aside, names_in
from saltern.journal.reader import quarantine, read, remove
from saltern.journal.store import Writer, check_owner, make_folder
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.system import atomic, lock, reboot
from saltern.system.faults import point
from saltern.system.run_numbers import run_number

SUFFIX = ".leg"
UNKNOWN = frozenset({"journal-damaged", "journal-unreadable"})
RESERVE = 1 << 20  # bytes
LITTLE = 1 << 18  # of room: less is a full disk


class Known(Struct, frozen=True):
    """A leg: what was asked for, and what came of it."""

    id: str
    head: Mapping[str, Any]
    state: LegState


class Legs:
    def __init__(self, settings: Settings) -> None:
        self.folder = os.path.join(state_directory(settings), "chains")
        check_owner(state_directory(settings), self.folder)
        self._keep = settings.keep_runs

    def path(self, leg: str) -> str:
        return os.path.join(self.folder, leg + SUFFIX)

    def chunk_path(self, leg: str, chunk: str) -> str:
        """Where a chunk lies while it is applied."""
        return os.path.join(self.folder, leg, f"{chunk}.sls")

    def ids(self) -> list[str]:
        """All, the newest first."""
        return names_in(self.folder, SUFFIX)

    def new(self, now: float) -> str:
        """The name of a leg that begins now, later than all there are."""
        last = next(iter(self.ids()), "")
        return run_number(now, last if last.isdigit() else "")

    def known(self, leg: str) -> Known:
        """What the journal says. That it is damaged is an error; nothing is moved."""
        if leg not in self.ids():
            fix = did_you_mean(leg, self.ids()) or "`saltern chain status` lists them"
            raise OperationError(
                Diagnostic(code="chain-unknown", what=f"no run of a chain is called {leg!r}", fix=fix)
            )
        try:
            return self._read(leg)
        except Unreadable as problem:
            what = f"the journal of {leg} cannot be read: {problem}"
            raise OperationError(Diagnostic(code="journal-unreadable", what=what)) from None
        except Damaged as problem:
            what = f"the journal of {leg} is damaged: {problem}"
            fix = f"look at what was done; `saltern chain resume {leg}` puts it aside, and runs nothing of it"
            if self.is_aside(leg):
                fix = f"it was put aside as {self.path(leg) + ASIDE}; look at what was done, then remove it"
            raise OperationError(Diagnostic(code="journal-damaged", what=what, fix=fix)) from None

    def _read(self, leg: str) -> Known:
        if self.is_aside(leg):
            raise Damaged("it could not be read to its end")
        try:
            return _known(leg, read(self.path(leg)))
        except (KeyError, TypeError, ValueError) as problem:
            raise Damaged(f"its records are inconsistent: {problem!r}") from None

    def is_aside(self, leg: str) -> bool:
        return is_aside(self.path(leg))

    def put_aside(self, leg: str) -> None:
        """If it is damaged: it stays listed, and is not resumed. The caller must hold the lock."""
        try:
            self._read(leg)
        except Damaged:
            if not self.is_aside(leg):
                quarantine(self.path(leg))
        except (Unreadable, OperationError):
            return

    def all(self) -> Iterator[Known]:
        """The newest first; those that were never accepted, or cannot be read, are left out."""
        for _, found in self.looked_at():
            if isinstance(found, Known):
                yield found

    def looked_at(self) -> Iterator[tuple[str, Known | OperationError]]:
        """Each with what is known of it, or why that is not known."""
        for leg in self.ids():
            try:
                yield leg, self.known(leg)
            except OperationError as problem:
                yield leg, problem

    def unknown(self) -> dict[str, OperationError]:
        """Those of which it is not known what they have done."""
        return {
            leg: found
            for leg, found in self.looked_at()
            if isinstance(found, OperationError) and found.diagnostics[0].code in UNKNOWN
        }

    def newest_unknown(self) -> list[str]:
        """The last of all, if it cannot be read: it may be under way."""
        return [leg for leg in self.unknown() if leg == self.ids()[0]]

    def unfinished(self) -> list[str]:
        return [one.id for one in self.all() if one.state.status not in OVER]

    def prune(self) -> None:
        """The oldest that are over go."""
        import shutil

        for leg in self.ids()[self._keep :]:
            try:
                over = self.known(leg).state.status in OVER
            except OperationError as problem:
                over = problem.diagnostics[0].code == "chain-unknown"  # it was never accepted
            if over:
                remove(self.path(leg))
                shutil.rmtree(os.path.join(self.folder, leg), ignore_errors=True)

    # -- one at a time -----------------------------------------------------------------------------

    def holder(self) -> str:
        """The leg that is at work in some process; empty if none is."""
        try:
            file = os.open(os.path.join(self.folder, "lock"), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            who = os.pread(file, 4096, 0).decode(errors="replace") or "of unknown number"
            return who if lock.is_held(file) else ""
        finally:
            os.close(file)

    @contextmanager
    def locked(self, leg: str) -> Iterator[None]:
        make_folder(self.folder)
        file = os.open(os.path.join(self.folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _take(file)
            os.ftruncate(file, 0)
            os.pwrite(file, leg.encode(), 0)
            yield
        finally:
            os.close(file)

    # -- an order to a leg that is at work -----------------------------------------------------------

    def order(self, leg: str, word: str, reason: str) -> None:
        """``cancel`` or ``pause``: its process looks before every step. Written whole or not at all."""
        atomic.write(self._order(leg, word), reason.encode())

    def ordered(self, leg: str, word: str) -> str:
        """The reason that was given; empty if there is no such order."""
        try:
            with open(self._order(leg, word), encoding="utf-8", errors="replace") as file:
                return file.read() or word
        except FileNotFoundError:
            return ""

    def cancel_ordered(self, leg: str) -> str:
        return self.ordered(leg, "cancel")

    def order_done(self, leg: str, *words: str) -> None:
        for word in words:
            with suppress(FileNotFoundError):
                os.remove(self._order(leg, word))

    def _order(self, leg: str, word: str) -> str:
        return os.path.join(self.folder, f"{leg}.{word}")

    # -- room for the last words ---------------------------------------------------------------------

    def reserve(self) -> None:
        """Reserve room on the disk, so that how a leg ended can be written to a full one."""
        with suppress(OSError):
            file = os.open(self._reserve, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(file, 0, RESERVE)
            finally:
                os.close(file)

    def is_full(self) -> bool:
        """SQLite has many words for that; the disk has one."""
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize < LITTLE

    def give_room(self) -> bool:
        """Whether there was a reserve; it is gone now."""
        try:
            os.remove(self._reserve)
        except OSError:
            return False
        return True

    @property
    def _reserve(self) -> str:
        return os.path.join(self.folder, "reserve")


class Journal:
    """One leg, written by the one process that has the lock. What is added is on disk at once.

    It is open only while it is written: a process that reads a file which it has open, and closes it,
    takes SQLite's locks away from under it.
    """

    def __init__(self, legs: Legs, leg: str, records: int = 0) -> None:
        self._legs, self._path, self._next = legs, legs.path(leg), records

    def add(self, kind: str, /, **body: object) -> None:
        """A full disk gets the reserve back, and the record is written to that."""
        point(f"chain.{kind}")
        machine = reboot.current()
        whole = {**body, "tick": machine.tick(), "boot": "|".join(machine.identity().values())}
        try:
            self._write(kind, whole)
        except OperationError:
            if not (self._legs.is_full() and self._legs.give_room()):
                raise  # whatever else fails is not tried again: what of it is on the disk is not known
            self._write(kind, whole)
        self._next += 1
        point(f"chain.{kind}.synced")

    def _write(self, kind: str, body: Mapping[str, object]) -> None:
        writer = Writer(self._path, resumed_at=self._next)
        writer.add(kind, body)
        try:
            writer.sync()
        finally:
            writer.close()


def _take(file: int) -> None:
    try:
        lock.take(file)
    except BlockingIOError:
        who = os.pread(file, 4096, 0).decode(errors="replace")
        what = f"a chain is running on this machine: {who or 'of unknown number'}"
        fix = "wait for it, or end it with `saltern chain cancel`"
        raise OperationError(Diagnostic(code="chain-busy", what=what, fix=fix)) from None


def _known(leg: str, records: list[Record]) -> Known:
    """A journal without its first record is of a leg that never began: nothing was done."""
    if not records:
        what = f"{leg} was never accepted: nothing was done"
        raise OperationError(Diagnostic(code="chain-unknown", what=what, fix="run the chain again"))
    head: Any = records[0].body
    chain = read_chain(head["text"], head["file"])
    plan = plan_for(chain, head["system"], wary=bool(head.get("owner")))
    return Known(leg, head, fold(plan, records))
