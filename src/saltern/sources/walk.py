"""The files, directories and links below a directory, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from saltern.language.diagnostics import Diagnostic, OperationError

MOST_DIRECTORIES = 50_000  # directories below one root


def leads_out_of(roots: Iterable[str]) -> Callable[[str], bool]:
    """A function that is true for a path that leads, through links, out of all these directories."""
    from saltern.system.guard import is_within

    within = tuple(sorted({os.path.realpath(one) for one in roots}))
    return lambda path: not is_within(os.path.realpath(path), within)


def walk(root: str, kind_of: Callable[[os.DirEntry[str]], str], *, files: bool) -> Iterator[str]:
    """Names below a root, without directories that are their own ancestors (loops of links) and entries that
    ``kind_of`` calls neither file nor directory. Raises if links make the tree too large to walk.
    """
    left: list[tuple[str, frozenset[tuple[int, int]]]] = [("", frozenset())]
    count = 0
    while left:
        below, seen = left.pop()
        try:
            place = os.stat(f"{root}/{below}")
            entries = list(os.scandir(f"{root}/{below}"))
        except OSError:
            continue
        here = (place.st_dev, place.st_ino)
        if here in seen:
            continue
        count += 1
        if count > MOST_DIRECTORIES:
            raise _too_many(root)
        for entry in entries:
            kind = kind_of(entry)
            if kind == "directory":
                left.append((f"{below}{entry.name}/", seen | {here}))
            if kind == ("file" if files else "directory"):
                yield f"{below}{entry.name}"


def links_below(root: str, out: Callable[[str], bool] | None) -> Iterator[tuple[str, str]]:
    """Links below a root that are not reached through another link."""
    left = [""]
    while left:
        below = left.pop()
        try:
            entries = list(os.scandir(f"{root}/{below}"))
        except OSError:
            continue
        for entry in entries:
            if entry.is_symlink():
                if out is None or not out(entry.path):
                    yield f"{below}{entry.name}", os.readlink(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                left.append(f"{below}{entry.name}/")


def kind_of_entry(entry: os.DirEntry[str], out: Callable[[str], bool] | None) -> str:
    try:
        if out is not None and entry.is_symlink() and out(entry.path):
            return ""
        return "directory" if entry.is_dir() else "file" if entry.is_file() else ""
    except OSError:
        return ""


def _too_many(root: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="tree-too-large",
            what=f"the root {root!r} has more than {MOST_DIRECTORIES:,} directories",
            fix="look for a link to an ancestor or to a directory with many links, and remove it",
        )
    )
