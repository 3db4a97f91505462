"""Rows of queries as nested mappings, by the common rules of Salt's pillar databases.

The first columns of a row are nested keys, down to ``depth``. The last column is the value; if several
columns are left, the value is a mapping by their names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from saltern.compat.pillars.ports import SourceError
from saltern.language.merge import merge

Row = Sequence[Any]
Level = dict[Any, Any]
WORDS = ("query", "depth", "as_list", "as_json", "ignore_null")


class Query(Struct, frozen=True, kw_only=True):
    """One query, and how its rows are nested. ``with_lists``: columns, from 1, whose values become a list."""

    query: str
    depth: int = 0
    as_list: bool = False
    as_json: bool = False
    with_lists: tuple[int, ...] = ()
    ignore_null: bool = False


def queries(given: object) -> list[tuple[str, Query]]:
    """The queries of an entry, each with the key for its rows; empty if there is none."""
    if isinstance(given, Mapping):
        return [(str(key), one) for key in sorted(given) if (one := _query(given[key])) is not None]
    found: list[tuple[str, Query]] = []
    for entry in given if isinstance(given, list) else [given]:
        if isinstance(entry, Mapping) and "query" not in entry:
            found += queries(entry)
        elif (made := _query(entry)) is not None:
            found.append(("", made))
    return found


def _query(value: Any) -> Query | None:
    if isinstance(value, str):
        return Query(query=value) if value else None
    if isinstance(value, list) and value:
        return Query(query=str(value[0]), depth=int(value[1]) if len(value) > 1 else 0)
    if not isinstance(value, Mapping) or not value.get("query"):
        return None
    lists = value.get("with_lists") or ()
    numbers = lists.split(",") if isinstance(lists, str) else lists
    known = {name: value[name] for name in WORDS if name in value}
    return Query(**known, with_lists=tuple(int(number) for number in numbers))


class RowNest:
    """The combined result of the queries of one entry, in ``data``."""

    def __init__(self) -> None:
        self.data: Level = {}

    def add(self, root: str, names: Sequence[str], rows: Sequence[Row], query: Query) -> None:
        """Add the rows of one query below ``root``, in place of those of an earlier query."""
        if root:
            self.data[root] = {}
        top = self.data[root] if root else self.data
        if query.as_json and len(names) == 1:
            _add_documents(top, rows, query)
        else:
            _Rows(top, names, query).add(rows)


class _Rows:
    """Adds the rows of one query to a level, and marks the keys whose mappings become lists."""

    def __init__(self, top: Level, names: Sequence[str], query: Query) -> None:
        self._top = top
        self._names = names
        self._query = query
        count = len(names)
        self._depth = query.depth if 0 < query.depth < count else count - 1
        self._marks: dict[int, tuple[Level, dict[Any, None]]] = {}

    def add(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._add(row)
        for level, keys in reversed(self._marks.values()):  # from within
            level.update((key, _as_list(level[key])) for key in keys if key in level)

    def _add(self, row: Row) -> None:
        level = self._top
        for column, key in enumerate(row[: max(self._depth - 1, 0)], 1):
            self._mark(level, key, column)
            level = self._below(level, key)
        if self._depth == len(self._names) - 1:
            self._put_value(level, row[self._depth - 1], row[-1])
        else:
            self._put_columns(level, row)

    def _below(self, level: Level, key: Any) -> Level:
        """The mapping under a key; an existing value is kept beside it, or replaced."""
        there = level.get(key)
        if isinstance(there, dict):
            return there
        made: Level = {}
        if isinstance(there, list):
            there.append(made)
        else:
            level[key] = [there, made] if self._query.as_list and key in level else made
        return made

    def _put_value(self, level: Level, key: Any, value: Any) -> None:
        if self._depth in self._query.with_lists or (self._query.as_list and key in level):
            before = level.get(key, [])
            level[key] = [*(before if isinstance(before, list) else [before]), value]
        else:
            self._put(level, key, value)

    def _put_columns(self, level: Level, row: Row) -> None:
        key = row[self._depth - 1]
        inner = level.setdefault(key, {})
        self._mark(level, key, self._depth)
        for column in range(self._depth, len(self._names)):
            name, value = self._names[column], row[column]
            self._mark(inner, name, column + 1)
            if self._query.as_list and name in inner:
                before = inner[name]
                inner[name] = [*(before if isinstance(before, list) else [before]), value]
            else:
                self._put(inner, name, value)

    def _put(self, level: Level, key: Any, value: Any) -> None:
        if not self._query.ignore_null or value is not None:
            level[key] = value

    def _mark(self, level: Level, key: Any, column: int) -> None:
        if column in self._query.with_lists:
            self._marks.setdefault(id(level), (level, {}))[1].setdefault(key)


def _as_list(value: Any) -> Any:
    if isinstance(value, dict):
        return list(value.values())
    return [value] if isinstance(value, list) else value


def _add_documents(top: Level, rows: Sequence[Row], query: Query) -> None:
    """Add the JSON document in the only column."""
    for (value,) in rows:
        text = bytes(value).decode() if isinstance(value, bytes | bytearray | memoryview) else value
        data = json.loads(text) if isinstance(text, str) else text
        if not isinstance(data, Mapping):
            raise SourceError("with as_json a row must be a mapping")
        made = merge(top, data, strategy="recurse", merge_lists=query.as_list)
        assert isinstance(made, dict)
        top.update(made)
