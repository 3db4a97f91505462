"""Removes blobs that nothing names any more: old versions of trees, and contents that were never used.

One controller at a time does it, under a lease. A controller that publishes meanwhile waits, and lists the
blobs again afterwards: a blob that is removed now may be part of the next tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from saltern.fleet.bus.ports import Bus
from saltern.fleet.files.blobs import Blobs
from saltern.fleet.files.keeper import SWEEP, SWEEP_LIFE
from saltern.fleet.files.manifest import Manifest, decode_manifest
from saltern.fleet.files.pieces import (
    MAX_CONTENT,
    STREAM,
    change_name,
    count_pieces,
    list_name,
    read_list,
)
from saltern.fleet.files.versions import Calls
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.store import leases, trees
from saltern.fleet.store.database import Connection
from saltern.fleet.store.hidden_files import prune_hidden

VERSIONS = 30
SET_LIFE = 8 * 86_400.0  # longer than any job can wait for a system that is away
STEP = 500  # blobs between two checks of the lease


class Sweeper:
    """Removes what is old, for one controller."""

    def __init__(self, bus: Bus, calls: Calls, *, name: str, now: Callable[[], float]) -> None:
        self._bus = bus
        self._blobs = Blobs(bus)
        self._calls = calls
        self._name = name
        self._now = now

    async def sweep(self, *, versions: int = VERSIONS, set_life: float = SET_LIFE) -> int:
        """Remove blobs that neither a kept version nor an unfinished job names; return how many were
        removed.
        """
        fence = await self._calls.write(_take, self._name)
        if fence is None:
            return 0
        try:
            kept = await self._calls.write(trees.prune, versions=versions, set_life=set_life, now=self._now())
            named = await self._kept_names(kept)
            await self._calls.write(prune_hidden, named)
            doomed = sorted(await self._blobs.list_names() - named)
            return await self._remove(doomed, fence)
        finally:
            await self._calls.write(leases.give_up, SWEEP, fence)

    async def _remove(self, doomed: list[str], fence: int) -> int:
        for start in range(0, len(doomed), STEP):
            if await self._calls.write(_take, self._name) != fence:
                return start
            await self._blobs.remove(doomed[start : start + STEP])
        return len(doomed)

    async def _kept_names(self, kept: trees.Kept) -> set[str]:
        """The names of all blobs that must be kept."""
        names = set(kept.sets)
        sizes: dict[str, int] = {}
        for digests in kept.manifests.values():
            names |= {change_name(before, after) for before in digests for after in digests}
            for digest in digests:
                if data := await self._calls.read(trees.manifest, digest):
                    sizes |= {digest: len(data), **dict(_contents(decode_manifest(data)))}
        for digest, size in sizes.items():
            names |= await self._names_of(digest, size)
        return names

    async def _names_of(self, digest: str, size: int) -> set[str]:
        """The names of a content's blobs: its own, or those of its pieces and of their list."""
        if count_pieces(size) == 1:
            return {digest}
        kept = await self._bus.last(STREAM, SUBJECTS["blob"].of(digest=list_name(digest)))
        listed = read_list(kept.data, MAX_CONTENT) if kept else None
        return {list_name(digest), *(listed[1] if listed else ())}


def _take(connection: Connection, name: str) -> int | None:
    return leases.take(connection, SWEEP, name, SWEEP_LIFE)


def _contents(manifest: Manifest) -> Iterator[tuple[str, int]]:
    return ((one.digest, one.size) for one in manifest.entries() if one.digest)
