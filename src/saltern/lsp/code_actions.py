"""Code actions: the changes for the problems at a place, and all edits of ``--fix`` at once."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from saltern.lsp.actions import changes, compatible_edits
from saltern.lsp.documents import range_of
from saltern.lsp.positions import Lines, Span
from saltern.lsp.server import Server
from saltern.lsp.shown import message, span_of
from saltern.lsp.worker import Problem

FIX_ALL = "source.fixAll.saltern"


def code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    uri = params.text_document.uri
    rows = ls.document(uri).rows
    text, problems = ls.reports.problems.get(ls.path(uri), ("", []))
    if text != rows.text:
        return []  # the problems are of an older text; the new one is being checked
    first, last = (rows.offset(one.line, one.character) for one in (params.range.start, params.range.end))
    only = params.context.only or []
    found: list[types.CodeAction] = []
    if not only or types.CodeActionKind.QuickFix in only:
        for problem in problems:
            span = span_of(problem.diagnostic.where, rows)
            if span.start <= last and first <= span.end:
                found += _quick(uri, rows, problem, span, params.context.diagnostics)
    edits = compatible_edits(problems, rows)
    if edits and (not only or any(kind == FIX_ALL or FIX_ALL.startswith(f"{kind}.") for kind in only)):
        title = f"Fix all problems that saltern can fix ({len(edits)})"
        found.append(types.CodeAction(title, kind=FIX_ALL, edit=_edit(uri, rows, edits)))
    return found


def _quick(
    uri: str, rows: Lines, problem: Problem, span: Span, shown: Sequence[types.Diagnostic]
) -> list[types.CodeAction]:
    text = message(problem.diagnostic)
    own = [one for one in shown if one.code == problem.diagnostic.code and one.message == text]
    return [
        types.CodeAction(
            change.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=own or None,
            is_preferred=change.best or None,
            edit=_edit(uri, rows, change.edits),
        )
        for change in changes(problem, rows, span)
    ]


def _edit(uri: str, rows: Lines, edits: tuple[tuple[Span, str], ...]) -> types.WorkspaceEdit:
    return types.WorkspaceEdit(
        changes={uri: [types.TextEdit(range_of(rows, span), text) for span, text in edits]}
    )
