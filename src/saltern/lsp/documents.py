"""The files that are open in the editor, as it last sent them."""

from __future__ import annotations

import os
from collections.abc import Callable

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument, Workspace

from saltern.lsp.positions import Lines, Span, edit_text


class Document(TextDocument):
    """Counts lines and characters as the protocol does. The library splits lines at other characters, too,
    and puts a position beyond the end of a line before its last character.
    """

    _rows: Lines | None = None

    @property
    def rows(self) -> Lines:
        """The lines of the text, cached until it changes."""
        known = self._rows
        if known is None or known.text is not self.source:
            known = self._rows = Lines(self.source, encoding(self.position_codec.encoding))
        return known

    def _apply_incremental_change(self, change: types.TextDocumentContentChangePartial) -> None:
        start, end = change.range.start, change.range.end
        self._source = edit_text(
            self.rows, (start.line, start.character), (end.line, end.character), change.text
        )


class OpenFiles(Workspace):
    """The library's workspace, with our documents. ``place`` returns the path of a URI."""

    place: Callable[[str], str]

    def _create_text_document(
        self,
        doc_uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
    ) -> Document:
        return Document(
            doc_uri,
            source,
            version,
            language_id,
            sync_kind=self._sync_kind,
            position_codec=self._position_codec,
        )

    def find_open(self, path: str) -> Document | None:
        """The open document at a path. Real paths are compared, since editors spell paths in several ways."""
        for document in list(self._text_documents.values()):
            if isinstance(document, Document) and self.place(document.uri) == path:
                return document
        real = os.path.realpath(path)
        for document in list(self._text_documents.values()):
            if isinstance(document, Document) and os.path.realpath(self.place(document.uri)) == real:
                return document
        return None


def encoding(chosen: object) -> str:
    """The agreed encoding by its plain name."""
    return str(getattr(chosen, "value", chosen) or "utf-16").lower()


def path_of(uri: str) -> str:
    """The path of a file URI; other URIs are returned unchanged, and match no file."""
    return to_fs_path(uri) or uri


def uri_of(path: str) -> str:
    return from_fs_path(path) or path


def range_of(lines: Lines, span: Span) -> types.Range:
    start, end = lines.position(span.start), lines.position(span.end)
    return types.Range(types.Position(*start), types.Position(*end))
