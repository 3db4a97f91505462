"""The pillar of hosts: compiled on this machine from each host's grains, sent in the session."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from saltern.config.settings import Settings
from saltern.fleet.files.git import is_remote
from saltern.fleet.pillar.compile import PillarTask
from saltern.fleet.pillar.pool import CompilerPool
from saltern.fleet.ssh.roster.host import Host
from saltern.language.merge import merge

OPTIONS = (
    "pillar_roots",
    "file_roots",
    "nodegroups",
    "pillar_source_merging_strategy",
    "pillar_merge_lists",
    "env_order",
    "gpg_keydir",
    "gpg_decrypt_must_succeed",
    "sops_age_key_file",
)


class PillarSources(Struct, frozen=True, kw_only=True):
    """The inputs of pillar, besides the host's grains. ``pinned``: grains that override the host's own, by
    id.
    """

    options: dict[str, Any]
    ext_pillar: list[Any] = []
    config: dict[str, Any] = {}  # further keys of the configuration, for renderers and sources
    pinned: dict[str, dict[str, Any]] = {}

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to compile. A root may be a git remote, of which nothing is known yet."""
        roots = [root for some in self.options["pillar_roots"].values() for root in some]
        return not self.ext_pillar and not any(is_remote(root) or os.path.isdir(root) for root in roots)


def as_it_is(sources: PillarSources) -> PillarSources:
    return sources


def sources_of(settings: Settings) -> PillarSources:
    """The sources that this machine's configuration names."""
    entries = settings.extra.get("ext_pillar")
    return PillarSources(
        options={name: getattr(settings, name) for name in OPTIONS},
        ext_pillar=entries if isinstance(entries, list) else [],
        config=settings.extra,
    )


class HostPillar:
    """Compiles for many hosts. Data of the roster overrides the files."""

    def __init__(
        self,
        sources: PillarSources,
        local: Callable[[PillarSources], PillarSources] = as_it_is,
    ) -> None:
        """``local`` turns roots that are git remotes into directories; it may block."""
        self._sources = sources
        self._local = local
        self._pool = CompilerPool()

    def known_pillar(self, host: Host) -> str | None:
        """The pillar of a host if nothing has to be compiled for it."""
        return _pack(of_roster(host)) if self._sources.is_empty else None

    async def answer(self, host: Host, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a worker on the host that asks for its pillar: the pillar, or why there is none."""
        given = base64.b64decode(str(question.get("overrides", "")))
        sources = await asyncio.to_thread(self._local, self._sources)
        entries = sources.ext_pillar
        task = PillarTask(
            id=host.id,
            grains={**question.get("grains", {}), **host.grains},
            pinned=sources.pinned.get(host.id, {}),
            overrides=msgspec.msgpack.decode(given, type=dict[Any, Any]) if given else {},
            environment=str(question.get("environment", "")),
            options=sources.options,
            extra={**sources.config, **({"ext_pillar": entries} if entries else {})},
        )
        result = await self._pool.compile(task)
        if result.problem:
            return {"problem": result.problem}
        compiled = msgspec.msgpack.decode(result.data, strict=False)
        merged = merge(compiled, of_roster(host), strategy="smart", merge_lists=False)
        return {"pillar": _pack(merged), "warnings": result.warnings}

    async def close(self) -> None:
        await self._pool.close()


def of_roster(host: Host) -> dict[str, Any]:
    """The data of the roster: pillar, and variables with the groups below ``roster``."""
    known: dict[str, Any] = {**host.variables, "groups": sorted(host.groups)}
    return {**({"roster": known} if host.variables or host.groups else {}), **host.pillar}


def _pack(pillar: object) -> str:
    return base64.b64encode(msgspec.msgpack.encode(pillar, enc_hook=dict)).decode()
