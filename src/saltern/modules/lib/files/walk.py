"""The paths below a directory, links not followed, and those that a clean-up may remove."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from saltern.modules.api.context import Context
from saltern.modules.lib.files.patterns import Matches
from saltern.system import files


def below(
    root: str, *, depth: int | None = None, follow: bool = False, level: int = 1
) -> Iterator[tuple[str, os.stat_result]]:
    """All paths below ``root``, sorted, a directory before its contents. Directories reached by a
    link are entered only with ``follow``, and never twice on one path."""
    if depth is not None and level > depth:
        return
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries)
    except FileNotFoundError:
        return  # removed meanwhile
    for name in names:
        path = f"{root.rstrip('/')}/{name}"
        found = files.look(path, follow=follow) or files.look(path)
        if found is None:
            continue  # removed meanwhile
        yield path, found
        if files.kind_of(found) == "directory" and not (follow and _loops(path)):
            yield from below(path, depth=depth, follow=follow, level=level + 1)


def _loops(path: str) -> bool:
    real = os.path.realpath(path)
    return os.path.islink(path) and os.path.realpath(os.path.dirname(path)).startswith(f"{real}/")


def superfluous(
    root: str, keep: set[str], excluded: Matches | None, directories: Iterable[str] = ()
) -> list[str]:
    """The topmost paths below ``root`` that are neither kept nor excluded, nor parents of such paths.

    A kept directory is kept with its contents; of an excluded one only itself, as in Salt, and so of
    ``directories``.
    """
    alone = set(directories)
    for path, _ in below(root):
        if excluded is not None and excluded(path[len(root) :].lstrip("/")):
            alone.add(path)
    alone |= {parent for path in keep | alone for parent in _parents(path, root)}
    return list(_topmost(root, keep, alone))


def _topmost(directory: str, saved: set[str], alone: set[str]) -> Iterator[str]:
    for path, found in below(directory, depth=1):
        if path in saved:
            continue  # with its contents
        if path not in alone:
            yield path
        elif files.kind_of(found) == "directory":
            yield from _topmost(path, saved, alone)


def _parents(path: str, root: str) -> Iterator[str]:
    while (path := os.path.dirname(path)).startswith(f"{root}/"):
        yield path


def required_paths(ctx: Context) -> set[str]:
    """The paths of the file states that this one requires: a clean-up keeps them."""
    if ctx.chunk is None:
        return set()
    wanted = {ref.value for ref in ctx.chunk.requisites if ref.state in ("file", "")}
    return {
        os.path.normpath(one.name)
        for one in ctx.run.chunks
        if one.state == "file" and not wanted.isdisjoint((one.id, one.name))
    }
