"""The texts in data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def texts_in(value: object) -> Iterator[str]:
    """All texts in data, at any depth, without the keys of mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from texts_in(inner)
