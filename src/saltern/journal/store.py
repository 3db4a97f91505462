"""One file for each run, written by one process, append-only.

Records wait in memory until something must be durable: then all of them are written together and
synced. A run that ends without changing anything leaves a plain file of the same records.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import msgpack

from saltern.journal.folder import make_folder
from saltern.journal.form import PLAIN, SEALED, SIDES, Record, checksum, new_path, remove_key
from saltern.journal.run_seal import RunSeal
from saltern.language import numbers, secrets
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.atomic import sync_directory
from saltern.system.faults import point
from saltern.system.regular import open_regular

if TYPE_CHECKING:
    from saltern.journal.record_file import RecordFile

DEEPEST = 200  # levels of data that are kept
Saved = Sequence[tuple[int, str, bytes]]
_listener: Callable[[str, Saved], None] | None = None


def listen(listener: Callable[[str, Saved], None] | None) -> None:
    """Report all records of this process to a listener, with the path of their journal, once they are on
    disk.
    """
    global _listener
    _listener = listener


class Writer:
    """Adds records. ``sync`` makes them durable, or raises ``OperationError``: then nothing may act."""

    def __init__(self, path: str, *, resumed_at: int = 0) -> None:
        self.path = path
        self._next = resumed_at
        self._waiting: list[tuple[int, str, bytes]] = []
        self._file: RecordFile | None = None
        self._encoder = msgpack.Encoder(enc_hook=_as_text, order=None)
        self._rows: list[tuple[object, ...]] = []
        self.broken = ""  # why the journal can no longer be written
        self.writing = False  # writing is also an effect, but not one of the run
        self.seal = RunSeal(path)

    def add_row(self, row: tuple[object, ...]) -> None:
        """Add a short row; consecutive rows become one record, ``rows``."""
        self._rows.append(row)

    def add(self, kind: str, body: object) -> None:
        self._gather()
        if secrets.known():
            body, is_first = _seal_body(self.seal, body)
            if is_first:
                self._waiting.append((self._next, SEALED, self._encoder.encode({})))
                self._next += 1
        try:
            data = self._encoder.encode(body)
        except (OverflowError, TypeError, ValueError, RecursionError):
            data = self._encoder.encode(_tame(body))
        self._waiting.append((self._next, kind, data))
        self._next += 1

    @property
    def next_number(self) -> int:
        """The number of the next record."""
        return self._next

    def _gather(self) -> None:
        if self._rows:
            rows, self._rows = self._rows, []
            self.add("rows", rows)

    def sync(self) -> None:
        """Make all waiting records survive a power loss."""
        self._save(durable=True)

    def save(self) -> None:
        """Make all waiting records survive this process, which is much cheaper than ``sync``."""
        self._save(durable=False)

    def _save(self, *, durable: bool) -> None:
        """Write the waiting records. A failed write is not retried: it is unknown what is on disk."""
        if self.broken:
            raise _write_error(self.path, self.broken)
        self._gather()
        if not self._waiting or self.writing:
            return
        self.writing = True
        try:
            self._commit(durable=durable)
        finally:
            self.writing = False

    def _commit(self, *, durable: bool) -> None:
        point("journal.write")
        try:
            self.seal.keep()
            written = self._record_file().write(self._waiting, durable=durable)
        except OSError as problem:
            self.broken = problem.strerror or str(problem)
            raise _write_error(self.path, self.broken) from None
        if _listener is not None:
            _listener(self.path, self._waiting[:written])
        del self._waiting[:written]

    def _record_file(self) -> RecordFile:
        if self._file is None:
            from saltern.journal.record_file import RecordFile

            self._file = RecordFile(self.path)
        return self._file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def finish(self) -> None:
        """End the journal. If nothing had to be durable before, nothing has to be now."""
        if self._is_begun:
            self.sync()
            self._record_file().mark_over()
            remove_key(self.path)
            return
        write_plain(self.path, [(kind, body) for _, kind, body in self._waiting])
        self._waiting.clear()

    def sync_if_begun(self) -> None:
        """``sync``, if anything had to be durable before."""
        if self._is_begun:
            self.sync()

    @property
    def _is_begun(self) -> bool:
        return (self._file is not None and self._file.is_open) or self._next > len(self._waiting)

    def rewrite(self, change: Callable[[Sequence[Record]], Iterable[tuple[str, object]]]) -> None:
        """After the end of the run, replace everything written with a plain file of other records.

        If the process is killed before that, the run has all its answers, but no end.
        """
        from saltern.journal.reader import read

        self._gather()
        waiting, begun = [(kind, body) for _, kind, body in self._waiting], self._is_begun
        self._waiting.clear()
        self.close()
        kept = list(read(self.path)) if begun else []
        added = [(kind, msgpack.decode(body, strict=False)) for kind, body in waiting]
        records = kept + [Record(at, *one) for at, one in enumerate(added, len(kept))]
        encode = msgpack.Encoder(enc_hook=_as_text, order=None).encode
        write_plain(self.path, [(kind, encode(body)) for kind, body in change(records)], durable=begun)


def write_plain(path: str, records: Sequence[tuple[str, bytes]], *, durable: bool = False) -> None:
    """Replace everything written with a plain file of these records."""
    fresh = new_path(path)
    try:
        make_folder(os.path.dirname(path))
        file = open_regular(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(file, "wb") as out:
            data = msgpack.encode(records)
            out.write(PLAIN + checksum(0, "", data).to_bytes(4, "big") + data)
            if durable:
                out.flush()
                os.fsync(out.fileno())
        point("journal.plain")
        os.replace(fresh, path)
        for suffix in SIDES[1:]:
            with suppress(FileNotFoundError):
                os.remove(path + suffix)
        if durable:
            sync_directory(os.path.dirname(path))
    except OSError as problem:
        raise _write_error(path, str(problem)) from None
    point("journal.finished")


def _as_text(value: object) -> object:
    """Convert what MessagePack cannot encode: sets become lists, everything else its text."""
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    return str(value)


def _tame(value: object, depth: int = 0) -> object:
    """Convert what cannot be encoded: huge numbers, half characters, odd keys, endless data."""
    if depth > DEEPEST:
        return "…"
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, int) and not isinstance(value, bool):
        if numbers.is_too_long(value):
            return numbers.description(value)
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, Mapping):
        return {
            _tame(key, depth + 1) if isinstance(key, str | int) else str(key): _tame(inner, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [_tame(inner, depth + 1) for inner in value]
    return value


def _seal_body(seal: RunSeal, body: object) -> tuple[object, bool]:
    try:
        return seal.seal_body(body)
    except RecursionError:  # it contains itself
        return seal.seal_body(_tame(body))


def _write_error(path: str, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="journal-failed",
            what=f"the journal {path} cannot be written: {why}",
            fix="nothing more was done; free some space or repair the disk, then run `saltern resume`",
        )
    )
