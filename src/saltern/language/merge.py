"""Merges two trees of data: pillar files, defaults and overrides. One row per strategy.

Inputs are never changed. The result shares unmerged parts with them; copy it before you pass it to a
template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from saltern.language.ordered import like


class CannotMerge(TypeError):
    """The values cannot be merged, or the strategy is unknown; the text is for the user."""


class Strategy(Struct, frozen=True):
    """One row; the arguments of ``combine`` are base, over, and True if lists are joined."""

    name: str
    doc: str
    combine: Callable[[object, object, bool], object]


def merge(base: object, over: object, *, strategy: str = "smart", merge_lists: bool = False) -> object:
    """Merge ``over`` into ``base``; on conflict, ``over`` wins. Raises ``CannotMerge``."""
    row = MERGES.get(strategy)
    if row is None:
        known = ", ".join(MERGES)
        raise CannotMerge(f"no merge strategy is called {strategy!r}; there are {known}")
    return row.combine(base, over, merge_lists)


def deep(
    base: Mapping[object, object], over: Mapping[object, object], merge_lists: bool
) -> dict[object, object]:
    """Merge mappings at every depth; for anything else, ``over`` wins."""
    merged = like(base, dict(base))
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[key] = deep(below, value, merge_lists)
        elif merge_lists and isinstance(below, list) and isinstance(value, list):
            merged[key] = join_lists(below, value)
        else:
            merged[key] = value
    return merged


def join_lists(first: list[object], second: list[object]) -> list[object]:
    """Both lists without repetitions; the first list keeps its order."""
    return first + [item for item in second if item not in first]


def _recurse(base: object, over: object, merge_lists: bool) -> object:
    return deep(*_mappings(base, over), merge_lists)


def _overwrite(base: object, over: object, _: bool) -> object:
    below, above = _mappings(base, over)
    return like(base, {**below, **above})


def _list(base: object, over: object, _: bool) -> object:
    below, above = _mappings(base, over)
    both = {key: [value, above[key]] for key, value in below.items() if key in above}
    return like(base, {**below, **above, **both})


def _aggregate(base: object, over: object, _: bool) -> object:
    """Join lists at the top level. Salt joins deeper lists only if its `yamlex` renderer has marked them,
    which saltern does not have.
    """
    if isinstance(base, list) and isinstance(over, list):
        return join_lists(base, over)
    if isinstance(base, Mapping) and isinstance(over, Mapping):
        return like(base, {**base, **over})
    return over


def _mappings(base: object, over: object) -> tuple[Mapping[object, object], Mapping[object, object]]:
    for value in (base, over):
        if not isinstance(value, Mapping):
            raise CannotMerge(f"only mappings can be merged, not {type(value).__name__} ({value!r:.60})")
    assert isinstance(base, Mapping) and isinstance(over, Mapping)
    return base, over


MERGES: dict[str, Strategy] = {
    row.name: row
    for row in (
        Strategy("smart", "The default strategy for YAML, which is `recurse`.", _recurse),
        Strategy(
            "recurse",
            "Mappings are merged at every depth; for anything else, the later value wins.",
            _recurse,
        ),
        Strategy("overwrite", "A later key replaces the whole value of an earlier one.", _overwrite),
        Strategy("list", "A key in both becomes a list of both values.", _list),
        Strategy("aggregate", "Like `overwrite`, but two lists are joined.", _aggregate),
        Strategy("none", "Like `recurse`; for pillar, environments are kept separate.", _recurse),
    )
}
