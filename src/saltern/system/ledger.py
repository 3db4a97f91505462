"""What a keeper has done, on disk: which programs it has begun, and how each of them ended.

One file for each keeper. Whoever could still write it holds its lock: a lock that can be taken says that
all has been written that ever will be.
"""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterator
from contextlib import suppress

from msgspec import DecodeError, Struct, ValidationError, convert, msgpack

from saltern.system.process import Ran

HEAD = 8  # bytes before each record: its length, its checksum
ROOM = 1 << 20  # bytes that a ledger may have when the next program begins


class Entry(Struct, frozen=True, array_like=True):
    """``name`` was begun; with ``ran``, it has ended. ``pid`` is the keeper's."""

    name: str
    pid: int = 0
    ran: Ran | None = None


class Kept(Struct):
    """All that the ledgers of a run tell. What is ``begun`` may have ended, or may have been lost."""

    begun: set[str]
    ended: dict[str, Ran]


def create(folder: str) -> int:
    """A new ledger, with its lock; closed when the last process that has it ends."""
    import fcntl

    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, os.urandom(8).hex())
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def add(file: int, entry: Entry) -> None:
    body = msgpack.encode(entry)
    whole = len(body).to_bytes(4) + crc32(body).to_bytes(4) + body
    while whole:
        whole = whole[os.write(file, whole) :]


def make_room(file: int) -> None:
    """What has been told is in the journal by the time the next program begins."""
    if os.fstat(file).st_size > ROOM:
        os.ftruncate(file, 0)


def read(folder: str) -> Kept:
    """Of all keepers of a run. What was cut by a loss of power counts as not written."""
    kept = Kept(set(), {})
    for path in _files(folder):
        with open(path, "rb") as file:
            data = file.read()
        for entry in _entries(data):
            kept.begun.add(entry.name)
            if entry.ran is not None:
                kept.ended[entry.name] = entry.ran
    return kept


def at_work(folder: str) -> list[Entry]:
    """What is running now: a keeper lives, and its last program has not ended."""
    found = []
    for path in _files(folder):
        if not _free(path):
            with open(path, "rb") as file:
                entries = list(_entries(file.read()))
            last = entries[-1] if entries else Entry("")
            found.append(last if last.ran is None else Entry(""))
    return found


def remove(folder: str) -> None:
    """Nobody will ask for any of it again."""
    for path in _files(folder):
        with suppress(OSError):
            os.remove(path)
    with suppress(OSError):
        os.rmdir(folder)


def _files(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _free(path: str) -> bool:
    import fcntl

    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True


def _entries(data: bytes) -> Iterator[Entry]:
    at = 0
    while at + HEAD <= len(data):
        size, check = int.from_bytes(data[at : at + 4]), int.from_bytes(data[at + 4 : at + HEAD])
        body = data[at + HEAD : at + HEAD + size]
        if not size or len(body) < size or crc32(body) != check:
            return
        try:
            yield convert(msgpack.decode(body), Entry)
        except (DecodeError, ValidationError):
            return
        at += HEAD + size
