"""Filters that pair and arrange the members of lists. They answer with an iterator, as in Salt."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

MOST = 10_000_000  # tuples; a template that asks for more does not know what it asks for


def combinations(iterable: Iterable[Any], r: int) -> Iterator[tuple[Any, ...]]:
    return _bounded(itertools.combinations(iterable, r))


def combinations_with_replacement(iterable: Iterable[Any], r: int) -> Iterator[tuple[Any, ...]]:
    return _bounded(itertools.combinations_with_replacement(iterable, r))


def compress(data: Iterable[Any], selectors: Iterable[Any]) -> Iterator[Any]:
    return itertools.compress(data, selectors)


def permutations(iterable: Iterable[Any], r: int | None = None) -> Iterator[tuple[Any, ...]]:
    return _bounded(itertools.permutations(iterable, r))


def product(*iterables: Iterable[Any], repeat: int = 1) -> Iterator[tuple[Any, ...]]:
    return _bounded(itertools.product(*iterables, repeat=repeat))


def zipped(*iterables: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    return zip(*iterables, strict=False)


def zip_longest(*iterables: Iterable[Any], fillvalue: Any = None) -> Iterator[tuple[Any, ...]]:
    return itertools.zip_longest(*iterables, fillvalue=fillvalue)


def _bounded(items: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for count, item in enumerate(items):
        if count >= MOST:
            raise OverflowError(f"more than {MOST} combinations")
        yield item
