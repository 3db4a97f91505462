"""The service ``pillar``: a system gets its own pillar, sealed to its key, and no other one's.

A pillar is compiled again when any of its inputs has changed, or after some seconds: templates may query
other sources. The cached result is sealed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import os
import secrets
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from saltern.fleet.files.manifest import encode
from saltern.fleet.files.scan import scan
from saltern.fleet.files.stat_cache import StatCache
from saltern.fleet.pillar.compile import PillarResult, PillarTask, engine_options, extra_options
from saltern.fleet.pillar.pool import CompilerPool
from saltern.fleet.pillar.seal_purpose import purpose_of
from saltern.fleet.protocol.messages import PillarAnswer, PillarRequest
from saltern.fleet.protocol.seal import SealedFor, seal
from saltern.fleet.store.database import Connection
from saltern.fleet.store.facts import facts_of
from saltern.fleet.store.systems import NOT_ACCEPTED, System, is_accepted, system
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

LARGEST = 500 * 1024  # bytes of a sealed pillar, so that its answer is one message
MOST_KEPT = 20_000
EMPTY = msgspec.msgpack.encode({})


class Calls(Protocol):
    """Transactions, off the event loop."""

    async def read(self, query: Callable[..., Any], /, *args: Any, **options: Any) -> Any: ...


class PillarOptions(Struct, frozen=True, kw_only=True):
    """The inputs of every system's pillar, besides its facts."""

    pillar_roots: dict[str, list[str]]
    file_roots: dict[str, list[str]]
    nodegroups: dict[str, Any] = {}
    ext_pillar: list[Any] = []
    config: dict[str, Any] = {}
    merging: str = "smart"
    merge_lists: bool = False
    pinned: dict[str, dict[str, Any]] = {}
    life: float = 60.0


class Kept(Struct, frozen=True):
    """A sealed answer, and until when it is valid."""

    answer: PillarAnswer
    until: float


class PillarDesk:
    """Answers for one controller. ``roots`` turns roots that are git remotes into directories."""

    def __init__(
        self,
        calls: Calls,
        options: PillarOptions,
        *,
        fleet: str,
        state: str,
        now: Callable[[], float],
        roots: Callable[[Mapping[str, Sequence[str]]], dict[str, list[str]]],
        pool: CompilerPool | None = None,
    ) -> None:
        self.pool = pool or CompilerPool()
        self.warned: dict[str, None] = {}
        self._calls = calls
        self._options = options
        self._fleet = fleet
        self._now = now
        self._roots = roots
        self._state = state
        self._cache: StatCache | None = None
        self._secret = secrets.token_bytes(32)
        self._kept: dict[str, Kept] = {}
        self._scan = asyncio.Lock()

    async def answer(self, id_: str, request: PillarRequest) -> PillarAnswer:
        """The pillar of the requesting system; the broker guarantees its id."""
        known, grains = await self._calls.read(_facts, id_)
        if not is_accepted(known):
            return PillarAnswer(problem=NOT_ACCEPTED)
        try:
            roots = await self._directories()
            digest = self._digest(known, request, grains, roots)
            kept = self._kept.get(digest)
            if kept is None or kept.until < self._now():
                kept = Kept(await self._compile(known, request, grains, digest, roots), 0.0)
                self._keep(digest, kept.answer)
        except OperationError as problem:
            return PillarAnswer(problem=str(problem.diagnostics[0].what))
        return PillarAnswer(digest=digest) if kept.answer.sealed and request.digest == digest else kept.answer

    async def digests(self, ids: Collection[str], fingerprint: Callable[[bytes], str]) -> dict[str, str]:
        """A digest of each system's current pillar; a system whose pillar cannot be compiled has none."""
        roots = await self._directories()
        facts = await self._calls.read(facts_of, list(ids))
        request = PillarRequest(nonce="plan")
        done = await asyncio.gather(
            *(self._result(id_, request, facts[id_][1] if id_ in facts else b"", roots) for id_ in ids)
        )
        return {
            id_: fingerprint(_canonical(one.data))
            for id_, one in zip(ids, done, strict=True)
            if not one.problem
        }

    def _keep(self, digest: str, answer: PillarAnswer) -> None:
        self._kept.pop(digest, None)
        if answer.sealed and self._options.life:
            self._kept[digest] = Kept(answer, self._now() + self._options.life)
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]

    async def _directories(self) -> _Roots:
        """The roots as directories, and a digest of everything in the pillar's roots."""

        def look() -> _Roots:
            if self._cache is None:
                self._cache = StatCache(self._state)
            pillar = self._roots(self._options.pillar_roots)
            found = scan(pillar, self._cache)
            whole = hashlib.sha256(b"".join(map(encode, found.manifests.values()))).hexdigest()
            return _Roots(pillar, self._roots(self._options.file_roots), whole)

        async with self._scan:
            return await asyncio.to_thread(look)

    def _digest(self, known: System, request: PillarRequest, grains: bytes, roots: _Roots) -> str:
        """A keyed digest of all inputs of this pillar, so that nothing can be guessed from it."""
        parts = [known.id, request.environment, request.overrides, known.sealing_key, grains, roots.digest]
        return hmac.digest(self._secret, msgspec.msgpack.encode(parts), "sha256").hex()

    async def _compile(
        self, known: System, request: PillarRequest, grains: bytes, digest: str, roots: _Roots
    ) -> PillarAnswer:
        return self._seal(known, request, await self._result(known.id, request, grains, roots), digest)

    async def _result(self, id_: str, request: PillarRequest, grains: bytes, roots: _Roots) -> PillarResult:
        options = self._options
        if not options.ext_pillar and not await asyncio.to_thread(_has_any, roots.pillar):
            return PillarResult(data=EMPTY)
        task = PillarTask(
            id=id_,
            grains=msgspec.json.decode(grains) if grains else {},
            pinned=options.pinned.get(id_, {}),
            overrides=request.overrides,
            environment=request.environment,
            options={
                "pillar_roots": roots.pillar,
                "file_roots": roots.files,
                "nodegroups": options.nodegroups,
                "pillar_source_merging_strategy": options.merging,
                "pillar_merge_lists": options.merge_lists,
                **engine_options(options.config),
            },
            extra=extra_options(options.config, options.ext_pillar),
        )
        return await self.pool.compile(task)

    def _seal(self, known: System, request: PillarRequest, result: PillarResult, digest: str) -> PillarAnswer:
        for warning in result.warnings:
            if warning not in self.warned:
                self.warned[warning] = None
                log.warning("pillar: %s", warning)
        if result.problem:
            log.warning("the pillar of %s cannot be compiled: %s", known.id, result.problem)
            return PillarAnswer(problem=result.problem[:8000])
        bound = SealedFor(fleet=self._fleet, system=known.id, purpose=purpose_of(request))
        box = seal(zlib.compress(result.data, 6), known.sealing_key, bound)
        if len(box) > LARGEST:
            return PillarAnswer(problem=f"it has {len(box):,} bytes, and {LARGEST:,} can be sent")
        return PillarAnswer(sealed=box, digest=digest)

    async def close(self) -> None:
        await self.pool.close()


def _canonical(data: bytes) -> bytes:
    """The canonical form of a compiled pillar."""
    pillar = msgspec.msgpack.decode(data, strict=False)
    return msgspec.msgpack.encode(pillar, order="deterministic", enc_hook=dict)


class _Roots(Struct, frozen=True):
    pillar: dict[str, list[str]]
    files: dict[str, list[str]]
    digest: str


def _has_any(roots: Mapping[str, Sequence[str]]) -> bool:
    return any(os.path.isdir(root) for several in roots.values() for root in several)


def _facts(connection: Connection, id_: str) -> tuple[System | None, bytes]:
    return system(connection, id_), facts_of(connection, [id_]).get(id_, ("", b""))[1]
