"""How much of what programs print is kept."""

from __future__ import annotations


class Limits:
    """Bytes of one stream: that are kept in memory, and that a file may have.

    For the whole process, set from the options when a session is made: programs are run far below it, by
    keepers and by modules that know no session.
    """

    kept = 16 << 20
    file = 1 << 30


def limit(kept: int, file: int) -> None:
    Limits.kept, Limits.file = max(kept, 2), max(file, 0)
