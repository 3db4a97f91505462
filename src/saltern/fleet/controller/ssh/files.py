"""The files of a job for a host without an agent: manifests from the database, contents from the broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import cached_property

from saltern.fleet.controller.calls import Calls
from saltern.fleet.files.fetch import Fetcher
from saltern.fleet.files.manifest import FILE, decode_manifest, encode, make_index
from saltern.fleet.files.pieces import count_pieces
from saltern.fleet.store import trees
from saltern.fleet.store.database import Connection
from saltern.language.diagnostics import Diagnostic, OperationError

END = b""
AHEAD = 2  # pieces of a large content in memory


class PublishedTree:
    """One tree by its digest. ``roots`` are the directories that its files come from."""

    def __init__(
        self, digest: str, manifests: dict[str, bytes], fetcher: Fetcher, roots: dict[str, list[str]]
    ) -> None:
        self.digest = digest
        self.roots = roots
        self._manifests = manifests
        self._fetcher = fetcher

    async def manifest(self, digest: str) -> bytes:
        return self._manifests.get(digest, b"")

    async def has(self, digest: str) -> bool:
        return digest in self._sizes

    @cached_property
    def _sizes(self) -> dict[str, int]:
        found = (decode_manifest(data) for digest, data in self._manifests.items() if digest != self.digest)
        return {one.digest: one.size for each in found for one in each.entries() if one.kind == FILE}

    async def parts(self, digest: str) -> AsyncIterator[tuple[bytes, bool]]:
        size = self._sizes[digest]
        if count_pieces(size) == 1:
            whole = bytearray()
            await self._fetcher.content(digest, size, whole.extend)
            yield bytes(whole), False
            return
        async for piece, more in self._pieces(digest, size):
            yield piece, more

    async def _pieces(self, digest: str, size: int) -> AsyncIterator[tuple[bytes, bool]]:
        """A large content, piece by piece: the fetcher passes them from a thread."""
        pieces: asyncio.Queue[bytes] = asyncio.Queue(AHEAD)
        loop = asyncio.get_running_loop()

        def take(data: bytes) -> None:
            asyncio.run_coroutine_threadsafe(pieces.put(data), loop).result()

        async def fetch() -> None:
            try:
                await self._fetcher.content(digest, size, take)
            finally:
                await pieces.put(END)

        task = asyncio.create_task(fetch())
        try:
            held = await pieces.get()
            while following := await pieces.get():
                yield held, True
                held = following
            await task
            yield held, False
        finally:
            task.cancel()


async def published_tree(
    calls: Calls, fetcher: Fetcher, digest: str, roots: dict[str, list[str]]
) -> PublishedTree:
    """The tree that a job names. Raises ``OperationError`` if it is no longer kept."""
    manifests = await calls.read(_manifests, digest)
    if manifests is None:
        what = f"the version {digest[:12]} of the files is no longer kept"
        raise OperationError(Diagnostic(code="tree-version", what=what, fix="submit the job again"))
    return PublishedTree(digest, manifests, fetcher, roots)


def _manifests(connection: Connection, digest: str) -> dict[str, bytes] | None:
    members = trees.set_members(connection, digest)
    if members is None:
        return None
    found = {one: trees.manifest(connection, one) for one in members.values()}
    if not all(found.values()):
        return None
    index = encode(make_index(members))
    return {digest: index, **{one: data for one, data in found.items() if data}}
