"""An agent's files: trees that are made ready before a job starts, and files that are fetched later."""

from __future__ import annotations

import asyncio
import errno
import hashlib
from collections.abc import Collection, Iterable
from itertools import chain

from saltern.fleet.bus.ports import Bus
from saltern.fleet.files.cache import Cache
from saltern.fleet.files.fetch import Fetcher
from saltern.fleet.files.manifest import (
    FILE,
    BadManifest,
    Entry,
    Manifest,
    decode_index,
    decode_manifest,
    encode,
)
from saltern.fleet.files.materialise import hold, layers_of, make_tree
from saltern.fleet.files.parallel import each
from saltern.fleet.files.prefetch import is_needed_first
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.files.site_source import SiteSource

PARALLEL = 16
ABSENT_WAIT = 5.0
AHEAD_FILE, AHEAD_FILES = 64 * 1024, 64  # files in the same directory that are fetched with a requested one


class AgentFiles:
    """The trees of one agent, over its bus and its cache."""

    def __init__(self, cache: Cache, bus: Bus, *, wait: float = 60.0, site: SiteSource | None = None) -> None:
        self.cache = cache
        self.fetcher = Fetcher(bus, wait=wait, absent_wait=min(wait, ABSENT_WAIT), site=site)
        self._checked: set[str] = set()  # trees whose contents were read in this process
        self._open: dict[str, dict[str, dict[str, Entry]]] = {}  # trees from which states request files
        self._turn = asyncio.Lock()

    async def ensure(self, tree: str, job: str = "") -> str:
        """Make a tree ready; return its directory. It is kept until ``release`` of the job.

        Raises ``NotFetched`` if it cannot be fetched, with the reason in one line.
        """
        try:
            if job:
                await asyncio.to_thread(self.cache.trees.pin, job, tree)  # it waits for the disk
            async with self._turn:
                return await self._make_tree(tree)
        except BadManifest as problem:
            raise NotFetched(f"the tree {tree[:12]} is refused: {problem}") from None
        except OSError as problem:
            raise NotFetched(f"the tree {tree[:12]} cannot be written: {problem.strerror}") from None

    async def digest_below(self, tree: str, folder: str) -> str:
        """One digest of all files below a folder of a tree; empty if there are none."""
        try:
            manifests = await self._manifests(tree)
        except (BadManifest, OSError) as problem:
            raise NotFetched(f"the tree {tree[:12]} cannot be read: {problem}") from None
        found = sorted(
            f"{name} {entry.path} {entry.digest}"
            for name, manifest in manifests.items()
            for entry in manifest.entries()
            if entry.kind == FILE and entry.path.startswith(folder)
        )
        return hashlib.sha256("\n".join(found).encode()).hexdigest() if found else ""

    def release(self, job: str) -> None:
        """Unpin the tree of a job that has ended; with the last job, also drop what is held in memory."""
        self.cache.trees.unpin(job)
        if not self.cache.trees.pinned_trees():
            self._open = {}

    def release_others(self, jobs: Collection[str]) -> None:
        """Release all jobs except these: an earlier agent has seen the end of the others."""
        for job in self.cache.trees.pinned_trees().keys() - set(jobs):
            self.release(job)

    async def _make_tree(self, tree: str) -> str:
        if tree not in self._checked or not self.cache.trees.has(tree):
            manifests = await self._manifests(tree)
            every = chain.from_iterable(one.entries() for one in manifests.values())
            if await self.fetch_entries(filter(is_needed_first, every)) or not self.cache.trees.has(tree):
                await asyncio.to_thread(make_tree, self.cache, tree, manifests)
                await asyncio.to_thread(self.cache.trim)
            self._checked.add(tree)
        self.cache.trees.use(tree)
        return self.cache.trees.path(tree)

    async def _manifests(self, tree: str) -> dict[str, Manifest]:
        data = self.cache.manifests.read(tree)
        index = decode_index(data) if data else await self.fetcher.index(tree)
        manifests = {env: await self._manifest(env, digest) for env, digest in index.environments.items()}
        self.cache.manifests.write(tree, encode(index))
        return manifests

    async def _manifest(self, environment: str, digest: str) -> Manifest:
        if data := self.cache.manifests.read(digest):
            return decode_manifest(data)
        older = await asyncio.to_thread(self._older, environment)
        manifest = await self.fetcher.manifest(digest, older)
        if manifest.environment != environment:
            raise BadManifest(f"it is the manifest of {manifest.environment!r}, not of {environment!r}")
        self.cache.manifests.write(digest, encode(manifest))
        return manifest

    def _older(self, environment: str) -> dict[str, Manifest]:
        """The newest manifests of this environment in the cache."""
        found: dict[str, Manifest] = {}
        for digest in self.cache.manifests.digests():
            manifest = _read(self.cache.manifests.read(digest))
            if manifest is not None and manifest.environment == environment:
                found[digest] = manifest
            if len(found) == 2:
                break
        return found

    async def fetch_entries(self, entries: Iterable[Entry]) -> int:
        """Fetch the missing contents, each once; return how many."""
        wanted = {(entry.digest, entry.mode): entry for entry in entries if entry.kind == FILE}
        lacking = await asyncio.to_thread(
            lambda: [one for key, one in wanted.items() if not self.cache.contents.has(*key)]
        )
        await each(lacking, self._fetch_one, PARALLEL)
        return len(lacking)

    async def _fetch_one(self, entry: Entry) -> None:
        if self.cache.contents.has(entry.digest, entry.mode):
            return  # the same content with another mode
        try:
            with self.cache.contents.writer(entry.digest, entry.mode) as out:
                await self.fetcher.content(entry.digest, entry.size, out.write)
        except OSError as problem:
            if problem.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NotFetched(
                    f"there is no space for {entry.path} ({entry.size:,} bytes) below {self.cache.directory}"
                ) from None
            raise

    # -- files that a state asks for ---------------------------------------------------------------

    async def fetch_path(self, tree: str, path: str) -> None:
        """Fetch one file of a tree, by its path below the directory of roots, and small ones in the same
        directory.
        """
        if tree not in self._open:
            self._open[tree] = layers_of(await self._manifests(tree))
        root, _, name = path.partition("/")
        layer = self._open[tree].get(root, {})
        entry = layer.get(name)
        if entry is None or entry.kind != FILE:
            raise NotFetched(f"the tree {tree[:12]} has no file {path!r}")
        wanted = [entry, *_beside(entry, layer)]
        await self.fetch_entries(wanted)
        for one in wanted:
            hold(self.cache, tree, one)


def _beside(entry: Entry, layer: dict[str, Entry]) -> list[Entry]:
    """Small files in the same directory: a run that reads one of them will likely read the others."""
    folder = entry.path.rpartition("/")[0]
    found = (
        one
        for one in layer.values()
        if one.kind == FILE
        and one.size <= AHEAD_FILE
        and one.path.rpartition("/")[0] == folder
        and one is not entry
    )
    return [one for one, _ in zip(found, range(AHEAD_FILES), strict=False)]


def _read(data: bytes | None) -> Manifest | None:
    try:
        return decode_manifest(data) if data else None
    except BadManifest:
        return None
