"""The SQLite database of one journal, and its mark: how far it is written, and synced."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.journal.folder import make_folder
from saltern.journal.form import CHAINED, FORMAT, SCHEMA, SIDES, checksum, has_schema, identity, open_here
from saltern.system import mark, reboot
from saltern.system.atomic import sync_directory
from saltern.system.faults import point
from saltern.system.mark import Mark
from saltern.system.regular import NotRegular, is_other

if TYPE_CHECKING:
    import sqlite3

Row = tuple[int, str, bytes]  # number, kind, data
PAGE = 1024  # bytes; a record is a few hundred, and every transaction writes the page it is on


class RecordFile:
    """Opened when the first record is written; made then, unless it is there."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._database: sqlite3.Connection | None = None
        self._level = "FULL"
        self._file = (0, 0)
        self._mark = -1
        self._marked = Mark()
        self._chained = True

    @property
    def is_open(self) -> bool:
        return self._database is not None

    def write(self, waiting: Sequence[Row], level: str) -> int:
        """Add records in one transaction, and say how many; ``level`` is SQLite's word for what they survive.

        Raises ``sqlite3.Error`` or ``OSError``; what of them is on the disk is then not known.
        """
        database = self._database or self._open(waiting[0][0])
        rows = self._with_checksums(waiting)
        if level != self._level:
            database.execute(f"PRAGMA synchronous={level}")
            self._level = level
        with database:
            # One that is there already was written right before an interrupt kept us from knowing it.
            database.executemany("INSERT OR IGNORE INTO record VALUES (?, ?, ?, ?)", rows)
            point("journal.commit")
        point("journal.synced" if level == "FULL" else "journal.saved")
        written, known = rows[-1][0] + 1, self._marked
        synced = written if level == "FULL" else known.synced
        self._put_mark(Mark(written, synced, rows[-1][-1], known.boot))
        return len(rows)

    def _with_checksums(self, waiting: Sequence[Row]) -> list[tuple[int, str, bytes, int]]:
        chain, rows = self._marked.chain, []
        for row in waiting:
            chain = checksum(*row, chain if self._chained else 0)
            rows.append((*row, chain))
        return rows

    def _put_mark(self, known: Mark) -> None:
        """One that cannot be written counts too little, which is what a loss of power leaves, too."""
        self._marked = known
        with suppress(OSError):
            mark.write(self._mark, known)

    def mark_over(self) -> None:
        """No record follows."""
        self._put_mark(replace(self._marked, over=True))

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

    def _open(self, first: int) -> sqlite3.Connection:
        import sqlite3

        new = not os.path.lexists(self.path)
        if new:
            make_folder(os.path.dirname(self.path))
            point("journal.create")
            self._open_mark()
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            point("journal.created")
        for suffix in SIDES:
            if is_other(self.path + suffix):
                raise NotRegular(self.path + suffix)
        self._file = identity(self.path)
        open_here.add(self._file)
        # A module may act in a thread of its own; `system.effects` lets one at a time in here.
        self._database = database = sqlite3.connect(
            self.path, isolation_level="IMMEDIATE", timeout=30, check_same_thread=False
        )
        if new:
            database.execute(f"PRAGMA page_size={PAGE}")
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        if new or not has_schema(database):
            _make_schema(database)
            sync_directory(os.path.dirname(self.path))
        self._continue(database, first)
        return database

    def _open_mark(self) -> None:
        """Made before the file itself, and synced with its directory: a file without a mark has lost it."""
        if self._mark < 0:
            self._mark = mark.create(self.path)
            self._marked = Mark(boot=reboot.current().identity())
            if not os.fstat(self._mark).st_size:
                mark.write(self._mark, self._marked)

    def _continue(self, database: sqlite3.Connection, first: int) -> None:
        """Where the records that are there end; in the form that they have."""
        self._open_mark()
        (known,) = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
        self._chained = int(known) >= CHAINED
        if first:
            found = database.execute("SELECT crc FROM record WHERE seq = ?", (first - 1,)).fetchone()
            self._marked = Mark(first, 0, found[0] if found else 0, self._marked.boot)


def _make_schema(database: sqlite3.Connection) -> None:
    with database:
        for statement in SCHEMA.split(";"):
            if statement.strip():
                database.execute(statement)
        database.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))
        point("journal.schema")
