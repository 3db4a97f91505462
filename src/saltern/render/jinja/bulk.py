"""Many compiled templates in one file: a table of offsets, then the templates.

It is as trusted as its directory. If anything is wrong with it, nothing is found in it.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping

from saltern.system import atomic

_START = b"saltern\x01"
_SIZE = 8  # bytes, for the length of the table
MOST = 64 * 1024 * 1024  # a larger file is started again


class Bulk:
    """Read when first used."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._table: dict[str, tuple[int, int]] | None = None  # key → start and end
        self._pieces: memoryview = memoryview(b"")

    def __contains__(self, key: str) -> bool:
        return key in self._read_table()

    def get(self, key: str) -> bytes | None:
        place = self._read_table().get(key)
        return None if place is None else bytes(self._pieces[place[0] : place[1]])

    def add(self, new: Mapping[str, bytes]) -> None:
        """Add templates; the file is replaced as a whole, so that readers of the old file can continue."""
        known = self._read_table()
        kept = known if len(self._pieces) <= MOST else {}
        pieces = {key: self.get(key) or b"" for key in kept if key not in new} | dict(new)
        try:
            atomic.write(self._path, _pack(pieces), durable=False)
        except OSError:
            return
        self._table = None

    def _read_table(self) -> dict[str, tuple[int, int]]:
        if self._table is None:
            self._table, self._pieces = _read(self._path)
        return self._table


def _pack(pieces: Mapping[str, bytes]) -> bytes:
    table: dict[str, tuple[int, int]] = {}
    end = 0
    for key, piece in pieces.items():
        table[key] = (end, end := end + len(piece))
    head = marshal.dumps(table)
    return b"".join([_START, len(head).to_bytes(_SIZE, "little"), head, *pieces.values()])


def _read(path: str) -> tuple[dict[str, tuple[int, int]], memoryview]:
    """Map the file without copying: most runs need few templates."""
    try:
        with open(path, "rb") as file:
            from mmap import ACCESS_READ, mmap

            whole = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
        start = len(_START) + _SIZE
        size = int.from_bytes(whole[len(_START) : start], "little")
        table = marshal.loads(whole[start : start + size]) if whole[: len(_START)] == _START else {}
    except (OSError, EOFError, ValueError, TypeError):
        return {}, memoryview(b"")
    return table, whole[start + size :]
