"""The trees of a controller: published when a job is submitted, kept in the database, removed when old."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from saltern.fleet.bus.ports import Bus
from saltern.fleet.files.conceal import (
    Concealment,
    Marks,
    conceal,
    hidden_entries,
    hidden_files,
    read_whole,
)
from saltern.fleet.files.git import Repositories, is_remote, parse_remote
from saltern.fleet.files.manifest import FILE, Manifest, decode_manifest, encode, tree_digest
from saltern.fleet.files.publish import Publisher
from saltern.fleet.files.scan import Scan
from saltern.fleet.files.versions import Calls, TreeVersions
from saltern.fleet.store import audit, leases, trees
from saltern.fleet.store.database import Connection
from saltern.fleet.store.hidden_files import keep_hidden, stubs_of
from saltern.fleet.store.trees import NewManifest
from saltern.language.diagnostics import Diagnostic

RECENT = 4  # versions from which agents can fetch only the changes
SWEEP = "blobs"  # the lease of the controller that removes blobs
SWEEP_LIFE = 60.0
WAIT = 0.1


class Roots(Struct, frozen=True, kw_only=True):
    """The sources of files, and where this controller keeps its state about them."""

    roots: Mapping[str, Sequence[str]]
    directory: str
    versions: int = 30
    git_interval: float = 60.0
    hidden: Concealment = Concealment()


class TreeKeeper:
    """Publishes, stores and serves the trees of a controller."""

    def __init__(
        self, bus: Bus, calls: Calls, roots: Roots, *, name: str, now: Callable[[], float], replicas: int = 1
    ) -> None:
        os.makedirs(roots.directory, 0o700, exist_ok=True)
        self.publisher = Publisher(bus, f"{roots.directory}/digests", self._conceal)
        self.warnings: list[Diagnostic] = []
        self._calls = calls
        self._roots = roots
        self._repositories = Repositories(f"{roots.directory}/git", interval=roots.git_interval)
        self._name = name
        self._now = now
        self.replicas = replicas
        self._turn = asyncio.Lock()
        self.versions = TreeVersions(calls, self.publisher.blobs, self._turn, now)
        self._begun = 0
        self._newest = ""
        self.members: dict[str, str] = {}
        self._marks = Marks()
        self._words: dict[str, str] = {}  # words of the `#!delayed_sls` lines of hidden contents

    @property
    def git_problems(self) -> Mapping[str, str]:
        """The remotes that could not be reached, and why; the last fetched state is in use."""
        return self._repositories.problems

    async def start(self) -> None:
        await self.publisher.blobs.make(self.replicas)

    async def newest(self, _environment: str = "") -> str:
        """Publish the current roots; return the digest of the tree, which a job names. Waiting calls share a
        scan.
        """
        before = self._begun
        async with self._turn:
            if self._begun == before or not self._newest:
                await self._renew(self._name, force=False)
            return self._newest

    async def publish(self, by: str) -> str:
        """Publish now, with the current state of git remotes."""
        async with self._turn:
            await self._renew(by, force=True)
            return self._newest

    async def _renew(self, by: str, *, force: bool) -> None:
        self._begun += 1
        self._newest = ""
        roots = await asyncio.to_thread(self.directories, self._roots.roots, force=force)
        while not self._newest:
            self._newest = await self._publish(roots, by)

    async def _publish(self, roots: dict[str, list[str]], by: str) -> str:
        """Publish and record it; empty if blobs were removed meanwhile, so that some may be missing."""
        fence = await self._calm()
        tree, found = await self.publisher.publish(roots, self._recent)
        self.warnings = tree.warnings
        members = await self._calls.read(_members, tree.manifests)
        if members is None:
            manifests = _new_manifests(found, tree.manifests)
            members = await self._calls.write(_publish, manifests, by, self._now())
        digest = tree_digest(members)
        self.members = members
        if digest != tree.digest:  # an environment is held
            await self.publisher.name(members)
        if not await self._calls.read(trees.is_set_fresh, digest, self._now()):
            await self._calls.write(trees.use_set, digest, members, self._now())
        return digest if await self._calm() == fence else ""

    async def _conceal(self, found: Scan) -> Scan:
        """Store the texts of files that are rendered here, and replace them by stubs."""
        rule = self._roots.hidden
        hidden = await asyncio.to_thread(hidden_entries, found, rule, self._marks)
        if not hidden:
            return found
        needed = await asyncio.to_thread(hidden_files, found, hidden, rule, self._words)
        stubs = await self._calls.read(stubs_of, needed.keys())
        if fresh := {one: content for one, content in needed.items() if one not in stubs}:
            texts = await asyncio.to_thread(
                lambda: [(one, read_whole(content, one.digest)) for one, content in fresh.items()]
            )
            await self._calls.write(keep_hidden, texts)
            stubs = await self._calls.read(stubs_of, needed.keys())
        self._words = {one.digest: one.words for one in needed}
        return conceal(found, hidden, self._words, stubs)

    async def _recent(self, environment: str) -> list[tuple[str, Manifest]]:
        """The newest manifests of an environment, by digest."""
        found = await self._calls.read(_recent, environment)
        return [(digest, decode_manifest(data)) for digest, data in found]

    def directories(self, roots: Mapping[str, Sequence[str]], *, force: bool = False) -> dict[str, list[str]]:
        """The roots, with git remotes as directories; blocks while a remote is fetched."""
        return {
            environment: [
                self._repositories.root(parse_remote(root), now=force) if is_remote(root) else root
                for root in several
            ]
            for environment, several in roots.items()
        }

    async def _calm(self) -> int:
        """Wait until no controller removes blobs; return how often that has happened."""
        while True:
            fence, busy = await self._calls.read(_sweeps)
            if not busy:
                return int(fence)
            await asyncio.sleep(WAIT)

    async def follow(self, environment: str, by: str) -> str:
        """Follow the roots again after a rollback, and publish them; return the tree's digest."""
        await self._calls.write(_release, environment, by, self._now())
        return await self.publish(by)


def _publish(connection: Connection, manifests: Sequence[NewManifest], by: str, now: float) -> dict[str, str]:
    """Record what was published; return the current versions by environment."""
    trees.keep_manifests(connection, manifests)
    versions = {one.environment: one.digest for one in manifests}
    return {
        environment: row.digest
        for environment, row in trees.set_versions(connection, versions, by, now).items()
    }


def _release(connection: Connection, environment: str, by: str, now: float) -> None:
    if trees.release(connection, environment):
        audit.append(connection, by, "tree.follow", {"environment": environment}, now)


def _recent(connection: Connection, environment: str) -> list[tuple[str, bytes]]:
    digests = trees.find(connection, environment, "")[:RECENT]
    return [(digest, data) for digest in digests if (data := trees.manifest(connection, digest))]


def _members(connection: Connection, versions: Mapping[str, str]) -> dict[str, str] | None:
    """The current versions, if nothing needs to be recorded."""
    found = trees.in_force(connection)
    if versions.keys() != found.keys():
        return None
    if any(not row.held and row.digest != versions[name] for name, row in found.items()):
        return None
    return {name: row.digest for name, row in found.items()}


def _sweeps(connection: Connection) -> tuple[int, bool]:
    return leases.lease_holder(connection, SWEEP)


def _new_manifests(found: Scan, digests: Mapping[str, str]) -> list[NewManifest]:
    return [
        NewManifest(
            digest=digests[environment],
            environment=environment,
            files=sum(one.kind == FILE for one in manifest.entries()),
            size=sum(one.size for one in manifest.entries()),
            data=encode(manifest),
        )
        for environment, manifest in found.manifests.items()
    ]
