"""``log``: new lines of a file that match: ``file: /var/log/x``, ``tags: {NAME: {regex: PATTERN}}``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

MOST = 1 << 20  # bytes that one check reads
LINES = 500  # lines that one check reports


def check(config: Mapping[str, Any], state: dict[str, Any]) -> list[dict[str, Any]]:
    """One payload for each pattern that a new line matches; the first check only records where the
    file ends.
    """
    path = str(config.get("file", ""))
    patterns = {
        str(tag): re.compile(str(given["regex"])) for tag, given in (config.get("tags") or {}).items()
    }
    found = []
    for line in new_lines(path, state):
        for tag, pattern in patterns.items():
            if pattern.search(line):
                found.append({"tag": tag, "raw": line, "error": "", "match": "yes"})
    return found[:LINES]


def new_lines(path: str, state: dict[str, Any]) -> Iterator[str]:
    """Complete lines written since the last check, also in a file that has replaced the old one."""
    try:
        with open(path, "rb") as file:
            now = os.fstat(file.fileno())
            first = "inode" not in state
            if first or now.st_ino != state["inode"] or now.st_size < state["at"]:
                state |= {"inode": now.st_ino, "at": now.st_size if first else 0}
            file.seek(state["at"])
            data = file.read(MOST)
    except OSError:
        return
    whole = data[: data.rfind(b"\n") + 1]
    state["at"] += len(whole)
    yield from whole.decode(errors="replace").splitlines()
