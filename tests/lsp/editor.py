"""An editor: the client of pygls, talking to a real ``saltern lsp`` over its stdin and stdout."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

T = TypeVar("T")
PATIENCE = 60.0
Wanted = Callable[[list[types.Diagnostic]], bool]


class Client(LanguageClient):
    """Keeps what went wrong on its side of the wire."""

    def __init__(self) -> None:
        super().__init__("test", "1")
        self.errors: list[Exception] = []

    def report_server_error(self, error: Exception, source: Any) -> None:
        self.errors.append(error)


class Editor:
    """Asks and waits. ``told`` are the last diagnostics of each file, by its path below the folder."""

    def __init__(self, folder: Path, *options: str, encodings: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.told: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self._versions: dict[str, int] = {}
        self._news = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.client = Client()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._hear(params))
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self._note(params))
        self.client.feature(types.WINDOW_LOG_MESSAGE)(lambda params: self._note(params))
        self._wait(self.client.start_io(sys.executable, "-m", "saltern", "lsp", *options))
        general = types.GeneralClientCapabilities(
            position_encodings=[types.PositionEncodingKind(one) for one in encodings] or None
        )
        self.watched: list[types.RegistrationParams] = []
        self.client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: self.watched.append(params))
        files = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
        workspace = types.WorkspaceClientCapabilities(did_change_watched_files=files)
        self.capabilities = self.ask(
            "initialize",
            types.InitializeParams(
                capabilities=types.ClientCapabilities(general=general, workspace=workspace),
                process_id=os.getpid(),
                workspace_folders=[types.WorkspaceFolder(folder.as_uri(), "folder")],
            ),
        ).capabilities
        self.tell("initialized", types.InitializedParams())

    def enter(self, folder: Path, files: Mapping[str, str]) -> Editor:
        """Go on with another folder, which the editor has beside the ones before."""
        self.folder = write(folder, files)
        self.told, self.messages = {}, []
        added = types.WorkspaceFoldersChangeEvent([types.WorkspaceFolder(folder.as_uri(), folder.name)], [])
        self.tell("workspace/didChangeWorkspaceFolders", types.DidChangeWorkspaceFoldersParams(added))
        return self

    # -- the wire ------------------------------------------------------------------------------------------

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def ask(self, method: str, params: Any) -> Any:
        async def asked() -> Any:
            return await asyncio.wrap_future(self.client.protocol.send_request(method, params))

        return self._wait(asked())

    def asking(self, method: str, params: Any) -> Future[Any]:
        """The same without waiting."""

        async def asked() -> Any:
            return await asyncio.wrap_future(self.client.protocol.send_request(method, params))

        return asyncio.run_coroutine_threadsafe(asked(), self._loop)

    def tell(self, method: str, params: Any) -> None:
        async def told() -> None:
            self.client.protocol.notify(method, params)

        self._wait(told())

    def _hear(self, params: types.PublishDiagnosticsParams) -> None:
        with self._news:
            self.told[self.name(params.uri)] = list(params.diagnostics)
            self._news.notify_all()

    def _note(self, params: Any) -> None:
        self.messages.append(params.message)

    def close(self) -> int:
        """The exit code of the server."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        process = self.client._server
        assert process is not None
        code = self._wait(process.wait())
        self._wait(self.client.stop())  # type: ignore[no-untyped-call]
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()
        return int(code)

    # -- files ---------------------------------------------------------------------------------------------

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str, text: str | None = None) -> str:
        shown = (self.folder / name).read_bytes().decode() if text is None else text
        self._versions[name] = 1
        self.forget(name)
        self.tell(
            "textDocument/didOpen",
            types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri(name), "sls", 1, shown)),
        )
        return shown

    def change(self, name: str, *changes: types.TextDocumentContentChangeEvent) -> None:
        self._versions[name] += 1
        self.forget(name)
        self.tell(
            "textDocument/didChange",
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self._versions[name], self.uri(name)), changes
            ),
        )

    def rewrite(self, name: str, text: str) -> None:
        self.change(name, types.TextDocumentContentChangeWholeDocument(text))

    def save(self, name: str, text: str | None = None) -> None:
        if text is not None:
            (self.folder / name).write_text(text, encoding="utf-8", newline="")
        self.forget(name)
        self.tell("textDocument/didSave", types.DidSaveTextDocumentParams(self.document(name)))

    def shut(self, name: str) -> None:
        self.tell("textDocument/didClose", types.DidCloseTextDocumentParams(self.document(name)))

    def forget(self, name: str) -> None:
        with self._news:
            self.told.pop(name, None)

    # -- answers -------------------------------------------------------------------------------------------

    def diagnostics(
        self, name: str, wanted: Callable[[list[types.Diagnostic]], bool] | None = None
    ) -> list[types.Diagnostic]:
        """The next that are told about a file, or the first that are as ``wanted``."""

        def is_there() -> bool:
            return name in self.told and (wanted is None or wanted(self.told[name]))

        with self._news:
            assert self._news.wait_for(is_there, PATIENCE), (
                name,
                self.told,
                self.messages,
                self.client.errors,
            )
            return self.told[name]

    def codes(self, name: str) -> list[str]:
        return [str(one.code) for one in self.diagnostics(name)]

    def at(self, name: str, text: str, where: str) -> dict[str, Any]:
        """``where`` is a piece of the text with ``|`` for the cursor."""
        piece = where.replace("|", "")
        start = text.index(piece) + where.index("|")
        line = text.count("\n", 0, start)
        before = text[text.rfind("\n", 0, start) + 1 : start]
        return {
            "text_document": self.document(name),
            "position": types.Position(line, len(before.encode("utf-16-le")) // 2),
        }

    def complete(self, name: str, text: str, where: str) -> dict[str, types.CompletionItem]:
        found = self.ask("textDocument/completion", types.CompletionParams(**self.at(name, text, where)))
        return {one.label: one for one in found.items}

    def hover(self, name: str, text: str, where: str) -> str:
        found = self.ask("textDocument/hover", types.HoverParams(**self.at(name, text, where)))
        return found.contents.value if found else ""

    def lead(self, name: str, text: str, where: str) -> list[str]:
        """``file:line`` of each definition, the line from 1."""
        found = self.ask("textDocument/definition", types.DefinitionParams(**self.at(name, text, where)))
        return self.places(found)

    def places(self, found: list[types.Location] | None) -> list[str]:
        return [f"{self.name(one.uri)}:{one.range.start.line + 1}" for one in found or []]

    def name(self, uri: str) -> str:
        return os.path.relpath(_path(uri), self.folder) if uri.startswith("file:") else uri

    def text(self, name: str) -> str:
        return str(self.ask("saltern/viewFileText", {"uri": self.uri(name)}))


def _path(uri: str) -> str:
    from pygls.uris import to_fs_path

    return to_fs_path(uri) or uri


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


@contextmanager
def editing(
    folder: Path, files: Mapping[str, str], *options: str, encodings: tuple[str, ...] = ()
) -> Iterator[Editor]:
    """An editor on a folder; the server must end in peace."""
    editor = Editor(write(folder, files), *options, encodings=encodings)
    try:
        yield editor
    except BaseException:
        if editor.client._server is not None:
            editor.client._server.kill()
        raise
    assert editor.close() == 0
    assert editor.client.errors == []
