"""A chain file with one change: an action added, changed, moved, copied or removed. Pure, text to text.

Other actions keep their layout and comments. A list on one line is rewritten with a line for each action.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from saltern.chains.draft import NEW
from saltern.language.diagnostics import Diagnostic, OperationError

LISTS = ("actions", "finally")
Item = dict[str, Any]
Key = Literal["actions", "finally"]


class Place(Struct, frozen=True, kw_only=True):
    """The position of an action: its list, and its index in the list."""

    list: Key = "actions"
    index: int = 0


class Span(Struct, frozen=True, kw_only=True):
    """The lines of an action, from 0 on: comments above it, its first line, and the line after its last."""

    above: int
    first: int
    end: int


def items_of(text: str) -> dict[str, list[Any]]:
    """Both lists of actions, as they are written; an unreadable text has none."""
    data = _data(text)
    return {key: list(data[key]) if isinstance(data.get(key), list) else [] for key in LISTS}


def spans_of(text: str, key: str) -> list[Span] | None:
    """The lines of each action of a list; None if they have no lines of their own."""
    from saltern.render.yaml_places import list_items

    found = list_items(text, key)
    if found is None:
        return None
    starts, end, lines = found[0], found[1], text.splitlines()
    if any(lines[row][:column].strip() != "-" for row, column in starts):
        return None
    above = [_comments_above(lines, row) for row, _ in starts]
    ends = [*above[1:], _comments_above(lines, end)] if starts else []
    rows = zip(above, (row for row, _ in starts), ends, strict=True)
    return [Span(above=high, first=first, end=last) for high, first, last in rows]


def _comments_above(lines: list[str], row: int) -> int:
    """The first line of the comments right above a line; blank lines above them stay with the preceding
    lines.
    """
    while row > 0 and lines[row - 1].lstrip().startswith("#"):
        row -= 1
    return row


def add_action(text: str, at: Place, action: Mapping[str, Any]) -> str:
    """Insert an action at a position; the actions from there on follow it."""
    items = items_of(text)[at.list]
    index = max(0, min(at.index, len(items)))
    spans = spans_of(text, at.list) if items else None
    if not spans:
        return _rewrite_list(text, at.list, [*items[:index], dict(action), *items[index:]])
    lines = _lines(text)
    row = spans[index].above if index < len(spans) else spans[-1].end
    return "".join([*lines[:row], _format_action(action, _indent(lines, spans)), *lines[row:]])


def set_action(text: str, at: Place, action: Mapping[str, Any]) -> str:
    """Write an action in place of another; comments above it stay."""
    items = items_of(text)[at.list]
    _check(at, items)
    spans = spans_of(text, at.list)
    if spans is None:
        return _rewrite_list(text, at.list, [*items[: at.index], dict(action), *items[at.index + 1 :]])
    lines, own = _lines(text), spans[at.index]
    kept = _blank_tail(lines, own)
    return "".join(
        [*lines[: own.first], _format_action(action, _indent(lines, spans)), *kept, *lines[own.end :]]
    )


def remove_action(text: str, at: Place) -> str:
    """The text without an action and the comments above it."""
    items = items_of(text)[at.list]
    _check(at, items)
    spans = spans_of(text, at.list)
    if spans is None or len(items) == 1:
        return _rewrite_list(text, at.list, [*items[: at.index], *items[at.index + 1 :]])
    lines, own = _lines(text), spans[at.index]
    return "".join([*lines[: own.above], *lines[own.end :]])


def move_action(text: str, at: Place, to: Place) -> str:
    """Move an action with its comments, also to the other list. ``to`` counts without the action."""
    items = items_of(text)
    _check(at, items[at.list])
    mine, spans = items[at.list][at.index], spans_of(text, at.list)
    if at.list != to.list or spans is None:
        return add_action(remove_action(text, at), to, mine)
    index = max(0, min(to.index, len(spans) - 1))
    lines, own = _lines(text), spans[at.index]
    block = lines[own.above : own.end]
    others = [one for number, one in enumerate(spans) if number != at.index]
    row = others[index].above if index < len(others) else spans[-1].end
    before = [*lines[: own.above], *lines[own.end :]]
    row -= len(block) if row >= own.end else 0
    return "".join([*before[:row], *block, *before[row:]])


def copy_action(text: str, at: Place) -> str:
    """Insert a copy of an action after it, with its own id."""
    items = items_of(text)
    _check(at, items[at.list])
    mine = items[at.list][at.index]
    taken = {str(one.get("id")) for key in LISTS for one in items[key] if isinstance(one, dict)}
    copy = {**mine, **({"id": free_name(str(mine["id"]), taken)} if "id" in mine else {})}
    return add_action(text, Place(list=at.list, index=at.index + 1), copy)


def set_head(text: str, values: Mapping[str, Any]) -> str:
    """Set keys of the chain itself, such as its name and description; None removes a key."""
    for key, value in values.items():
        text = _with_key(text, key, value)
    return text


def _with_key(text: str, key: str, value: Any) -> str:
    """Set one key: on its line if the key has one of its own; otherwise the file is written again."""
    lines = _lines(text)
    own = [row for row, line in enumerate(lines) if re.match(rf"{re.escape(key)}\s*:", line)]
    written = [] if value is None else [_dump({key: value})]
    if len(own) == 1 and _is_one_line(lines, own[0]) and "\n" not in "".join(written).rstrip("\n"):
        return "".join([*lines[: own[0]], *written, *lines[own[0] + 1 :]])
    data: Item = {**_data(text), key: value}
    kept = {name: one for name, one in data.items() if one is not None}
    first: Item = {name: kept[name] for name in ("chain", "description") if name in kept}
    ordered: Item = {**first, **kept}
    return _dump(ordered)


def _is_one_line(lines: list[str], row: int) -> bool:
    """True if the value of a key ends where its line does."""
    following = lines[row + 1] if row + 1 < len(lines) else ""
    is_written = lines[row].partition(":")[2].strip() not in ("", "|", ">", "|-", ">-")
    return is_written and not following.startswith((" ", "\t", "-"))


def free_name(name: str, taken: set[str]) -> str:
    """The name, with the first free number appended if the name is taken."""
    if name not in taken:
        return name
    stem = name.rpartition("-")[0] if name.rpartition("-")[2].isdigit() and "-" in name else name
    return next(one for n in range(2, len(taken) + 3) if (one := f"{stem}-{n}") not in taken)


# -- text -----------------------------------------------------------------------------------------------


def _data(text: str) -> dict[str, Any]:
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    try:
        found = read(text)
    except YamlProblem:
        return {}
    return dict(found) if isinstance(found, Mapping) else {}


def _lines(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines


def _indent(lines: list[str], spans: list[Span]) -> int:
    line = lines[spans[0].first]
    return len(line) - len(line.lstrip(" "))


def _blank_tail(lines: list[str], own: Span) -> list[str]:
    """The blank lines at the end of an action: they are between it and the next one."""
    end = own.end
    while end > own.first and not lines[end - 1].strip():
        end -= 1
    return lines[end : own.end]


def _format_action(action: Mapping[str, Any], indent: int) -> str:
    first, *rest = _dump(dict(action)).rstrip("\n").split("\n")
    pad = " " * indent
    return "\n".join([f"{pad}- {first}", *(f"{pad}  {line}" if line else "" for line in rest)]) + "\n"


def _rewrite_list(text: str, key: str, items: list[Any]) -> str:
    """The whole file, rewritten with this list; an empty list ``finally`` is left out."""
    data = _data(text)
    if not data and text.strip():
        what = "the text is not a chain, so its actions cannot be changed"
        raise OperationError(Diagnostic(code="chain-file", what=what, fix="correct the text first"))
    data = data or {"chain": _data(NEW.format(name="new"))["chain"]}
    data[key] = items
    if key == "finally" and not items:
        del data[key]
    return _dump(data)


def _dump(value: object) -> str:
    from saltern.report.yaml import dump

    return dump(value)


def _check(at: Place, items: list[Any]) -> None:
    if not 0 <= at.index < len(items) or not isinstance(items[at.index], dict):
        what = f"there is no action number {at.index + 1} among the {at.list}"
        raise OperationError(Diagnostic(code="chain-file", what=what, fix="read the chain again"))
