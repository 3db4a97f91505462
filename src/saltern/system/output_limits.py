"""How much output of programs is kept."""

from __future__ import annotations


class Limits:
    """The limits for one stream, in bytes: in memory, and in a file.

    They are set for the whole process from the options when a session is made: the code that runs programs,
    in keepers and modules, has no session.
    """

    kept = 16 << 20
    file = 1 << 30


def limit(kept: int, file: int) -> None:
    Limits.kept, Limits.file = max(kept, 2), max(file, 0)
