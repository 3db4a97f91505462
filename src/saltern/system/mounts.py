"""Finds the kind of file system that a path is on."""

from __future__ import annotations

import os

IN_MEMORY = frozenset({"tmpfs", "ramfs"})  # their contents are lost at a boot


def file_system(path: str, table: str = "/proc/self/mountinfo") -> str:
    """The kind, such as ``ext4``; empty if unknown."""
    place = os.path.realpath(path)
    found = ("", "")
    try:
        with open(table, encoding="utf-8", errors="replace") as file:
            for line in file:
                before, _, after = line.partition(" - ")
                point = before.split()[4].encode().decode("unicode_escape")
                inside = place == point or place.startswith(point.rstrip("/") + "/")
                if inside and len(point) >= len(found[0]):  # later mounts are on top
                    found = (point, after.split()[0])
    except (OSError, IndexError):
        return ""
    return found[1]


def is_in_memory(path: str) -> bool:
    return file_system(path) in IN_MEMORY
