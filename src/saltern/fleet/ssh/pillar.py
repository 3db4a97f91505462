"""The pillar of hosts: compiled on this machine from what each host says of itself, sent in the session."""

from __future__ import annotations

import base64
import os
from typing import Any

import msgspec

from saltern.config.settings import Settings
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
)


class HostPillar:
    """Compiles for many hosts. What the roster says of a host wins over the files."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = CompilerPool()
        roots = (root for some in settings.pillar_roots.values() for root in some)
        self._has_sources = bool(settings.extra.get("ext_pillar")) or any(map(os.path.isdir, roots))

    def known(self, host: Host) -> str | None:
        """The pillar of a host if nothing has to be compiled for it."""
        return None if self._has_sources else _packed(_of_roster(host))

    async def answer(self, host: Host, question: dict[str, Any]) -> dict[str, Any]:
        """What a worker on the host gets to its question: its pillar, or why there is none."""
        given = base64.b64decode(str(question.get("overrides", "")))
        entries = self._settings.extra.get("ext_pillar")
        task = PillarTask(
            id=host.id,
            grains={**question.get("grains", {}), **host.grains},
            overrides=msgspec.msgpack.decode(given, type=dict[Any, Any]) if given else {},
            environment=str(question.get("environment", "")),
            options={name: getattr(self._settings, name) for name in OPTIONS},
            extra={"ext_pillar": entries} if entries else {},
        )
        result = await self._pool.compile(task)
        if result.problem:
            return {"problem": result.problem}
        compiled = msgspec.msgpack.decode(result.data, strict=False)
        merged = merge(compiled, _of_roster(host), strategy="smart", merge_lists=False)
        return {"pillar": _packed(merged), "warnings": result.warnings}

    async def close(self) -> None:
        await self._pool.close()


def _of_roster(host: Host) -> dict[str, Any]:
    """What the roster says: pillar data, and variables with the groups below ``roster``."""
    known: dict[str, Any] = {**host.variables, "groups": sorted(host.groups)}
    return {**({"roster": known} if host.variables or host.groups else {}), **host.pillar}


def _packed(pillar: object) -> str:
    return base64.b64encode(msgspec.msgpack.encode(pillar, enc_hook=dict)).decode()
