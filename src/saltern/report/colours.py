"""Colours, and the capabilities of a stream."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TextIO

from saltern.language.result import Outcome, Result

RESET = "\x1b[0m"
COLOURS = {
    "red": "\x1b[0;31m",
    "green": "\x1b[0;32m",
    "yellow": "\x1b[0;33m",
    "cyan": "\x1b[0;36m",
    "grey": "\x1b[0;90m",
    "bold": "\x1b[1m",
    "bright red": "\x1b[1;31m",
    "bright yellow": "\x1b[1;33m",
}

Paint = Callable[[str, str], str]


def painter(colour: bool) -> Paint:
    """The function ``paint(text, "red")``; without colours, it returns the text unchanged."""
    return _colour if colour else _bare


def _colour(text: str, colour: str) -> str:
    return f"{COLOURS[colour]}{text}{RESET}" if colour else text


def _bare(text: str, _colour: str) -> str:
    return text


def of_result(result: Result) -> str:
    """The colour of a block, by its outcome and whether there were changes."""
    return OF_KINDS[kind_of(result)]


OF_KINDS = {"failed": "red", "differs": "bright yellow", "changed": "cyan", "clean": "green"}


def kind_of(result: Result) -> str:
    """Salt's four kinds of results: ``failed``, ``differs``, ``changed`` and ``clean``."""
    if result.outcome is Outcome.FAILED:
        return "failed"
    if result.outcome is Outcome.WOULD_CHANGE:
        return "differs"
    return "changed" if result.changes else "clean"


DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def of_diff_line(line: str) -> str:
    """The colour of a line of a diff; empty for an unchanged line."""
    return DIFF_COLOURS.get(line[:1], "")


def wanted(out: TextIO, forced: bool | None = None) -> bool:
    """True if colours are wanted: by the user's choice, else by NO_COLOR, TERM and the stream."""
    if forced is not None:
        return forced
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and is_terminal(out)


def is_terminal(out: TextIO) -> bool:
    try:
        return out.isatty()
    except (ValueError, AttributeError):  # closed, or an object that only looks like a file
        return False


def terminal_width(out: TextIO) -> int:
    """The columns of the terminal; 0 (no limit) if the stream is not a terminal."""
    if not is_terminal(out):
        return 0
    if (columns := os.environ.get("COLUMNS", "")).isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(out.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
