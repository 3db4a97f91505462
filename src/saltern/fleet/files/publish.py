"""Publishes trees: scans the roots, stores what the stream lacks, and names the result by its digest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct

from saltern.fleet.bus.ports import Bus
from saltern.fleet.files.blobs import Blobs
from saltern.fleet.files.changes import change_between
from saltern.fleet.files.manifest import Manifest, encode, make_index
from saltern.fleet.files.parallel import each
from saltern.fleet.files.pieces import change_name, digest_of
from saltern.fleet.files.scan import ContentChanged, Scan, scan
from saltern.fleet.files.stat_cache import StatCache
from saltern.language.diagnostics import Diagnostic, OperationError

Roots = Mapping[str, Sequence[str]]
Older = Callable[[str], Awaitable[list[tuple[str, Manifest]]]]  # manifests of an environment, by digest
Conceal = Callable[[Scan], Awaitable[Scan]]
TRIES = 5


class Tree(Struct, frozen=True, kw_only=True):
    """A published tree: the digest that a job names, and the manifests by environment."""

    digest: str
    manifests: dict[str, str]
    warnings: list[Diagnostic] = []
    stored: int = 0


class Publisher:
    """Publishes to one bus. ``state`` is the file that remembers the digests of files."""

    def __init__(self, bus: Bus, state: str, conceal: Conceal | None = None) -> None:
        """``conceal`` replaces files that no agent may have by their stubs."""
        self.blobs = Blobs(bus)
        self._state = state
        self._conceal = conceal
        self._cache: StatCache | None = None

    async def scan(self, roots: Roots) -> Scan:
        """Read the roots, in a thread."""

        def look() -> Scan:
            if self._cache is None:
                self._cache = StatCache(self._state)
            return scan(roots, self._cache)

        return await asyncio.to_thread(look)

    async def publish(self, roots: Roots, older: Older) -> tuple[Tree, Scan]:
        """Scan and store. For agents that have one of the ``older`` manifests, the change is also stored."""
        for _ in range(TRIES):
            found = await self.scan(roots)
            try:
                found = await self._conceal(found) if self._conceal else found
                return await self.store(found, older), found
            except ContentChanged as changed:
                path = str(changed)
        raise OperationError(
            Diagnostic(
                code="file-changes",
                what=f"the file {path!r} changes while it is published",
                fix="move it out of the roots, or wait until it is written",
            )
        )

    async def store(self, found: Scan, older: Older) -> Tree:
        """Store what the stream lacks: contents first, then the manifests that name them, then the index."""
        await self.blobs.refresh()
        before = self.blobs.stored

        async def put(digest: str) -> None:
            await self.blobs.put_file(digest, found.contents[digest])

        await each(found.contents, put)
        for data in found.stubs.values():
            await self.blobs.put_data(data)
        manifests = {name: await self._put(manifest, older) for name, manifest in found.manifests.items()}
        digest = await self.name(manifests)
        return Tree(
            digest=digest,
            manifests=manifests,
            warnings=found.warnings,
            stored=self.blobs.stored - before,
        )

    async def name(self, manifests: Mapping[str, str]) -> str:
        """Store the index of these manifests; return its digest."""
        digest = await self.blobs.put_data(encode(make_index(manifests)))
        await self.blobs.settle()
        return digest

    async def _put(self, manifest: Manifest, older: Older) -> str:
        data = encode(manifest)
        digest = digest_of(data)
        if not self.blobs.has(digest, len(data)):
            for before, one in await older(manifest.environment):
                change = encode(change_between(one, manifest))
                if before != digest and len(change) < len(data) // 2:
                    await self.blobs.put(change_name(before, digest), change)
            await self.blobs.put_data(data)
        return digest
