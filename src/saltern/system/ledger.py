"""The record of a keeper on disk: which programs it has begun, and how each of them ended.

There is one file for each keeper. Any process that could still write it holds its lock: if the lock can be
taken, the file is complete.
"""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Callable

from msgspec import Struct, field, msgpack

from saltern.system import mark
from saltern.system.mark import Mark, MarkDamaged
from saltern.system.private import make_private
from saltern.system.ran import Ran
from saltern.system.regular import NotRegular, open_regular, read_regular

HEAD = 12  # bytes before each entry: its length, its checksum
ROOM = 1 << 20  # the maximum size of a ledger, in bytes, when the next program begins


class Entry(Struct, frozen=True, array_like=True):
    """``name`` was begun; with ``ran``, it has ended, ``at`` this time. ``pid`` is that of the keeper. The
    first entry has no name.
    """

    name: str
    pid: int = 0
    ran: Ran | None = None
    at: float = 0.0


class Kept(Struct):
    """The contents of all ledgers of a run. A program in ``begun`` may have ended, or may have been lost.

    ``whole`` has the names of the ledgers that can be read to their end. Only those can prove that a program
    was not begun.
    """

    begun: set[str]
    ended: dict[str, Ran]
    until: dict[str, float] = field(default_factory=dict)  # when each of them ended
    whole: set[str] = field(default_factory=set)
    damaged: bool = False


class Ledger(Struct):
    """An open ledger: one process writes it, and the checksum of each entry includes the one before it."""

    name: str
    file: int
    mark: int
    count: int = 0
    chain: int = 0

    def close(self) -> None:
        os.close(self.file)
        os.close(self.mark)


def create(folder: str, name: str = "") -> Ledger:
    """Create a ledger and lock it; the lock is released when the last process that has it open ends."""
    import fcntl

    make_private(folder)
    name = name or os.urandom(8).hex()
    path = os.path.join(folder, name)
    file = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    fcntl.flock(file, fcntl.LOCK_EX)
    made = Ledger(name, file, mark.create(path))
    _begin(made)
    return made


def _begin(ledger: Ledger) -> None:
    """Write the first entry, which has no program: a file without it is damaged."""
    os.ftruncate(ledger.file, 0)
    ledger.count = ledger.chain = 0
    add(ledger, Entry("", os.getpid()))


class Conceal:
    """Write entries of this process, and of those that it forks, without secrets."""

    change: Callable[[Entry], object] | None = None


def add(ledger: Ledger, entry: Entry) -> None:
    """Add an entry; the mark is written before the operation of the entry begins."""
    body = msgpack.encode(entry if Conceal.change is None else Conceal.change(entry))
    ledger.chain = crc32(body, ledger.chain)
    ledger.count += 1
    whole = memoryview(len(body).to_bytes(8) + ledger.chain.to_bytes(4) + body)
    while whole:
        whole = whole[os.write(ledger.file, whole) :]
    mark.write(ledger.mark, Mark(ledger.count, 0, ledger.chain))


def make_room(ledger: Ledger) -> None:
    """Remove reported entries if the file is too large: by now they are in the journal."""
    if os.fstat(ledger.file).st_size > ROOM:
        _begin(ledger)


def read(folder: str) -> Kept:
    """Read the ledgers of all keepers of a run."""
    kept = Kept(set(), {})
    for path in _files(folder):
        entries, whole = _entries(path)
        if whole:
            kept.whole.add(os.path.basename(path))
        kept.damaged = kept.damaged or not whole
        for entry in entries:
            if entry.name:
                kept.begun.add(entry.name)
            if entry.ran is not None:
                kept.ended[entry.name] = entry.ran
                kept.until[entry.name] = entry.at
    return kept


def at_work(folder: str) -> list[Entry]:
    """The running program of each keeper that lives; an empty entry for one that runs none."""
    found = []
    for path in _files(folder):
        if not _free(path):
            entries, _ = _entries(path)
            last = entries[-1] if entries else Entry("")
            found.append(last if last.ran is None else Entry(""))
    return found


def _files(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found = {name.removesuffix(mark.SUFFIX) for name in names}
    return [os.path.join(folder, name) for name in sorted(found)]


def _free(path: str) -> bool:
    import fcntl

    try:
        file = open_regular(path, os.O_RDWR)
    except (FileNotFoundError, NotRegular):  # no keeper holds a file that is not a ledger
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True


def _entries(path: str) -> tuple[list[Entry], bool]:
    """The entries up to the first damaged one; and true if these are all that were ever written."""
    try:
        known = mark.read(path)  # read first, since a writer only adds to it meanwhile
        data = read_regular(path)
    except (OSError, MarkDamaged):
        return [], False
    if known is None:
        return _old_entries(data)
    entries: list[Entry] = []
    chains, at = [0], 0
    while at < len(data):
        size, chain = int.from_bytes(data[at : at + 8]), int.from_bytes(data[at + 8 : at + HEAD])
        body = data[at + HEAD : at + HEAD + size]
        if len(body) < max(size, 1) or crc32(body, chains[-1]) != chain:
            return entries, False
        entries.append(msgpack.decode(body, type=Entry))
        chains.append(chain)
        at += HEAD + size
    whole = 0 < known.written <= len(entries) and chains[known.written] == known.chain
    return entries, whole


def _old_entries(data: bytes) -> tuple[list[Entry], bool]:
    """The entries of version 1, without a mark: a length of four bytes, and a checksum of only the entry
    itself.
    """
    entries: list[Entry] = []
    at = 0
    while at < len(data):
        size, check = int.from_bytes(data[at : at + 4]), int.from_bytes(data[at + 4 : at + 8])
        body = data[at + 8 : at + 8 + size]
        if len(body) < max(size, 1) or crc32(body) != check:
            return entries, False
        entries.append(msgpack.decode(body, type=Entry))
        at += 8 + size
    return entries, True
