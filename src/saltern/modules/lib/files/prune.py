"""Find empty directories to remove."""

from __future__ import annotations

import os

from msgspec import Struct

from saltern.modules.lib.files.walk import below
from saltern.system import files

DAY = 86400


NOT_EMPTY = "Directory not empty"


class Pruning(Struct, frozen=True):
    """The directories to remove, children first, and those that cannot be removed, with the reason."""

    deleted: list[str]
    errors: list[list[str]]


def prunable(path: str, *, recurse: bool, older_than: float | None, now: float) -> Pruning:
    """The directories that are empty, or will be once those before them are removed. Links do not count."""
    inner = [one for one, found in below(path) if files.kind_of(found) == "directory"] if recurse else []
    limit = now - (older_than or 0) * DAY
    deleted: list[str] = []
    errors: list[list[str]] = []
    for one in (*reversed(inner), path):
        if older_than and os.lstat(one).st_mtime >= limit:
            continue
        if all(f"{one}/{name}" in deleted for name in os.listdir(one)):
            deleted.append(one)
        else:
            errors.append([one, NOT_EMPTY])
    return Pruning(deleted, errors)
