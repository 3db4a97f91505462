"""The runs of this machine: their journals, the holder of the lock, and their results."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from saltern.config.settings import Settings, state_directory
from saltern.journal.folder import announce, check_owner, make_folder, remove
from saltern.journal.form import KEY, SEALED, SUFFIX, Damaged, Record, Unreadable, is_plain
from saltern.journal.journals import Journals, Wording
from saltern.journal.run_lock import Held, RunLock
from saltern.journal.run_state import RunState
from saltern.journal.store import Writer
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.keeper import KEPT, output_folder
from saltern.system.private import remove_private

if TYPE_CHECKING:
    from saltern.journal.summaries import Summary


def _unknown(jid: str, meant: str) -> Diagnostic:
    fix = meant or "`saltern runs` lists them"
    return Diagnostic(code="run-unknown", what=f"no run is called {jid!r}", fix=fix)


WORDING = Wording(
    suffix=SUFFIX,
    unknown=_unknown,
    title="run {name}",
    unreadable="{path} was left as it is",
    damaged="nothing of it is run again; check what it has done. `saltern resume {name}` moves it aside",
    set_aside="it was moved aside to {aside}; check what the run has done, then apply the states again",
    no_folder="runs cannot be recorded",
)


class Runs:
    """The journals of runs, and the traces of their programs.

    ``opens``: secrets in them are opened, to resume a run; otherwise they are masked. ``lock``: only one run
    at a time on this machine.
    """

    def __init__(self, settings: Settings, *, opens: bool = False) -> None:
        base = state_directory(settings)
        self.folder = os.path.join(base, "runs")
        lock = os.path.join(base, "lock")
        check_owner(base, self.folder, lock)
        self._opens = opens
        self._journals = Journals(self.folder, WORDING, self._fold_records, keep=settings.keep_runs)
        self.lock = RunLock(lock, self._journals, settings.salt_minion)

    def path(self, jid: str) -> str:
        return self._journals.path(jid)

    def kept_folder(self, jid: str) -> str:
        """The folder with the traces of a run's programs, while it is not over."""
        return os.path.join(self.folder, jid + KEPT)

    def writer(self, jid: str, *, resumed_at: int = 0) -> Writer:
        return Writer(self.path(jid), resumed_at=resumed_at)

    def announce(self, jid: str) -> None:
        """Write the mark of a run that has written nothing yet, durable."""
        try:
            make_folder(self.folder)
            announce(self.path(jid))
        except OSError as problem:
            raise self._journals.no_folder(self.folder, problem) from None

    def withdraw(self, jid: str) -> None:
        """Remove the mark of an announced run that does not begin."""
        if not os.path.lexists(self.path(jid)):
            remove(self.path(jid))

    def jids(self) -> list[str]:
        """The numbers of all runs, the newest first."""
        return self._journals.names()

    def state(self, jid: str) -> RunState:
        """The state from the journal. Damage is an error; nothing is moved."""
        return self._journals.load(jid)

    def _fold_records(self, jid: str, records: list[Record]) -> RunState:
        from saltern.journal.fold import fold

        if any(record.kind == SEALED for record in records):
            from saltern.journal import seal

            try:
                over = not self._opens or fold(records).is_over
                records = seal.masked_records(records) if over else seal.open_records(records, self.path(jid))
            except seal.KeyLost:
                raise Unreadable(f"it has secrets, and their key {self.path(jid)}{KEY} is lost") from None
        return fold(records)

    def is_damaged(self, jid: str) -> bool:
        return self._journals.is_damaged(jid)

    def put_aside(self, jid: str) -> None:
        """Move a damaged journal and the traces of its programs aside: it stays listed, and is not
        resumed.
        """
        if not self._journals.set_aside(jid):
            return
        try:
            if os.path.isdir(self.kept_folder(jid)):
                os.replace(self.kept_folder(jid), self._journals.aside_path(jid) + KEPT)
        except OSError as problem:
            what = f"the data about the programs of run {jid} cannot be moved aside: {problem.strerror}"
            raise OperationError(Diagnostic(code="journal-damaged", what=what)) from None

    def summaries(self) -> Iterator[Summary]:
        """A summary of each run, the newest first."""
        from saltern.journal.summaries import Summary, summary

        holder, last = self.lock.holder(), self.lock.last_holder()
        for jid in self.jids():
            try:
                state = self._journals.read(jid)
                if not state.records and not os.path.lexists(self.path(jid)):
                    continue  # it was announced but never began
                running = holder is not None and holder.jid == jid and holder.is_alive
                signed = last if last.jid == jid else Held()
                yield summary(jid, state, running=running, started=signed.started, asked=signed.asked)
            except Damaged:
                yield Summary(jid=jid, status="damaged")
            except Unreadable:
                yield Summary(jid=jid, status="unreadable")

    def prune(self) -> None:
        """Remove the oldest runs, but never one that could still be resumed."""
        self._journals.prune(self._remove_if_over)

    def _remove_if_over(self, jid: str) -> None:
        if self._journals.is_aside(jid):
            aside = self._journals.aside_path(jid)
            remove(aside)
            remove_private(aside + KEPT)
        elif _is_over(self.path(jid)):
            remove(self.path(jid))
            remove_private(self.kept_folder(jid))
        else:
            return
        remove_private(output_folder(self.kept_folder(jid)))


def _is_over(path: str) -> bool:
    """True if a run is over; found without reading the journal where possible: every run checks many old
    runs.
    """
    if os.path.lexists(path) and is_plain(path):
        return True  # a plain file is written when a run has ended
    if os.path.exists(f"{path}-wal"):
        return False  # its writer was killed
    from saltern.journal.fold import fold
    from saltern.journal.reader import is_marked_over, read_last

    if is_marked_over(path):
        return True
    last = read_last(path)
    if last is None or last.kind in ("run", "sources"):
        return True  # it broke before it had a plan
    return fold([last]).is_over  # nothing is written after a run has ended
