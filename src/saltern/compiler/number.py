"""The number every chunk is sorted by.

``last`` and negative numbers count from after the highest number in use, ``first`` is 0, and a chunk
without a number comes after all numbered chunks. The members of ``names`` are consecutive.
"""

from __future__ import annotations

from collections.abc import Sequence

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.high import SlsFile


def number(
    chunks: list[Chunk],
    orders: Sequence[object],
    indexes: Sequence[int],
    files: Sequence[SlsFile],
    found: Diagnostics,
) -> None:
    """Set the number of each chunk. ``orders`` are as written, ``indexes`` are within ``names`` (0: none)."""
    plain = not any(indexes) and all(order.__class__ is int and order >= 0 for order in orders)
    if plain:
        for chunk, order in zip(chunks, orders, strict=True):
            chunk.order = order  # type: ignore[assignment]
        return
    highest = _beyond(chunks, orders, files)
    end = highest + 1_000_000
    words = {"first": 0, "last": end}
    for chunk, given, index in zip(chunks, orders, indexes, strict=True):
        order = _numeric(given)
        if order is None:
            if given is not None and str(given) not in words:
                _odd(chunk, given, found)
            chunk.order = words.get(str(given), highest)
        else:
            chunk.order = end + order if order < 0 else order
        if index:
            chunk.order = round(chunk.order + index / 10000, 4)


def _beyond(chunks: Sequence[Chunk], orders: Sequence[object], files: Sequence[SlsFile]) -> int:
    """A number after those in use, as Salt counts: files in opening order, in hundreds."""
    opened = {id(file.origin): at for at, file in enumerate(files)}
    by_file = sorted(
        zip(chunks, orders, strict=True), key=lambda pair: opened.get(id(pair[0].declared.origin), 0)
    )
    highest = 1
    for _, given in by_file:
        order = _numeric(given)
        if isinstance(order, int) and order > highest - 1:
            highest = order + 100
    return highest


def _numeric(order: object) -> int | float | None:
    """The number, quoted or not; None for anything else."""
    if isinstance(order, int | float) and not isinstance(order, bool):
        return order if order == order else None  # not-a-number cannot be sorted
    if isinstance(order, str):
        for kind in (int, float):
            try:
                return _numeric(kind(order))
            except ValueError:
                continue
    return None


def _odd(chunk: Chunk, order: object, found: Diagnostics) -> None:
    found.warn(
        "order-unknown",
        f"the order {'given' if chunk.hidden else repr(order)} of {chunk.label!r} is unknown;"
        " it runs after all numbered states",
        where=chunk.mark("order"),
        fix="write a number, 'first' or 'last'",
    )
