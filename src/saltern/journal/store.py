"""One file for each run: an SQLite database in WAL mode, written by one process, only ever added to.

Records wait in memory until something must be durable: then all of them are written in one transaction,
and synced. A run that ends without having touched anything leaves a plain file of the same records.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import msgpack
from msgspec.structs import replace

from saltern.journal.form import (
    CHAINED,
    FORMAT,
    PLAIN,
    SCHEMA,
    SIDES,
    Record,
    checksum,
    has_schema,
    identity,
    new_path,
    open_here,
)
from saltern.language import numbers
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import mark, reboot
from saltern.system.atomic import sync_directory
from saltern.system.faults import point
from saltern.system.mark import Mark
from saltern.system.ownership import foreign

if TYPE_CHECKING:
    import sqlite3

DEEPEST = 200  # levels of data that are kept


class Writer:
    """Adds records. ``sync`` makes them durable, or raises ``OperationError``: then nothing may act."""

    def __init__(self, path: str, *, resumed_at: int = 0) -> None:
        self.path = path
        self._next = resumed_at
        self._waiting: list[tuple[int, str, bytes]] = []
        self._database: sqlite3.Connection | None = None
        self._encoder = msgpack.Encoder(enc_hook=_as_text, order=None)
        self._rows: list[tuple[object, ...]] = []
        self._broken = ""
        self._level = "FULL"
        self._writing = False
        self._file = (0, 0)
        self._mark = -1
        self._marked = Mark()
        self._chained = True

    def add_row(self, row: tuple[object, ...]) -> None:
        """One of many short ones: those that follow each other become one record, ``rows``."""
        self._rows.append(row)

    def add(self, kind: str, body: object) -> None:
        self._gather()
        try:
            data = self._encoder.encode(body)
        except (OverflowError, TypeError, ValueError, RecursionError):
            data = self._encoder.encode(_tame(body))
        self._waiting.append((self._next, kind, data))
        self._next += 1

    def _gather(self) -> None:
        if self._rows:
            rows, self._rows = self._rows, []
            self.add("rows", rows)

    @property
    def broken(self) -> bool:
        return bool(self._broken)

    @property
    def writing(self) -> bool:
        """To write it down is an effect, too, but not one of the run."""
        return self._writing

    def sync(self) -> None:
        """All that waits survives a loss of power."""
        self._save(level="FULL")

    def save(self) -> None:
        """All that waits survives the end of this process, which costs a sixth of a ``sync``."""
        self._save(level="NORMAL")

    def _save(self, level: str) -> None:
        """A write that failed is not tried again: what of it is on the disk is not known."""
        if self._broken:
            raise _stopped(self.path, self._broken)
        self._gather()
        if not self._waiting or self._writing:
            return
        self._writing = True
        try:
            self._commit(level)
        finally:
            self._writing = False

    def _commit(self, level: str) -> None:
        import sqlite3

        point("journal.write")
        try:
            database = self._database or self._open()
            rows = self._with_checksums()
            if level != self._level:
                database.execute(f"PRAGMA synchronous={level}")
                self._level = level
            with database:
                # One that is there already was written right before an interrupt kept us from knowing it.
                database.executemany("INSERT OR IGNORE INTO record VALUES (?, ?, ?, ?)", rows)
                point("journal.commit")
        except (sqlite3.Error, OSError) as problem:
            self._broken = str(problem)
            raise _stopped(self.path, self._broken) from None
        point("journal.synced" if level == "FULL" else "journal.saved")
        self._set_mark(rows[-1][0] + 1, rows[-1][-1], synced=level == "FULL")
        del self._waiting[: len(rows)]

    def _with_checksums(self) -> list[tuple[int, str, bytes, int]]:
        chain, rows = self._marked.chain, []
        for row in self._waiting:
            chain = checksum(*row, chain if self._chained else 0)
            rows.append((*row, chain))
        return rows

    def _set_mark(self, written: int, chain: int, *, synced: bool) -> None:
        """A mark that cannot be written counts too little, which is what a loss of power leaves, too."""
        known = self._marked
        self._put_mark(Mark(written, written if synced else known.synced, chain, known.boot))

    def _put_mark(self, known: Mark) -> None:
        self._marked = known
        with suppress(OSError):
            mark.write(self._mark, known)

    def finish(self) -> None:
        """The run has ended. If nothing had to be durable before, nothing has to be now."""
        if self._is_begun:
            self.sync()
            self._put_mark(replace(self._marked, over=True))
            return
        self._write_plain([(kind, body) for _, kind, body in self._waiting])
        self._waiting.clear()

    def sync_if_begun(self) -> None:
        """``sync``, if anything had to be durable before."""
        if self._is_begun:
            self.sync()

    @property
    def _is_begun(self) -> bool:
        return self._database is not None or self._next > len(self._waiting)

    def rewrite(self, change: Callable[[Sequence[Record]], Iterable[tuple[str, object]]]) -> None:
        """The run has ended, and a plain file of other records takes the place of all that was written.

        A process that is killed before that leaves a run that has all its answers, and no end.
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
        self._write_plain([(kind, encode(body)) for kind, body in change(records)], durable=begun)

    def _write_plain(self, records: Sequence[tuple[str, bytes]], *, durable: bool = False) -> None:
        place = new_path(self.path)
        try:
            make_folder(os.path.dirname(self.path))
            file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(file, "wb") as out:
                data = msgpack.encode(records)
                out.write(PLAIN + checksum(0, "", data).to_bytes(4, "big") + data)
                if durable:
                    out.flush()
                    os.fsync(out.fileno())
            point("journal.plain")
            os.replace(place, self.path)
            for suffix in SIDES[1:]:
                with suppress(FileNotFoundError):
                    os.remove(self.path + suffix)
            if durable:
                sync_directory(os.path.dirname(self.path))
        except OSError as problem:
            raise _stopped(self.path, str(problem)) from None
        point("journal.finished")

    def close(self) -> None:
        if self._mark >= 0:
            os.close(self._mark)
            self._mark = -1
        if self._database is not None:
            point("journal.close")
            self._database.close()
            self._database = None
            open_here.discard(self._file)
            point("journal.closed")

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        new = not os.path.exists(self.path)
        if new:
            make_folder(os.path.dirname(self.path))
            point("journal.create")
            self._open_mark()
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            point("journal.created")
        self._file = identity(self.path)
        open_here.add(self._file)
        # A module may act in a thread of its own; `system.effects` lets one at a time in here.
        self._database = database = sqlite3.connect(
            self.path, isolation_level="IMMEDIATE", timeout=30, check_same_thread=False
        )
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        if new or not has_schema(database):
            with database:
                for statement in SCHEMA.split(";"):
                    if statement.strip():
                        database.execute(statement)
                database.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))
                point("journal.schema")
            sync_directory(os.path.dirname(self.path))
        self._continue(database)
        return database

    def _open_mark(self) -> None:
        """Made before the file itself, and synced with its directory: a file without a mark has lost it."""
        if self._mark < 0:
            self._mark = mark.create(self.path)
            self._marked = Mark(boot=reboot.current().identity())
            if not os.fstat(self._mark).st_size:
                mark.write(self._mark, self._marked)

    def _continue(self, database: sqlite3.Connection) -> None:
        """Where the records that are there end; in the form that they have."""
        self._open_mark()
        (known,) = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
        self._chained = int(known) >= CHAINED
        if self._next > len(self._waiting):
            last = self._waiting[0][0] - 1
            found = database.execute("SELECT crc FROM record WHERE seq = ?", (last,)).fetchone()
            self._marked = Mark(last + 1, 0, found[0] if found else 0, self._marked.boot)


def check_owner(base: str, *inside: str) -> None:
    """Root keeps its runs in a directory where no other user can plant one."""
    for path in (base, *inside):
        if why := foreign(path):
            what = f"the state directory {path} {why}, and root does not use it"
            alone = f"chown -R root {path} and chmod -R go-w {path}"
            fix = f"make it root's alone: {alone}; or name another: state_dir"
            raise OperationError(Diagnostic(code="state-dir", what=what, fix=fix))


def announce(path: str) -> None:
    """Its mark, durable, before there is a file."""
    file = mark.create(path)
    try:
        if not os.fstat(file).st_size:
            mark.write(file, Mark())
        os.fsync(file)
    finally:
        os.close(file)
    sync_directory(os.path.dirname(path))


def make_folder(folder: str) -> None:
    """With those above it; what is new is durable."""
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder) or "."
    make_folder(above)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    sync_directory(above)


def _as_text(value: object) -> object:
    """What MessagePack has no form for: sets become lists, anything else its text."""
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    return str(value)


def _tame(value: object, depth: int = 0) -> object:
    """What cannot be written as it is: huge numbers, half characters, odd keys, what has no end."""
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


def _stopped(path: str, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="journal-failed",
            what=f"the journal {path} cannot be written: {why}",
            fix="nothing more was done; free space or repair the disk, then run `saltern resume`",
        )
    )
