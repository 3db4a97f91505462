"""One line of a text: made sure of, inserted, replaced or deleted."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.diffs import lines_of


class Order(Struct, frozen=True):
    """What is to be done with which line."""

    content: str
    match: str
    location: str
    before: str
    after: str
    indent: bool

    def like(self, neighbour: str) -> str:
        """The line as it is to be written beside ``neighbour``."""
        if not self.indent:
            return f"{self.content.rstrip()}\n"
        space = neighbour[: len(neighbour) - len(neighbour.lstrip())].rstrip("\r\n")
        return f"{space}{self.content.strip()}\n"


Change = Callable[[list[str], Order], list[str]]


def changer(mode: str | None, order: Order) -> Callable[[str], str]:
    if not mode:
        raise Refused(f"mode is missing; give one of {', '.join(MODES)}")
    change = MODES.get(mode.lower())
    if change is None:
        raise Refused(f"no mode is called {mode!r}; there are {', '.join(MODES)}")
    if not order.content and mode.lower() != "delete":
        raise Refused("content can only be empty if mode is delete")
    if "\n" in order.content.rstrip("\n"):
        raise Refused("content must be one line; file.blockreplace manages several")
    clean = Order(
        order.content.rstrip("\n"), order.match, order.location, order.before, order.after, order.indent
    )
    return lambda old: "".join(change(lines_of(old), clean))


def _finder(pattern: str) -> Callable[[str], bool]:
    """Whether a line matches: as a regular expression, or because it holds the very text."""
    try:
        search = re.compile(pattern).search
    except re.error:
        return lambda text: pattern in text
    return lambda text: search(text.rstrip("\n")) is not None or pattern in text


def _only(lines: list[str], pattern: str, word: str) -> int:
    """The one line that matches."""
    found = [at for at, text in enumerate(lines) if _finder(pattern)(text)]
    if not found:
        raise Refused(f"{word}: no line matches {pattern!r}")
    if len(found) > 1:
        raise Refused(f"{word}: {len(found)} lines match {pattern!r}; it must be one")
    return found[0]


def _put(lines: list[str], at: int, text: str) -> list[str]:
    """Insert a line, unless it is already right here or right before."""
    if text in lines[max(at - 1, 0) : at] or text in lines[at : at + 1]:
        return lines
    head = lines[:at]
    if head and not head[-1].endswith("\n"):
        if head[-1] + "\n" == text:
            return lines
        head[-1] += "\n"
    return [*head, text, *lines[at:]]


def _insert(lines: list[str], order: Order) -> list[str]:
    if order.before and order.after:
        first, last = _only(lines, order.after, "after"), _only(lines, order.before, "before")
        if first >= last:
            raise Refused("the line of 'after' comes behind the line of 'before'")
        text = order.like(lines[last])
        return lines if text in lines[first + 1 : last] else _put(lines, last, text)
    if order.before:
        at = _only(lines, order.before, "before")
        return _put(lines, at, order.like(lines[at]))
    if order.after:
        at = _only(lines, order.after, "after")
        return _put(lines, at + 1, order.like(lines[at]))
    places = {"start": 0, "end": len(lines)}
    if order.location not in places:
        raise Refused("insert needs a location (start or end), before or after")
    at = places[order.location]
    if not at:  # nothing stands before it: the indentation is its own
        return _put(lines, 0, f"{order.content.rstrip()}\n")
    return _put(lines, at, order.like(lines[-1]))


def _ensure(lines: list[str], order: Order) -> list[str]:
    if order.before and order.after:
        first, last = _only(lines, order.after, "after"), _only(lines, order.before, "before")
        if not 0 < last - first <= 2:
            raise Refused("there is more than one line between 'after' and 'before'; which shall it be?")
        text = order.like(lines[first])
        return lines if lines[first + 1 : last] == [text] else [*lines[: first + 1], text, *lines[last:]]
    if order.before or order.after:
        return _insert(lines, order)
    raise Refused("ensure needs before, after, or both")


def _replace(lines: list[str], order: Order) -> list[str]:
    """The first line that matches, and its like. (Salt changes one for each run, so it never settles.)"""
    matches = _finder(order.match)
    first = next((text for text in lines if matches(text)), None)
    if first is None:
        return lines
    ending = "\n" if first.endswith("\n") else ""
    new = order.like(first).rstrip("\n") + ending
    return [new if text == first else text for text in lines]


def _delete(lines: list[str], order: Order) -> list[str]:
    """Every line that matches. (Salt takes the first and its like in each run, to the same end.)"""
    if not order.match:
        raise Refused("delete needs match or content")
    matches = _finder(order.match)
    after = _only(lines, order.after, "after") if order.after else -1
    before = _only(lines, order.before, "before") if order.before else len(lines)
    return [text for at, text in enumerate(lines) if not (after < at < before and matches(text))]


MODES: dict[str, Change] = {"ensure": _ensure, "insert": _insert, "replace": _replace, "delete": _delete}
