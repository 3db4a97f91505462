"""The versions of a tree: list them, compare them, and return to one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from saltern.fleet.files.blobs import Blobs
from saltern.fleet.files.changes import Difference, differences
from saltern.fleet.files.manifest import Manifest, decode_manifest
from saltern.fleet.store import audit, trees
from saltern.fleet.store.database import Connection
from saltern.fleet.store.trees import TreeRow
from saltern.language.diagnostics import Diagnostic, OperationError


class Calls(Protocol):
    """Transactions, off the event loop."""

    async def read(self, query: Callable[..., Any], /, *args: Any, **options: Any) -> Any: ...

    async def write(self, change: Callable[..., Any], /, *args: Any, **options: Any) -> Any: ...


class TreeVersions:
    """Earlier versions. ``turn`` is held while one is published or returned to."""

    def __init__(self, calls: Calls, blobs: Blobs, turn: asyncio.Lock, now: Callable[[], float]) -> None:
        self._calls = calls
        self._blobs = blobs
        self._turn = turn
        self._now = now

    async def log(
        self, environment: str = "", *, before: int | None = None, limit: int = 50
    ) -> list[TreeRow]:
        found: list[TreeRow] = await self._calls.read(trees.log, environment, before=before, limit=limit)
        return found

    async def diff(self, environment: str, old: str = "", new: str = "") -> list[Difference]:
        """The differences between two versions, given by the beginnings of their digests; by default the last
        two.
        """
        digests = await self._calls.read(trees.find, environment, "")
        newer = _choose(environment, digests, new) if new else digests[0] if digests else ""
        rest = digests[digests.index(newer) + 1 :] if newer else []
        older = _choose(environment, digests, old) if old else rest[0] if rest else ""
        return differences(await self._manifest(older), await self._manifest(newer))

    async def _manifest(self, digest: str) -> Manifest | None:
        data = await self._calls.read(trees.manifest, digest) if digest else None
        return decode_manifest(data) if data else None

    async def rollback(self, environment: str, version: str, by: str) -> str:
        """Return to an earlier version, and stay there until ``follow``; return its digest."""
        digests = await self._calls.read(trees.find, environment, "")
        digest = _choose(environment, digests, version) if version else _previous(environment, digests)
        async with self._turn:
            await self._check_kept(environment, digest)
            await self._calls.write(_hold, environment, digest, by, self._now())
        return digest

    async def _check_kept(self, environment: str, digest: str) -> None:
        manifest = await self._manifest(digest)
        await self._blobs.refresh()
        lost = (
            [one.path for one in manifest.entries() if not self._is_kept(one.digest, one.size)]
            if manifest
            else []
        )
        if manifest is None or lost:
            which = f": {', '.join(lost[:3])}{' …' if len(lost) > 3 else ''}" if lost else ""
            raise OperationError(
                Diagnostic(
                    code="tree-lost",
                    what=f"the version {digest[:12]} of {environment!r} cannot be used: the broker does not"
                    f" have {len(lost) or 'any'} of its files any more{which}",
                    fix="bring the roots to that version (git checkout), and publish: saltern tree publish",
                )
            )

    def _is_kept(self, digest: str, size: int) -> bool:
        return not digest or self._blobs.has(digest, size)


def _hold(connection: Connection, environment: str, digest: str, by: str, now: float) -> None:
    trees.hold(connection, environment, digest, by, now)
    audit.append(connection, by, "tree.rollback", {"environment": environment, "digest": digest}, now)


def _choose(environment: str, digests: Sequence[str], beginning: str) -> str:
    """The only version whose digest begins with this text."""
    found = [one for one in digests if one.startswith(beginning)]
    if len(found) == 1:
        return found[0]
    what = "several versions begin" if found else "no version begins"
    raise OperationError(
        Diagnostic(
            code="tree-version",
            what=f"{what} with {beginning!r} in the environment {environment!r}",
            fix=f"saltern tree log {environment} lists them",
        )
    )


def _previous(environment: str, digests: Sequence[str]) -> str:
    if len(digests) > 1:
        return digests[1]
    raise OperationError(
        Diagnostic(
            code="tree-version",
            what=f"the environment {environment!r} has no earlier version",
            fix=f"saltern tree log {environment} lists them",
        )
    )
