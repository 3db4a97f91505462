"""``salt.utils.itertools``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def split(orig: str, sep: str | None = None) -> Iterator[str]:
    """Like ``str.split``, one piece at a time."""
    yield from orig.split(sep)


def read_file(fh_: Any, chunk_size: int = 1048576) -> Iterator[Any]:
    while chunk := fh_.read(chunk_size):
        yield chunk


def fnmatch_multiple(candidates: Any, pattern: str) -> str | None:
    from fnmatch import fnmatch

    return next((one for one in candidates if isinstance(one, str) and fnmatch(one, pattern)), None)
