"""The requests of the protocol, one function each, and the table that registers them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from msgspec import Struct

from saltern.lsp import lookup
from saltern.lsp.code_actions import FIX_ALL, code_actions
from saltern.lsp.cursor import at
from saltern.lsp.desk import Suggestion
from saltern.lsp.documents import Document, path_of, range_of, uri_of
from saltern.lsp.lookup import Target
from saltern.lsp.nodes import page_of
from saltern.lsp.positions import Lines
from saltern.lsp.server import Server
from saltern.lsp.shown import span_of
from saltern.lsp.suggest import MOST, documentation_of, suggest
from saltern.lsp.symbols import document_symbols, workspace_symbols

_KINDS = {
    "module": types.CompletionItemKind.Module,
    "function": types.CompletionItemKind.Function,
    "argument": types.CompletionItemKind.Property,
    "keyword": types.CompletionItemKind.Keyword,
    "reference": types.CompletionItemKind.Reference,
    "file": types.CompletionItemKind.File,
    "block": types.CompletionItemKind.Event,
    "value": types.CompletionItemKind.Value,
    "variable": types.CompletionItemKind.Variable,
}


def _markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def _place(document: Document, position: types.Position) -> tuple[Lines, int]:
    rows = document.rows
    return rows, rows.offset(position.line, position.character)


# -- while typing --------------------------------------------------------------------------------------


def completion(ls: Server, params: types.CompletionParams) -> types.CompletionList:
    uri = params.text_document.uri
    rows, place = _place(ls.document(uri), params.position)
    desk = ls.desk(uri)
    cursor = at(page_of(rows.text, desk.path, desk.site.settings.renderer), place)
    found = suggest(desk, cursor)
    items = [_item(one, rows, uri) for one in found[:MOST]]
    return types.CompletionList(is_incomplete=len(found) > MOST, items=items)


def _item(one: Suggestion, rows: Lines, uri: str) -> types.CompletionItem:
    return types.CompletionItem(
        label=one.label,
        kind=_KINDS.get(one.kind, types.CompletionItemKind.Text),
        detail=one.detail or None,
        documentation=_markdown(one.doc) if one.doc else None,
        sort_text=f"{one.rank}{one.order:03} {one.label}",
        filter_text=one.label,
        text_edit=types.TextEdit(range_of(rows, one.span), one.text),
        data={"about": one.about, "uri": uri} if one.about else None,
    )


def resolve(ls: Server, item: types.CompletionItem) -> types.CompletionItem:
    data = item.data if isinstance(item.data, dict) else {}
    if data.get("about"):
        entry = documentation_of(ls.desk(str(data["uri"])).manual, str(data["about"]))
        if entry is not None:
            item.documentation = _markdown(entry.markdown())
            item.detail = entry.first
    return item


def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    uri = params.text_document.uri
    rows, place = _place(ls.document(uri), params.position)
    desk = ls.desk(uri)
    found = lookup.note(desk, place)
    parts = [found.text] if found else []
    span = found.span if found else None
    checked, problems = ls.reports.problems.get(desk.path, ("", []))
    for problem in problems if checked == rows.text else ():
        shown = span_of(problem.diagnostic.where, rows)
        code = problem.diagnostic.code
        if place in shown and (said := _note(code)):
            span = span or shown
            parts.append(f"**{code}**: {said}")
    if not parts:
        return None
    return types.Hover(_markdown("\n\n---\n\n".join(parts)), range_of(rows, span) if span else None)


def _note(code: str) -> str:
    from saltern.views.codes import known_codes

    return str(known_codes().get(code, {}).get("note", ""))


# -- going elsewhere -------------------------------------------------------------------------------------


def definition(ls: Server, params: types.DefinitionParams) -> list[types.Location]:
    _, place = _place(ls.document(params.text_document.uri), params.position)
    return _locations(ls, lookup.definitions(ls.desk(params.text_document.uri), place))


def references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
    _, place = _place(ls.document(params.text_document.uri), params.position)
    desk = ls.desk(params.text_document.uri)
    return _locations(ls, lookup.references(desk, place, declaration=params.context.include_declaration))


def _locations(ls: Server, targets: list[Target]) -> list[types.Location]:
    kept: dict[str, Lines] = {}
    found = []
    for one in targets:
        if one.path not in kept:
            kept[one.path] = ls.rows(one.path)
        opened = ls.files.find_open(one.path)
        found.append(
            types.Location(opened.uri if opened else uri_of(one.path), range_of(kept[one.path], one.span))
        )
    return found


# -- notifications of the editor ---------------------------------------------------------------------------


def initialize(ls: Server, params: types.InitializeParams) -> None:
    ls.begin(params)


def initialized(ls: Server, _params: types.InitializedParams) -> None:
    """Ask for notifications about files that other programs change."""
    workspace = ls.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching is None or not watching.dynamic_registration:
        return
    watchers = [types.FileSystemWatcher(pattern) for pattern in ("**/*.sls", "**/*.jinja")]
    wanted = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    ls.client_register_capability(types.RegistrationParams([types.Registration("files", method, wanted)]))


def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    ls.reports.check(params.text_document.uri)


def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    ls.reports.changed(params.text_document.uri)


def did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    ls.reports.check(params.text_document.uri, saved=True)


def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    ls.reports.closed(params.text_document.uri)


def folders_changed(ls: Server, _params: types.DidChangeWorkspaceFoldersParams) -> None:
    ls.refresh_folders()


def files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """Check files that another program changed, such as a checkout."""
    for one in params.changes:
        if os.path.isabs(path_of(one.uri)):
            ls.reports.check(one.uri, saved=True, pause=1.0)


def view_text(ls: Server, params: Any) -> str:
    """``saltern/viewFileText``: the text of the server, to detect an editor that is out of sync."""
    return ls.document(str(params.uri)).source


def shutdown(ls: Server, _params: None) -> None:
    ls.end()


class Feature(Struct, frozen=True):
    """``slow``: it may read a whole tree, so it runs in a thread."""

    method: str
    answer: Callable[..., object]
    options: Any = None
    slow: bool = False


FEATURES: tuple[Feature, ...] = (
    Feature(types.INITIALIZE, initialize),
    Feature(types.INITIALIZED, initialized),
    Feature(types.TEXT_DOCUMENT_DID_OPEN, did_open),
    Feature(types.TEXT_DOCUMENT_DID_CHANGE, did_change),
    Feature(types.TEXT_DOCUMENT_DID_SAVE, did_save),
    Feature(types.TEXT_DOCUMENT_DID_CLOSE, did_close),
    Feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, folders_changed),
    Feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, files_changed),
    Feature(
        types.TEXT_DOCUMENT_COMPLETION,
        completion,
        types.CompletionOptions(
            trigger_characters=[".", ":", "'", '"', "/", " ", "|", "!"], resolve_provider=True
        ),
        slow=True,
    ),
    Feature(types.COMPLETION_ITEM_RESOLVE, resolve, slow=True),
    Feature(types.TEXT_DOCUMENT_HOVER, hover, slow=True),
    Feature(types.TEXT_DOCUMENT_DEFINITION, definition, slow=True),
    Feature(types.TEXT_DOCUMENT_REFERENCES, references, slow=True),
    Feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, document_symbols, slow=True),
    Feature(types.WORKSPACE_SYMBOL, workspace_symbols, slow=True),
    Feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        code_actions,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    ),
    Feature("saltern/viewFileText", view_text),
    Feature(types.SHUTDOWN, shutdown),
)


def add_features(server: Server) -> Server:
    """The server with all features registered."""
    for one in FEATURES:
        answer = server.thread()(one.answer) if one.slow else one.answer
        server.feature(one.method, one.options)(answer)
    return server
