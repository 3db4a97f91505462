"""The form of a journal's file, for those who write it and those who read it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import sqlite3

FORMAT = 1  # raise it when records of before can no longer be read
SUFFIX = ".run"
# A file, and what SQLite keeps beside it: without the WAL it tells less than is true.
SIDES = ("", "-wal", "-shm")
PLAIN = b"saltern run 1\n"  # how a file begins that is no database
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE record (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL);
"""

open_here: set[tuple[int, int]] = set()  # files that writers of this process have open


class Record(Struct, frozen=True):
    seq: int
    kind: str
    body: object


class Damaged(Exception):
    """A journal that cannot be read, and never will be; the text says why."""


class Unreadable(Exception):
    """A journal that cannot be read here and now: not ours, of a later version, held by another process."""


def identity(path: str) -> tuple[int, int]:
    """Of a file, whatever it is called."""
    found = os.stat(path)
    return found.st_dev, found.st_ino


def checksum(seq: int, kind: str, body: bytes) -> int:
    from zlib import crc32

    return crc32(body, crc32(f"{seq} {kind}".encode()))


def has_schema(database: sqlite3.Connection) -> bool:
    found = database.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('meta', 'record')").fetchone()
    return bool(found[0] == 2)
