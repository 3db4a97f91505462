"""Symbols: IDs and delayed blocks, of one file and of all."""

from __future__ import annotations

from lsprotocol import types

from saltern.lsp.documents import range_of, uri_of
from saltern.lsp.nodes import Word
from saltern.lsp.outline import Declared, Outline
from saltern.lsp.positions import Lines, Span
from saltern.lsp.server import Server

MOST_SYMBOLS = 500


def document_symbols(ls: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    desk = ls.desk(params.text_document.uri)
    return _symbols(desk.outline, ls.rows(desk.path), ())


def _symbols(known: Outline, rows: Lines, outer: tuple[str, ...]) -> list[types.DocumentSymbol]:
    """The IDs of one scope, and its blocks with their IDs."""
    found = [
        _symbol(rows, one.id, types.SymbolKind.Object, one.last, _functions(one, rows))
        for one in known.declared
        if one.block == outer
    ]
    for block in known.blocks:
        if block.outer == outer:
            inside = _symbols(known, rows, (*outer, block.name.text))
            found.append(_symbol(rows, block.name, types.SymbolKind.Namespace, block.last, inside))
    return sorted(found, key=lambda one: (one.range.start.line, one.range.start.character))


def _functions(one: Declared, rows: Lines) -> list[types.DocumentSymbol]:
    return [
        _symbol(rows, fun, types.SymbolKind.Function, rows.row(fun.span.start), []) for fun in one.functions
    ]


def _symbol(
    rows: Lines, word: Word, kind: types.SymbolKind, last: int, children: list[types.DocumentSymbol]
) -> types.DocumentSymbol:
    """``last`` is the last line of what it names."""
    first, end = rows.span(rows.row(word.span.start)), rows.span(last)
    return types.DocumentSymbol(
        name=word.text.strip() or "(no name)",
        kind=kind,
        range=range_of(rows, Span(first.start, max(end.end, word.span.end))),
        selection_range=range_of(rows, word.span),
        children=children,
    )


def workspace_symbols(ls: Server, params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
    """IDs and blocks of all trees with open files."""
    wanted = params.query.lower()
    found: list[types.SymbolInformation] = []
    for site in ls.sites.all():
        for env in site.tree.environments():
            for sls, path, known in ls.index.files(site, env):
                words = [(one.id, types.SymbolKind.Object) for one in known.declared]
                words += [(one.name, types.SymbolKind.Namespace) for one in known.blocks]
                hits = [(word, kind) for word, kind in words if word.text and wanted in word.text.lower()]
                rows = ls.rows(path) if hits else None
                for word, kind in hits if rows else []:
                    place = types.Location(uri_of(path), range_of(rows or Lines(""), word.span))
                    found.append(types.SymbolInformation(place, word.text, kind, container_name=sls))
                if len(found) >= MOST_SYMBOLS:
                    return found
    return found
