"""The form of a journal's file, for those who write it and those who read it."""

from __future__ import annotations

import os
import re
from binascii import crc32
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from saltern.system import maker, mark

if TYPE_CHECKING:
    import sqlite3

Body = dict[str, Any]  # of a record, as MessagePack has it
FORMAT = 2  # raise it when records of before can no longer be read
CHAINED = 2  # since this format, the checksum of a record counts in that of the record before it
SUFFIX = ".run"
ASIDE = ".damaged"
# A file, what SQLite keeps beside it, and how far it was written: without these it says less than is true.
KEY = ".key"  # opens the secrets in it, see ``seal``
SIDES = ("", "-wal", "-shm", mark.SUFFIX, KEY)
SEALED = "sealed"  # the record before the first that has a sealed secret
NEW = ".new"  # the end of a plain file's name before it is whole, after the word of its maker
PLAIN = b"saltern run 1\n"  # how a file begins that is no database
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE record (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL);
"""

# How the names of files end that prove that there was a journal.
TRACES = ("", mark.SUFFIX, ASIDE, ASIDE + mark.SUFFIX)

open_here: set[tuple[int, int]] = set()  # files that writers of this process have open


class Record(Struct, frozen=True):
    seq: int
    kind: str
    body: object


class Damaged(Exception):
    """A journal that cannot be read, and never will be; the text says why."""


class Unreadable(Exception):
    """A journal that cannot be read here and now: not ours, of a later version, held by another process."""


def names_in(folder: str, suffix: str) -> list[str]:
    """The journals of a folder by what is left of each, the newest first."""
    ends = tuple(suffix + trace for trace in TRACES)
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(
        {name.rpartition(suffix)[0] for name in names if name.endswith(ends)}, key=age, reverse=True
    )


def new_path(path: str) -> str:
    """Where this process writes a plain file before it is whole."""
    return f"{path}.{maker.this_process().word}{NEW}"


def remove_unfinished(folder: str) -> None:
    """Remove plain files that were not whole when the processes which wrote them were killed."""
    me = maker.this_process()
    for name in os.listdir(folder):
        found = re.search(rf"\.({maker.PATTERN})\Z", name.removesuffix(NEW)) if name.endswith(NEW) else None
        if found and maker.is_gone(maker.parse(found[1]), me):
            with suppress(OSError):
                os.remove(os.path.join(folder, name))


def remove_key(path: str) -> None:
    """Remove the key of the journal at ``path``, if it has one: its run is over."""
    with suppress(FileNotFoundError):
        os.remove(path + KEY)


def age(name: str) -> tuple[int, str]:
    """Sorts names of runs by when they began: a number with more digits is a later one."""
    return (len(name) if name.isdigit() else 0, name)


def is_aside(path: str) -> bool:
    """It was damaged, and is out of the way."""
    there = any(os.path.lexists(path + side) for side in ("", mark.SUFFIX))
    return not there and any(os.path.lexists(path + ASIDE + side) for side in ("", mark.SUFFIX))


def identity(path: str) -> tuple[int, int]:
    """Of a file, whatever it is called."""
    found = os.stat(path)
    return found.st_dev, found.st_ino


def checksum(seq: int, kind: str, body: bytes, before: int = 0) -> int:
    """``before`` is that of the record before it, so that the last one vouches for all."""
    return crc32(body, crc32(f"{seq} {kind}".encode(), before))


def has_schema(database: sqlite3.Connection) -> bool:
    found = database.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('meta', 'record')").fetchone()
    return bool(found[0] == 2)
