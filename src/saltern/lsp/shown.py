"""Converts problems to the form of the protocol."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from lsprotocol import types

from saltern.language.diagnostics import Diagnostic, Severity
from saltern.language.source import Mark
from saltern.lsp.documents import range_of, uri_of
from saltern.lsp.positions import Lines, Span
from saltern.lsp.worker import Problem
from saltern.system.temporary import make_directory, remove

SOURCE = "saltern"
_UNNEEDED = frozenset({"delayed-unused", "sls-unused", "include-twice"})
_TOKEN = re.compile(r"[^\s#].*?(?=\s+#|\s*$)")
_LEVELS = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
}
Rows = Callable[[str], Lines]  # of a file, by its path


def span_of(mark: Mark | None, lines: Lines) -> Span:
    """From the place of a problem to the end of its line; a comment, and a colon at the end, are left out."""
    row = max(mark.line - 1, 0) if mark else 0
    whole = lines.span(min(row, len(lines) - 1))
    text = lines.text[whole.start : whole.end]
    column = mark.column - 1 if mark and mark.column > 0 else len(text) - len(text.lstrip())
    column = min(column, len(text))
    rest = text[column:]
    found = _TOKEN.match(rest)
    token = found[0] if found else rest
    token = token.removesuffix(":") or token
    return Span(whole.start + column, whole.start + column + max(len(token), min(1, len(rest))))


def diagnostic(problem: Problem, lines: Lines, rows: Rows, pages: Pages) -> types.Diagnostic:
    one = problem.diagnostic
    level = types.DiagnosticSeverity.Information if problem.information else _LEVELS[one.severity]
    related = [
        types.DiagnosticRelatedInformation(location(mark, rows(mark.file)), note)
        for note, mark in one.also
        if os.path.isabs(mark.file)
    ]
    href = pages.uri(one.code)
    return types.Diagnostic(
        range=range_of(lines, span_of(one.where, lines)),
        message=message(one),
        severity=level,
        code=one.code,
        code_description=types.CodeDescription(href) if href else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if one.code in _UNNEEDED else None,
        related_information=related or None,
    )


def message(one: Diagnostic) -> str:
    parts = [one.what, *one.detail.splitlines()]
    return "\n".join([*parts, f"fix: {one.fix}"] if one.fix else parts)


def location(mark: Mark, lines: Lines) -> types.Location:
    return types.Location(uri_of(mark.file), range_of(lines, span_of(mark, lines)))


class Pages:
    """The pages of error codes as files, for editors that open them; written when they are first needed."""

    def __init__(self) -> None:
        self._folder = ""
        self._known: dict[str, str] = {}

    def uri(self, code: str) -> str:
        if code not in self._known:
            from saltern.lsp.manual import code_page

            text = code_page(code)
            self._known[code] = self._write_page(code, text) if text else ""
        return self._known[code]

    def _write_page(self, code: str, text: str) -> str:
        try:
            self._folder = self._folder or make_directory("codes")
            path = os.path.join(self._folder, f"{code}.md")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"# {text}\n")
            return uri_of(path)
        except OSError:  # a link is a convenience
            return ""

    def remove(self) -> None:
        if self._folder:
            remove(self._folder)
