"""Ensure, insert, replace or delete one line of a text."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.diffs import lines_of


class Order(Struct, frozen=True):
    """The line and its position."""

    content: str
    match: str
    location: str
    before: str
    after: str
    indent: bool

    def like(self, neighbour: str, end: str | None = None) -> list[str]:
        """The lines to write beside ``neighbour``, indented like it; they end as it does, or with ``end``."""
        eol = end_of(neighbour) or "\n" if end is None else end
        first, *rest = self.content.rstrip().split("\n")
        if self.indent:
            space = neighbour[: len(neighbour) - len(neighbour.lstrip())].rstrip("\r\n")
            first = f"{space}{first.lstrip()}"
        return [f"{text.rstrip()}{eol}" for text in (first, *rest)]


def end_of(line: str) -> str:
    """The line ending of a line; empty if it has none, as the last one of a file may."""
    return line[len(line.rstrip("\r\n")) :]


Change = Callable[[list[str], Order], list[str]]


def changer(mode: str | None, order: Order, *, empty: bool = False) -> Callable[[str], str]:
    """The change of a text that an order asks for. ``empty``: the content is given, and it is empty."""
    if not mode:
        raise Refused(f"mode is missing; give one of {', '.join(MODES)}")
    change = MODES.get(mode.lower())
    if change is None:
        raise Refused(f"no mode is called {mode!r}; use one of {', '.join(MODES)}")
    if not order.content and not empty and mode.lower() != "delete":
        raise Refused("content can only be empty if mode is delete")
    return lambda old: "".join(change(lines_of(old), order))


def _finder(pattern: str) -> Callable[[str], bool]:
    """A function that is true if a line matches the regular expression, or contains the text."""
    try:
        search = re.compile(pattern).search
    except re.error:
        return lambda text: pattern in text
    return lambda text: search(text.rstrip("\n")) is not None or pattern in text


def _lines_of(lines: list[str], pattern: str) -> list[int]:
    """The positions of the lines that match; none without a pattern."""
    return [at for at, text in enumerate(lines) if pattern and _finder(pattern)(text)]


def _anchors(lines: list[str], order: Order) -> tuple[int | None, int | None]:
    """The positions of ``after`` and ``before``. One of them may be missing; each may match only one line."""
    found = {word: _lines_of(lines, getattr(order, word)) for word in ("after", "before")}
    given = {word: getattr(order, word) for word in found if getattr(order, word)}
    if given and not any(found.values()):
        said = " and ".join(f"{word}: no line matches {pattern!r}" for word, pattern in given.items())
        raise Refused(said)
    for word, places in found.items():
        if len(places) > 1:
            raise Refused(f"{word}: {len(places)} lines match {given[word]!r}; only one may match")
    first, last = (places[0] if places else None for places in found.values())
    return first, last


def _put(lines: list[str], at: int, new: list[str]) -> list[str]:
    """Insert lines, unless the lines at or before this position are the same."""
    size, wanted = len(new), _bare(new)
    if any(_bare(lines[max(start, 0) : start + size]) == wanted for start in (at - size, at)):
        return lines
    head = lines[:at]
    if head and not end_of(head[-1]):
        head[-1] += end_of(head[-2]) if len(head) > 1 else "\n"
    return [*head, *new, *lines[at:]]


def _bare(lines: list[str]) -> list[str]:
    return [text.rstrip("\r\n") for text in lines]


def _insert(lines: list[str], order: Order) -> list[str]:
    if order.location:
        return _at_location(lines, order)
    if not (order.before or order.after):
        raise Refused("insert needs a location (start or end), before or after")
    first, last = _anchors(lines, order)
    if first is not None and last is not None:
        if first >= last:
            raise Refused("the line of 'after' comes after the line of 'before'")
        new = order.like(lines[last], end_of(lines[first]))
        return lines if _holds(lines[first + 1 : last], new) else _put(lines, last, new)
    if first is not None:
        return _put(lines, first + 1, order.like(lines[first]))
    assert last is not None
    return _put(lines, last, order.like(lines[last], _end_before(lines, last)))


def _at_location(lines: list[str], order: Order) -> list[str]:
    if order.location not in ("start", "end"):
        raise Refused(f"no location is called {order.location!r}; use start or end")
    if order.location == "end" and lines:
        above = "" if end_of(lines[-1]) else lines[-1]  # after a complete line, a new one begins
        return _put(lines, len(lines), order.like(above, _end_before(lines, len(lines))))
    eol = end_of(lines[0]) or "\n" if lines else "\n"  # nothing comes before: the indentation is its own
    return _put(lines, 0, [f"{text.rstrip()}{eol}" for text in order.content.rstrip().split("\n")])


def _end_before(lines: list[str], at: int) -> str:
    """The line ending of the nearest line before this position that has one; else that of the line there."""
    nearest = [*reversed(lines[:at]), *lines[at : at + 1]]
    return next((end for text in nearest if (end := end_of(text))), "\n")


def _holds(lines: list[str], new: list[str]) -> bool:
    """True if the new lines are among these, one after the other."""
    have, wanted = _bare(lines), _bare(new)
    return any(have[at : at + len(wanted)] == wanted for at in range(len(have)))


def _ensure(lines: list[str], order: Order) -> list[str]:
    if not (order.before or order.after):
        raise Refused("ensure needs before, after, or both")
    first, last = _anchors(lines, order)
    if first is not None and last is not None:
        new = order.like(lines[first])
        between = lines[first + 1 : last]
        if last > first and _bare(between) == _bare(new):
            return lines
        if not 0 < last - first <= 2:
            raise Refused(
                "there is more than one line between 'after' and 'before'; make the patterns more specific"
            )
        return [*lines[: first + 1], *new, *lines[last:]]
    if first is not None:
        return _put(lines, first + 1, order.like(lines[first]))
    assert last is not None
    above = lines[last - 1] if last else ""
    return _put(lines, last, order.like(above, _end_before(lines, last)))


def _replace(lines: list[str], order: Order) -> list[str]:
    """Replace the first match and all equal lines. (Salt changes one per run, so it is never done.)"""
    matches = _finder(order.match)
    first = next((text for text in lines if matches(text)), None) if order.match else None
    if first is None:
        return lines
    new = order.like(first, end_of(first) or _end_before(lines, len(lines) - 1))
    new[-1] = new[-1].rstrip("\r\n") + end_of(first)
    return [line for text in lines for line in (new if text == first else [text])]


def _delete(lines: list[str], order: Order) -> list[str]:
    """Delete every match. (Salt deletes the first and equal lines in each run, to the same end.)"""
    if not order.match and not order.content:
        raise Refused("delete needs match or content")
    if not order.match:
        return lines
    matches = _finder(order.match)
    return [text for text in lines if not matches(text)]


MODES: dict[str, Change] = {"ensure": _ensure, "insert": _insert, "replace": _replace, "delete": _delete}
