"""Writes problems for people: what, where, the lines of the file around it, and how to fix it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TextIO

from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic, Severity
from saltern.language.source import Mark, Unquoted
from saltern.report.colours import Paint, painter
from saltern.report.text import columns, cut, emit, safe, safe_line

LONGEST = 160  # columns shown of a line; the caret stays visible
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


# The values of these keys must not be logged.
_SECRET = re.compile(
    r"(?i)(\b\w*(?:password|passwd|passphrase|secret|token|api_key)['\"]?:\s+)(?!['\"]?\{)\S.*"
)
_WITHIN = ("", " ", "\t", "-", "#", "{")  # the beginning of a line that is part of a state
MOST_SHOWN = 100
MOST_READ = 10_000_000  # characters of a file that are read to show some lines


def show(problems: Iterable[Diagnostic], out: TextIO, colour: bool = False) -> None:
    """Write the problems, each once, sorted by place, and their count if there are several.

    Those after the first ``MOST_SHOWN`` are only counted; ``--out json`` lists them all.
    """
    found = sorted(dict.fromkeys(problems), key=_place)
    if not found:
        return
    paint = painter(colour)
    files: dict[str, list[str]] = {}
    text = [line for problem in found[:MOST_SHOWN] for line in _lines(problem, paint, files)]
    if len(found) > MOST_SHOWN:
        text.append(f"… and {len(found) - MOST_SHOWN} more; --out json lists them all")
    if len(found) > 1:
        text.append(paint(_count(found), "bold"))
    emit(out, secrets.mask("\n".join([*text, ""])))


def as_text(problem: Diagnostic) -> str:
    """The problem without excerpt and colours, for lists of messages in JSON."""
    return secrets.mask(str(problem))


def _place(problem: Diagnostic) -> tuple[str, int, int, str, str]:
    mark = problem.where or Mark("")
    return (mark.file, mark.line, mark.column, problem.code, problem.what)


def _lines(problem: Diagnostic, paint: Paint, files: dict[str, list[str]]) -> Iterator[str]:
    where = f"{paint(safe_line(str(problem.where)), 'bold')}: " if problem.where else ""
    kind = "warning: " if problem.severity is Severity.WARNING else ""
    what = paint(kind + safe(problem.what), COLOURS[problem.severity])
    yield f"{where}{what} {paint(f'[{safe_line(problem.code)}]', 'grey')}"
    if problem.where and not isinstance(problem.where, Unquoted):
        yield from _excerpt(problem.where, paint, files)
    for line in safe(problem.detail).splitlines():
        yield f"  {line}"
    for note, mark in problem.also:
        yield f"  {safe_line(note)}: {safe_line(str(mark))}"
    if problem.fix:
        yield f"  {paint('fix:', 'green')} {safe_line(problem.fix)}"


def _excerpt(mark: Mark, paint: Paint, files: dict[str, list[str]]) -> Iterator[str]:
    """The line, its neighbours, and a caret below the column; nothing if the file cannot be read."""
    if mark.file not in files:
        files[mark.file] = _read(mark.file)
    text = files[mark.file]
    if not 1 <= mark.line <= len(text) or _is_hidden(text, mark.line):
        return
    gutter = len(str(mark.line + 1))
    for number in range(max(mark.line - 1, 1), min(mark.line + 1, len(text)) + 1):
        line, here = _mask_line(text[number - 1]), number == mark.line
        start = max(mark.column - LONGEST + 20, 0) if here else 0
        yield f"  {paint(f'{number:>{gutter}} |', 'grey')} {cut(_from(line, start), LONGEST)}".rstrip()
        if here and 1 <= mark.column <= len(line) + 1:
            spaces = columns(_from(line[: mark.column - 1], start))
            yield f"  {paint(' ' * gutter + ' |', 'grey')} {' ' * spaces}{paint('^', 'red')}"


@lru_cache(maxsize=8)  # a line may be long and have many problems
def _mask_line(line: str) -> str:
    return _SECRET.sub(r"\1•••", line)


def _is_hidden(text: list[str], line: int) -> bool:
    """True if the line is part of a state that is marked ``no_log``; states begin at the margin."""
    first, last = max(line - 2, 0), min(line, len(text) - 1)
    while first > 0 and text[first][:1] in _WITHIN:
        first -= 1
    while last + 1 < len(text) and text[last + 1][:1] in _WITHIN:
        last += 1
    return any("no_log" in row for row in text[first : last + 1])


def _from(line: str, start: int) -> str:
    """The line from ``start`` on, as shown: tabs become spaces, so that the caret is below its column."""
    return ("…" if start else "") + safe_line(line[start : start + 4 * LONGEST])


def _read(file: str) -> list[str]:
    if not os.path.isfile(file):  # a device would never end
        return []
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read(MOST_READ).removesuffix("\n").split("\n")
    except (OSError, ValueError):  # moved, unreadable, or not a file: '<stdin>'
        return []


def _count(found: list[Diagnostic]) -> str:
    errors = sum(problem.severity is Severity.ERROR for problem in found)
    counts = ((errors, "error"), (len(found) - errors, "warning"))
    return ", ".join(f"{count} {word}{'s' * (count > 1)}" for count, word in counts if count)


def forget_lines() -> None:
    """Forget the lines that were shown."""
    _mask_line.cache_clear()
