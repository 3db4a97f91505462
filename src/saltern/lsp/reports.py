"""Reports problems to the editor: a file is checked when it changes."""

from __future__ import annotations

import os
from threading import Lock
from typing import Protocol

from lsprotocol import types
from msgspec.structs import replace

from saltern.lsp.checks import PAUSE, Checker, Done, Task
from saltern.lsp.documents import OpenFiles, uri_of
from saltern.lsp.index import Index
from saltern.lsp.positions import Lines
from saltern.lsp.shown import Pages, diagnostic
from saltern.lsp.sites import Given, Site, Sites
from saltern.lsp.worker import Problem


class Editor(Protocol):
    """The parts of the server that reports need: the open files, and the connection to the editor."""

    given: Given
    sites: Sites
    index: Index
    pages: Pages

    @property
    def files(self) -> OpenFiles: ...

    @property
    def encoding(self) -> str: ...

    def path(self, uri: str) -> str: ...
    def opened_text(self, path: str) -> str | None: ...
    def rows(self, path: str) -> Lines: ...
    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None: ...
    def window_log_message(self, params: types.LogMessageParams) -> None: ...


class Reports:
    """``problems`` are the last reported ones by path, with the text that they were found in."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self.problems: dict[str, tuple[str, list[Problem]]] = {}
        self._checkers: dict[Site, Checker] = {}
        self._extra: dict[Site, set[str]] = {}  # by site: files with reports that are not open
        self._publishing = Lock()
        self._shown_failures: set[str] = set()

    def check(self, uri: str, *, saved: bool = False, pause: float = 0.0) -> None:
        path = self._editor.path(uri)
        if not os.path.isabs(path):  # a buffer without a file, in an editor without a folder
            return
        paths = frozenset({path})
        task = Task(paths=paths, saved=paths if saved else frozenset(), whole=saved)
        self._checker(self._editor.sites.of(path)).ask(task, pause)

    def changed(self, uri: str) -> None:
        self.check(uri, pause=PAUSE)

    def closed(self, uri: str) -> None:
        """Withdraw the reports about a closed text; the rest of the tree is checked with the file on disk."""
        path = self._editor.path(uri)
        self._publish(path, [])
        site = self._editor.sites.of(path)
        if any(self._editor.sites.of(one) is site for one in self._open_paths()):
            self._checker(site).ask(Task(paths=frozenset(), whole=True), PAUSE)

    def _checker(self, site: Site) -> Checker:
        known = self._checkers.get(site)
        if known is None:
            known = self._checkers[site] = Checker(
                site, self._editor.given, texts=self._texts, done=self._publish_checked
            )
        return known

    def _open_paths(self) -> list[str]:
        return [self._editor.path(uri) for uri in list(self._editor.files.text_documents)]

    def _texts(self, site: Site) -> dict[str, str]:
        found: dict[str, str] = {}
        for path in self._open_paths():
            text = self._editor.opened_text(path)
            if text is not None and self._editor.sites.of(path) is site:
                found[path] = text
        return found

    def _publish_checked(self, done: Done) -> None:
        """Publish the result of a check. Called in the checker's thread."""
        site, answer = done.site, done.answer
        if answer.failed:
            self._show_failure(answer.failed)
            return
        site.pillar_keys = tuple(answer.pillar) or site.pillar_keys
        extra = self._extra.setdefault(site, set())
        for path in done.task.saved:
            extra |= self._editor.index.dependents(site, path)
        found = _by_path(done, [*done.texts, *extra])
        for path in {*done.texts, *extra} if done.whole else done.task.paths & set(done.texts):
            self._publish(path, found.get(path, []), done.texts.get(path))
        if done.whole:
            extra &= set(found)

    def _publish(self, path: str, problems: list[Problem], checked: str | None = None) -> None:
        with self._publishing:
            document = self._editor.files.find_open(path)
            text = self._editor.index.text(path) or ""
            if document is not None and checked is not None and document.source != checked:
                return  # it has changed since, and is checked again
            if not problems and not self.problems.get(path, ("", []))[1] and document is None:
                return
            self.problems[path] = (text, problems)
            lines = Lines(text, self._editor.encoding)
            self._editor.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    uri=document.uri if document else uri_of(path),
                    version=document.version if document else None,
                    diagnostics=[
                        diagnostic(one, lines, self._editor.rows, self._editor.pages) for one in problems
                    ],
                )
            )

    def _show_failure(self, why: str) -> None:
        """Show a failure once: the next change would only repeat it."""
        if why not in self._shown_failures:
            self._shown_failures.add(why)
            self._editor.window_log_message(
                types.LogMessageParams(types.MessageType.Error, f"saltern could not check: {why}")
            )

    def end(self) -> None:
        for checker in self._checkers.values():
            checker.stop()


def _by_path(done: Done, paths: list[str]) -> dict[str, list[Problem]]:
    """Problems by the path that the editor knows.

    Problems without a file are shown at the checked file; so are those of another file that prevented the
    compilation, such as an invalid pillar.
    """
    site = done.site
    spelt = {alias: path for path in paths for alias in (*site.aliases(path), os.path.realpath(path))}
    asked = next(iter(sorted(done.task.paths & set(done.texts)) or sorted(done.texts)), None)
    found: dict[str, list[Problem]] = {}
    for problem in done.answer.problems:
        where = problem.diagnostic.where
        path = spelt.get(where.file) if where else None
        if path is None and asked and (done.answer.stopped or where is None or not os.path.isabs(where.file)):
            path, problem = asked, _move_to_top(problem)
        if path is not None:
            found.setdefault(path, []).append(problem)
    return found


def _move_to_top(problem: Problem) -> Problem:
    """The problem for the top of another file; its message contains its place."""
    one = problem.diagnostic
    diagnostic = replace(one, what=f"{one.where}: {one.what}" if one.where else one.what, where=None)
    return Problem(diagnostic=diagnostic, information=problem.information)
