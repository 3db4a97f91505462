"""Changes for a problem: the edits of ``--fix``, a similar name, or a comment that ignores it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic
from saltern.lint.findings import Edit
from saltern.lint.rules import RULES
from saltern.lsp.nodes import page_of
from saltern.lsp.positions import Lines, Span
from saltern.lsp.worker import Problem

_MEANT = re.compile(r"did you mean '([^']+)'")
_NAMED = re.compile(r"'([^']+)'")


class Change(Struct, frozen=True, kw_only=True):
    """``edits`` are of one text. ``best``: the preferred change."""

    title: str
    edits: tuple[tuple[Span, str], ...]
    best: bool = False


def changes(problem: Problem, lines: Lines, span: Span) -> Iterator[Change]:
    """The changes for one problem, which is shown at ``span``."""
    one = problem.diagnostic
    if problem.edit is not None:
        title = f"{one.fix or RULES[one.code].name} [{one.code}]"
        yield Change(title=title, edits=(shift_edit(problem.edit, lines),), best=True)
    meant = _MEANT.search(f"{one.fix} {one.what}")
    if meant is not None:
        yield from _nearer(one, meant[1], lines, span)
    if one.code in RULES:
        yield from _quiet(one, lines, span)


def compatible_edits(problems: list[Problem], lines: Lines) -> tuple[tuple[Span, str], ...]:
    """The edits that do not overlap another one."""
    made: list[tuple[Span, str]] = []
    edits = [shift_edit(one.edit, lines) for one in problems if one.edit is not None]
    for span, text in sorted(set(edits), key=lambda one: (one[0].start, one[0].end)):
        if not made or span.start >= made[-1][0].end:
            made.append((span, text))
    return tuple(made)


def shift_edit(edit: Edit, lines: Lines) -> tuple[Span, str]:
    """The edit at its place in the editor, whose text may have a byte order mark that the engine does not
    count.
    """
    by = 1 if lines.text.startswith("\ufeff") else 0
    return Span(edit.start + by, edit.end + by), edit.text


def _nearer(one: Diagnostic, meant: str, lines: Lines, span: Span) -> Iterator[Change]:
    """Replace the wrong word, which the problem names, if it is on the line."""
    row = lines.span(lines.row(span.start))
    line = lines.text[row.start : row.end]
    for name in dict.fromkeys(_NAMED.findall(one.what)):
        places = [found.start() for found in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", line)]
        if name != meant and len(places) == 1:
            at = row.start + places[0]
            yield Change(title=f"Write '{meant}'", edits=((Span(at, at + len(name)), meant),), best=True)
            return


def _quiet(one: Diagnostic, lines: Lines, span: Span) -> Iterator[Change]:
    number = lines.row(span.start)
    row = lines.span(number)
    page = page_of(lines.text, "", "jinja|yaml")
    known = page.lines[number] if number < len(page.lines) else None
    if known is None or known.kind != "yaml" or "#" in known.text or known.text.rstrip().endswith(("|", ">")):
        return
    end = row.start + len(known.text.rstrip())
    text = f"  # saltern: ignore {one.code}"
    yield Change(title=f"Ignore {one.code} on this line", edits=((Span(end, row.end), text),))
