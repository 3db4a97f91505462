"""Hints for text that libyaml refuses, and the place to look at: libyaml reports where it gave up."""

from __future__ import annotations

import re

from saltern.language.requisites import REQUISITE_WORDS

# Messages of libyaml → hints, where its text does not say more.
_HINTS = (
    (
        "mapping values are not allowed",
        "a ':' too many, or a key indented too far; quote values that contain ': '",
    ),
    (
        "found character that cannot start any token",
        "tabs may not indent; a value that starts with '%', '@' or '`' needs quotes",
    ),
    ("found unexpected end of stream", "a quote or bracket is not closed"),
    ("found unexpected document indicator", "a quote is not closed"),
    ("did not find expected key", "check the indentation, and that every quote is closed"),
    ("did not find expected ',' or", "a '[' or '{' is not closed"),
    ("could not find expected ':'", "a key without its ':'"),
    ("did not find expected '-' indicator", "check the indentation of this list"),
    ("did not find expected node content", "a '[' or '{' is not closed"),
    (
        "did not find expected alphabetic or numeric character",
        "a value that starts with '*' or '&' needs quotes",
    ),
)
_TWO_KEYS = re.compile(
    r"[ ]*(?:- +)*(?P<key>[\w.-]+):[ ]+(?P<value>[^\s'\"{\[|>].*?:(?:[ ].*?)?)[ ]*(?:[ ]#.*)?"
)
_KEY = re.compile(r"[ ]*(?:- +)*(?P<key>[^\s:'\"{\[#][^:'\"{\[#]*?)[ ]*")
_VALUE = re.compile(r"[ ]*(?:- +)*(?P<key>[\w.-]+):[ ]+[^\s|>&].*")

Place = tuple[int, int]  # line and column, from 1


def hint(said: str, text: str, place: Place) -> tuple[str, Place]:
    """The hint, and its place."""
    if said.startswith("mapping values are not allowed"):
        lines = text.split("\n")
        return _same_line(lines[place[0] - 1], place) or _line_above(lines, place) or _plain(said, place)
    return _plain(said, place)


def _plain(said: str, place: Place) -> tuple[str, Place]:
    return next((fix for start, fix in _HINTS if start in said), ""), place


def _same_line(line: str, place: Place) -> tuple[str, Place] | None:
    """``- require: pkg: x``: two keys on one line."""
    two = _TWO_KEYS.fullmatch(line)
    if two is None:
        return None
    if two["key"] in REQUISITE_WORDS:
        fix = f"put the target on a line of its own, indented below '{two['key']}:': '- {two['value']}'"
        return fix, place
    return f"quote what follows '{two['key']}:', since it contains ': '", place


def _line_above(lines: list[str], place: Place) -> tuple[str, Place] | None:
    """A hint for a key without its colon, or with a value, and another key indented below it."""
    number = place[0] - 1
    while number and not lines[number - 1].strip():
        number -= 1
    if not number or _indent(lines[number - 1]) >= _indent(lines[place[0] - 1]):
        return None
    above = lines[number - 1]
    if key := _KEY.fullmatch(above):
        return f"end {key['key']!r} with a ':'", (number, len(above.rstrip()) + 1)
    if value := _VALUE.fullmatch(above):
        return f"{value['key']!r} above it already has a value: indent this line less", place
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
