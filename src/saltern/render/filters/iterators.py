"""Filters that combine and arrange the members of lists. They return an iterator, as in Salt."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

MOST = 10_000_000  # tuples; more is certainly a mistake


def combinations(iterable: Iterable[object], r: int) -> Iterator[tuple[object, ...]]:
    return _limit(itertools.combinations(iterable, r))


def combinations_with_replacement(iterable: Iterable[object], r: int) -> Iterator[tuple[object, ...]]:
    return _limit(itertools.combinations_with_replacement(iterable, r))


def compress(data: Iterable[object], selectors: Iterable[object]) -> Iterator[object]:
    return itertools.compress(data, selectors)


def permutations(iterable: Iterable[object], r: int | None = None) -> Iterator[tuple[object, ...]]:
    return _limit(itertools.permutations(iterable, r))


def product(*iterables: Iterable[object], repeat: int = 1) -> Iterator[tuple[object, ...]]:
    return _limit(itertools.product(*iterables, repeat=repeat))


def zip_shortest(*iterables: Iterable[object]) -> Iterator[tuple[object, ...]]:
    return zip(*iterables, strict=False)


def zip_longest(*iterables: Iterable[object], fillvalue: object = None) -> Iterator[tuple[object, ...]]:
    return itertools.zip_longest(*iterables, fillvalue=fillvalue)


def _limit(items: Iterator[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    for count, item in enumerate(items):
        if count >= MOST:
            raise OverflowError(f"more than {MOST} combinations")
        yield item
