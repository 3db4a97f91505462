"""``inotify``: files that change: ``files: {/etc/hosts: {mask: [modify]}}``.

The kernel reports changes (inotify, by the C library). Changes between two checks wait in the kernel, so none
is missed while the agent does something else.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any

MASKS = {
    "access": 0x1,
    "modify": 0x2,
    "attrib": 0x4,
    "close_write": 0x8,
    "close_nowrite": 0x10,
    "open": 0x20,
    "moved_from": 0x40,
    "moved_to": 0x80,
    "create": 0x100,
    "delete": 0x200,
    "delete_self": 0x400,
    "move_self": 0x800,
}
USUAL = ("create", "delete", "modify")
NEW_FOLDER = 0x100 | 0x80
FOLDER, GONE = 0x40000000, 0x8000
HEAD = struct.Struct("iIII")
MOST = 500  # payloads of one check
_LIBC = ctypes.CDLL(None, use_errno=True)


class Watches:
    """The files that the kernel watches for one beacon."""

    def __init__(self) -> None:
        self.file = _LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.paths: dict[int, tuple[str, str]] = {}  # watch → path, and the row of the configuration

    def __del__(self) -> None:
        if self.file >= 0:
            os.close(self.file)

    def add(self, path: str, row: str, mask: int) -> None:
        number = _LIBC.inotify_add_watch(self.file, os.fsencode(path), mask)
        if number >= 0:
            self.paths[number] = (path, row)

    def add_row(self, row: str, options: Mapping[str, Any]) -> None:
        """A file or a directory, with ``recurse`` all directories in it."""
        mask = mask_of(options)
        self.add(row, row, mask)
        if options.get("recurse") and os.path.isdir(row):
            for folder, names, _ in os.walk(row):
                for name in names:
                    self.add(os.path.join(folder, name), row, mask)

    def read(self) -> Iterator[tuple[str, str, int]]:
        """The changes: the path, the row of the configuration, and the kind of each change."""
        while True:
            try:
                data = os.read(self.file, 65_536)
            except (BlockingIOError, OSError):
                return
            at = 0
            while at < len(data):
                number, mask, _, size = HEAD.unpack_from(data, at)
                name = os.fsdecode(data[at + HEAD.size : at + HEAD.size + size].rstrip(b"\0"))
                at += HEAD.size + size
                path, row = self.paths.get(number, ("", ""))
                if mask & GONE:
                    self.paths.pop(number, None)
                elif path:
                    yield (os.path.join(path, name) if name else path), row, mask


def mask_of(options: Mapping[str, Any]) -> int:
    words = options.get("mask") or USUAL
    several = [words] if isinstance(words, str) else words
    mask = 0
    for word in several:
        mask |= MASKS.get(str(word).lower().removeprefix("in_"), 0)
    return (mask or mask_of({})) | (NEW_FOLDER if options.get("auto_add") else 0)


def check(config: Mapping[str, Any], state: dict[str, Any]) -> list[dict[str, Any]]:
    rows = {
        str(path): one if isinstance(one, Mapping) else {}
        for path, one in (config.get("files") or {}).items()
    }
    watches = _watches(rows, state)
    found: dict[tuple[str, str], None] = {}
    for path, row, mask in watches.read():
        options = rows.get(row, {})
        if options.get("auto_add") and mask & FOLDER and mask & NEW_FOLDER:
            watches.add(path, row, mask_of(options))
        if not _is_excluded(path, options) and mask & mask_of({**options, "auto_add": False}):
            found[path, change_of(mask)] = None
    return [{"tag": path, "path": path, "change": change} for path, change in [*found][:MOST]]


def _watches(rows: Mapping[str, Mapping[str, Any]], state: dict[str, Any]) -> Watches:
    """The watches: made at the first check, and extended by files that did not exist before."""
    watches: Watches = state.setdefault("watches", Watches())
    known = {path for path, _ in watches.paths.values()}
    for path, options in rows.items():
        if path not in known and os.path.lexists(path):
            watches.add_row(path, options)
    return watches


def change_of(mask: int) -> str:
    names = [f"IN_{name.upper()}" for name, bit in MASKS.items() if mask & bit]
    return "|".join([*names, *(["IN_ISDIR"] if mask & FOLDER else [])])


def _is_excluded(path: str, options: Mapping[str, Any]) -> bool:
    for one in options.get("exclude") or ():
        if isinstance(one, Mapping):
            if any(
                of.get("regex") and re.search(name, path)
                for name, of in one.items()
                if isinstance(of, Mapping)
            ):
                return True
        elif path == str(one) or path.startswith(str(one).rstrip("/") + "/"):
            return True
    return False
