"""Makes directories below ``build/`` completely or not at all, even if the process is interrupted."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Unavailable(Exception):
    """Something cannot be installed here; the text says why. The next ``make test`` tries again."""


@contextmanager
def replaced(place: Path, stamp: str) -> Iterator[Path]:
    """A new directory beside ``place``, which replaces it once everything has succeeded; ``stamp`` is written
    last.

    If anything fails before, ``place`` stays unchanged: a complete older one is better than none.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(place)
    work = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        work.chmod(0o755)
        yield work
        (work / stamp).touch()
        shutil.rmtree(place, ignore_errors=True)
        os.rename(work, place)
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def made_anew(place: Path, stamp: str) -> Iterator[None]:
    """For directories that cannot be moved, such as a Python environment: ``place`` is made at its final
    path.

    The old one is kept beside it, and is put back if the new one has no stamp in the end.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(_aside(place), ignore_errors=True)
    if (place / stamp).exists():
        os.rename(place, _aside(place))
    shutil.rmtree(place, ignore_errors=True)
    try:
        yield
    finally:
        put_back(place, stamp)


def put_back(place: Path, stamp: str) -> None:
    """Put back the old directory beside ``place``, unless ``place`` is complete; an incomplete one is
    removed.
    """
    if not (place / stamp).exists():
        shutil.rmtree(place, ignore_errors=True)
        if _aside(place).exists():
            os.rename(_aside(place), place)
    shutil.rmtree(_aside(place), ignore_errors=True)


def _aside(place: Path) -> Path:
    return place.with_name(f".{place.name}-older")


def remove_leftovers(place: Path) -> None:
    """Remove directories of earlier attempts that were killed."""
    for left in place.parent.glob(f".{place.name}-*"):
        shutil.rmtree(left, ignore_errors=True)


def last_words(text: str) -> str:
    """The last line of a failed program's output."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"
