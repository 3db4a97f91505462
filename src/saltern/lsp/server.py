"""The server: the open files and the trees that they belong to."""

from __future__ import annotations

import os
import re

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from saltern import __version__
from saltern.lsp.desk import Desk
from saltern.lsp.documents import Document, OpenFiles, encoding, path_of
from saltern.lsp.index import Index
from saltern.lsp.manual import Manual
from saltern.lsp.positions import Lines
from saltern.lsp.reports import Reports
from saltern.lsp.shown import Pages
from saltern.lsp.sites import Given, Site, Sites


class Server(LanguageServer):
    """The open files and their trees; ``reports`` reports their problems."""

    def __init__(self, given: Given) -> None:
        super().__init__("saltern", __version__, max_workers=8)
        self.given = given
        self.sites = Sites(given, os.environ)
        self.index = Index(self.opened_text)
        self.pages = Pages()
        self.reports = Reports(self)
        self._manuals: dict[Site, Manual] = {}

    def begin(self, params: types.InitializeParams) -> None:
        """Prepare for an editor, with documents that count as the protocol does; see ``documents``."""
        before = self.workspace
        self.protocol._workspace = OpenFiles(
            before.root_uri,
            types.TextDocumentSyncKind.Incremental,
            params.workspace_folders or [],
            before.position_encoding,
        )
        self.files.place = self.path
        self.refresh_folders()

    def refresh_folders(self) -> None:
        folders = [path_of(one.uri) for one in self.workspace.folders.values()]
        root = self.workspace.root_path
        self.sites.folders = folders or ([root] if root else [])

    @property
    def files(self) -> OpenFiles:
        assert isinstance(self.workspace, OpenFiles)
        return self.workspace

    @property
    def encoding(self) -> str:
        return encoding(self.workspace.position_encoding)

    def path(self, uri: str) -> str:
        """The path of a file; for a buffer that was never saved, a path in the tree of the first folder."""
        path = path_of(uri)
        if os.path.isabs(path) or not self.sites.folders:
            return path
        settings = self.sites.of(os.path.join(self.sites.folders[0], "draft.sls")).settings
        roots = next(iter(settings.file_roots.values()), [])
        return os.path.join(roots[0], f"{re.sub(r'[^0-9A-Za-z]+', '_', path)}.sls") if roots else path

    def opened_text(self, path: str) -> str | None:
        found = self.files.find_open(path)
        return found.source if found else None

    def document(self, uri: str) -> Document:
        """The document of a URI. One that is not open is read from disk, or is empty."""
        path = self.path(uri)
        found = self.files.find_open(path)
        return found or Document(
            uri, self.index.text(path) or "", position_codec=self.workspace.position_codec
        )

    def rows(self, path: str) -> Lines:
        return Lines(self.index.text(path) or "", self.encoding)

    def desk(self, uri: str) -> Desk:
        path = self.path(uri)
        site = self.sites.of(path)
        manual = self._manuals.get(site)
        if manual is None:
            manual = self._manuals[site] = Manual(site.settings)
        return Desk(
            site=site,
            manual=manual,
            index=self.index,
            path=path,
            outline=self.index.outline(path, site.settings.renderer),
        )

    def end(self) -> None:
        self.reports.end()
        self.pages.remove()
