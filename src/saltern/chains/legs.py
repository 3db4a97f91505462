"""The legs of this machine: each has a journal, and only one runs at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from saltern.chains.compile import plan_for
from saltern.chains.document import Chain, read_chain
from saltern.chains.inputs import secret_names
from saltern.chains.leg import LegState, fold
from saltern.chains.leg_lock import LegLock
from saltern.chains.order_files import OrderFiles
from saltern.chains.reserve import Reserve
from saltern.chains.statuses import OVER
from saltern.config.settings import Settings, state_directory
from saltern.journal.folder import check_owner, remove
from saltern.journal.form import KEY, SEALED, Record, Unreadable, age
from saltern.journal.journals import Journals, Wording
from saltern.journal.store import Writer
from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import clock, reboot
from saltern.system.faults import point

REVISED = "revised"  # a record: other inputs for the remaining actions
UNKNOWN = frozenset({"journal-damaged", "journal-unreadable"})


def _unknown(leg: str, meant: str) -> Diagnostic:
    fix = meant or "`saltern chain status` lists them"
    return Diagnostic(code="chain-unknown", what=f"no run of a chain is called {leg!r}", fix=fix)


WORDING = Wording(
    suffix=".leg",
    unknown=_unknown,
    title="{name}",
    damaged="check what was done; `saltern chain resume {name}` moves the journal aside, and runs nothing",
    set_aside="it was moved aside to {aside}; check what was done, then remove it",
    no_folder="chains cannot be recorded",
)


class KnownLeg(Struct, frozen=True):
    """A leg: its request and its state."""

    id: str
    head: Mapping[str, Any]
    state: LegState


class Legs:
    """The journals of legs, their orders, the lock of the running one, and the reserve of disk space."""

    def __init__(self, settings: Settings) -> None:
        self.folder = os.path.join(state_directory(settings), "chains")
        check_owner(state_directory(settings), self.folder)
        self.journals = Journals(self.folder, WORDING, self._read, keep=settings.keep_runs)
        self.orders = OrderFiles(self.folder)
        self.reserve = Reserve(self.folder)
        self.lock = LegLock(self.folder, self.journals)

    def path(self, leg: str) -> str:
        return self.journals.path(leg)

    def segment_path(self, leg: str, segment: str) -> str:
        """The path of a segment's SLS while it is applied."""
        return os.path.join(self.folder, leg, f"{segment}.sls")

    def ids(self) -> list[str]:
        """The IDs of all legs, newest first."""
        return self.journals.names()

    def load(self, leg: str) -> KnownLeg:
        """Read a leg. Raises if its journal is damaged, and does not move it."""
        return self.journals.load(leg)

    def _read(self, leg: str, records: list[Record]) -> KnownLeg:
        """The leg of these records. Secret inputs are decrypted, since the leg needs them until its end."""
        if any(record.kind == SEALED for record in records):
            from saltern.journal import seal

            try:
                records = seal.open_records(records, self.path(leg))
            except seal.KeyLost:
                raise Unreadable(f"it has secrets, and their key {self.path(leg)}{KEY} is lost") from None
        return _leg_from(leg, [record for record in records if record.kind != SEALED])

    def put_aside(self, leg: str) -> None:
        """Move a damaged journal aside: it stays listed, and is not resumed. The caller must hold the
        lock.
        """
        try:
            damaged = self.journals.is_damaged(leg)
        except OperationError:
            return  # it was never accepted
        if damaged:
            self.journals.set_aside(leg)

    def all(self) -> Iterator[KnownLeg]:
        """The legs, newest first, without those that were never accepted or cannot be read."""
        for _, found in self.looked_at():
            if isinstance(found, KnownLeg):
                yield found

    def looked_at(self) -> Iterator[tuple[str, KnownLeg | OperationError]]:
        """Each ID with its leg, or with the reason why it cannot be read."""
        for leg in self.ids():
            try:
                yield leg, self.load(leg)
            except OperationError as problem:
                yield leg, problem

    def unknown(self) -> dict[str, OperationError]:
        """The legs that cannot be read, so that it is unknown what they have done."""
        return {
            leg: found
            for leg, found in self.looked_at()
            if isinstance(found, OperationError) and found.diagnostics[0].code in UNKNOWN
        }

    def newest_unknown(self) -> list[str]:
        """The newest leg, if it cannot be read: it may be running."""
        return [leg for leg in self.unknown() if leg == self.ids()[0]]

    def unfinished_legs(self) -> list[str]:
        return [one.id for one in self.all() if one.state.status not in OVER]

    def prune(self) -> None:
        """Remove the oldest legs that are over."""
        self.journals.prune(self._remove_if_over)

    def _remove_if_over(self, leg: str) -> None:
        import shutil

        try:
            over = self.load(leg).state.status in OVER
        except OperationError as problem:
            over = problem.diagnostics[0].code == "chain-unknown"  # it was never accepted
        if over:
            remove(self.path(leg))
            shutil.rmtree(os.path.join(self.folder, leg), ignore_errors=True)

    def ahead_of(self, leg: str) -> list[str]:
        """The legs that are not over and were accepted before this one, the oldest first."""
        return [one for one in reversed(self.unfinished_legs()) if age(one) < age(leg)]


class Journal:
    """The journal of one leg, written by the process that has the lock. A record is on disk when ``add``
    returns.

    It is open only while it is written: if the same process read and closed a file that it has open, SQLite
    would lose its locks.
    """

    def __init__(self, legs: Legs, leg: str, records: int = 0) -> None:
        self._reserve, self._path, self._next = legs.reserve, legs.path(leg), records

    def add(self, kind: str, /, **body: object) -> None:
        """Add a record. On a full disk, the reserve is freed to make room for it."""
        point(f"chain.{kind}")
        machine = reboot.current()
        now = {"tick": machine.tick(), "wall": clock.now(), "boot": "|".join(machine.identity().values())}
        whole = {**body, **now}
        try:
            self._write(kind, whole)
        except OperationError:
            if not (self._reserve.is_disk_full() and self._reserve.give_up()):
                raise  # other failures are not tried again: it is unknown what is on the disk
            self._write(kind, whole)
        point(f"chain.{kind}.synced")

    def _write(self, kind: str, body: Mapping[str, object]) -> None:
        writer = Writer(self._path, resumed_at=self._next)
        writer.add(kind, body)
        try:
            writer.sync()
        finally:
            writer.close()
        self._next = writer.next_number


def read_secretly(text: str, file: str, inputs: Mapping[str, Any]) -> Chain:
    """Read a chain with its inputs, and mask the secret ones in everything that this process writes."""
    chain = read_chain(text, file, inputs)
    secrets.add([chain.values[name] for name in secret_names(chain.inputs) if name in chain.values])
    return chain


def _revision(record: Record) -> Mapping[str, Any]:
    """The changes of a controller or an operator to the request."""
    body: Any = record.body
    return {name: body[name] for name in ("pillar", "plan_sha256", "revision")}


def _leg_from(leg: str, records: list[Record]) -> KnownLeg:
    """The leg of these records. Raises if the first one is missing: then nothing was done."""
    if not records:
        what = f"{leg} was never accepted: nothing was done"
        raise OperationError(Diagnostic(code="chain-unknown", what=what, fix="run the chain again"))
    first: Any = records[0].body
    head = {**first, **next((_revision(one) for one in reversed(records) if one.kind == REVISED), {})}
    chain = read_secretly(head["text"], head["file"], head.get("pillar") or {})
    plan = plan_for(chain, head["system"], wary=bool(head.get("owner")))
    return KnownLeg(leg, head, fold(plan, records))
