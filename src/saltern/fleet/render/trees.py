"""Trees as a controller renders them: the version that a job names, with the texts that agents do not get."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Protocol

from msgspec import Struct

from saltern.fleet.bus.ports import Bus
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.cache import Cache
from saltern.fleet.files.manifest import FILE, BadManifest, Entry, Manifest, decode_manifest
from saltern.fleet.files.materialise import make_tree, root_name
from saltern.fleet.files.options import tree_options
from saltern.fleet.files.prefetch import is_needed_first
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.store import trees
from saltern.fleet.store.database import Connection
from saltern.fleet.store.hidden_files import hidden_texts
from saltern.language.diagnostics import Diagnostic, OperationError

SMALL = 256 * 1024  # bytes of a file that a template may read
KEPT = 10  # trees that stay on disk
STUB = 1024  # bytes: a longer content is no stub


class Calls(Protocol):
    """Transactions, off the event loop."""

    async def read(self, query: Callable[..., Any], /, *args: Any, **options: Any) -> Any: ...


class RenderTree(Struct, frozen=True):
    """A tree on disk: options for a session, and the hidden files of each environment."""

    options: dict[str, Any]
    hidden: dict[str, frozenset[str]]


class RenderTrees:
    """Makes trees below a directory, each when it is first asked for."""

    def __init__(self, bus: Bus, calls: Calls, directory: str) -> None:
        self._calls = calls
        self._directory = directory
        self._bus = bus
        self._files: AgentFiles | None = None
        self._known: dict[str, RenderTree] = {}
        self._turn = asyncio.Lock()

    async def get(self, digest: str) -> RenderTree:
        """The tree of this digest. Raises ``OperationError`` if it is no longer kept."""
        if digest not in self._known or not os.path.isdir(self._known[digest].options["file_tree"]):
            async with self._turn:
                if digest not in self._known or not os.path.isdir(self._known[digest].options["file_tree"]):
                    self._known[digest] = await self._make_tree(digest)
        return self._known[digest]

    async def _make_tree(self, digest: str) -> RenderTree:
        manifests = await self._calls.read(_manifests, digest)
        if manifests is None:
            raise _lost_error(digest)
        stubs = {
            one.digest for manifest in manifests.values() for one in manifest.entries() if _may_be_stub(one)
        }
        texts = await self._calls.read(hidden_texts, stubs)
        try:
            files = self._files = self._files or AgentFiles(
                Cache(self._directory, keep_trees=KEPT), self._bus
            )
            every = chain.from_iterable(one.entries() for one in manifests.values())
            await files.fetch_entries(filter(_is_wanted, every))
            path = await asyncio.to_thread(_make, files.cache, digest, manifests, texts)
        except (NotFetched, BadManifest) as problem:
            raise _lost_error(digest, str(problem)) from None
        hidden = {
            environment: frozenset(one.path for one in manifest.entries() if one.digest in texts)
            for environment, manifest in manifests.items()
        }
        return RenderTree(tree_options(path, ""), hidden)


def _make(cache: Cache, digest: str, manifests: Mapping[str, Manifest], texts: Mapping[str, bytes]) -> str:
    """Write the tree, then the texts in place of their stubs."""
    path = make_tree(cache, digest, manifests)
    for environment, manifest in manifests.items():
        for number, layer in enumerate(manifest.layers):
            root = os.path.join(path, "roots", root_name(environment, number))
            for entry in layer:
                if entry.digest in texts:
                    _write(os.path.join(root, entry.path), texts[entry.digest])
    cache.trim()
    return path


def _write(path: str, data: bytes) -> None:
    os.unlink(path)  # it is a link to the content of the stub
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def _may_be_stub(entry: Entry) -> bool:
    return entry.kind == FILE and entry.size < STUB


def _is_wanted(entry: Entry) -> bool:
    return is_needed_first(entry) or (entry.kind == FILE and entry.size <= SMALL)


def _manifests(connection: Connection, digest: str) -> dict[str, Manifest] | None:
    members = trees.set_members(connection, digest)
    if members is None:
        return None
    found = {name: trees.manifest(connection, one) for name, one in members.items()}
    return (
        {name: decode_manifest(data) for name, data in found.items() if data} if all(found.values()) else None
    )


def _lost_error(digest: str, why: str = "it is no longer kept") -> OperationError:
    what = f"the version {digest[:12]} of the files cannot be used: {why}"
    return OperationError(Diagnostic(code="tree-lost", what=what, fix="submit the job again"))
