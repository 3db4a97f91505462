"""The files of this program: whether they were replaced since the process began its work.

The loaded code is a property of the process, not of a run, so it is recorded once per process.
"""

from __future__ import annotations

import os
import sys

PLACE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "__init__.py")
_known: tuple[int, int, int] | None = None


def remember() -> None:
    """Record the current files as those that run. Only the first call counts."""
    global _known
    _known = _known or _stamp()


def were_replaced() -> bool:
    """True if another build has replaced the files, as a package manager does; removed files do not count."""
    return _known is not None and _stamp() not in (None, _known)


def libraries() -> tuple[int, ...]:
    """A value that changes when a library is installed or removed beside this program, or beside one that it
    uses.
    """
    import msgspec

    places = {os.path.dirname(os.path.dirname(os.path.abspath(file))) for file in (PLACE, msgspec.__file__)}
    return tuple(os.stat(place).st_mtime_ns for place in sorted(places))


def are_elsewhere(prefix: str) -> bool:
    """True if the prefix of this Python now leads to another directory, that of another build."""
    return os.path.realpath(sys.prefix) != prefix


def _stamp() -> tuple[int, int, int] | None:
    try:
        found = os.stat(PLACE)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
