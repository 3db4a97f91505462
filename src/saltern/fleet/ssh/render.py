"""Renders files of this machine that hosts do not get, at the request of a host's session."""

from __future__ import annotations

import asyncio
import base64
import secrets
from typing import Any

import msgspec

from saltern.fleet.protocol.messages import Job
from saltern.fleet.render.job_options import given_pillar, job_options
from saltern.fleet.render.pool import RenderPool
from saltern.fleet.render.task import SESSION, RenderResult, RenderTask, RunOptions
from saltern.fleet.ssh.kept_blocks import KeptBlocks
from saltern.fleet.ssh.pillar import PillarSources, of_roster
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.tree import LocalTree
from saltern.language.secrets import mask
from saltern.render.remote import Question
from saltern.report.text import safe_line

MALFORMED = "the question is malformed"
FORGOTTEN = "the block that it names was rendered by another machine, or is no longer kept; run it again"


class HostRender:
    """Renders for the hosts of one job. Rendered blocks are kept for the process that resumes the job."""

    def __init__(self, sources: PillarSources, tree: LocalTree, job: Job, kept: KeptBlocks) -> None:
        self._sources = sources
        self._tree = tree
        self._job = job
        self._kept = kept
        self._pool = RenderPool()
        self._scopes: dict[str, dict[str, bytes]] = {}
        self.problems: list[str] = []

    async def answer(self, host: Host, question: dict[str, Any]) -> dict[str, Any]:
        """Answer a worker on the host: data, or why there is none."""
        try:
            data = base64.b64decode(str(question.get("question", "")))
            asked = msgspec.msgpack.decode(data, type=Question)
        except (ValueError, msgspec.DecodeError, RecursionError):
            return {"problem": MALFORMED}
        known = await self._known_blocks(host)
        if asked.name and asked.name not in self._tree.hidden.get(asked.env, ()):
            return {"problem": f"{asked.name!r} is not rendered here"}
        if asked.scope and asked.scope not in known:
            return {"problem": FORGOTTEN}
        name = secrets.token_hex(16)
        result = await self._result(host, RenderTask(key=host.id, question=data, name=name), question, known)
        if result.refused:
            return {"problem": result.refused}
        if result.detail:
            self.problems.append(f"{host.id}: {safe_line(mask(result.detail))}")
        if result.scope:
            await asyncio.to_thread(self._kept.keep, host.id, name, result.scope)
            known[name] = result.scope
        return {"sent": base64.b64encode(result.sent).decode()}

    async def _known_blocks(self, host: Host) -> dict[str, bytes]:
        """The blocks of a host, with those that another command of the same job has kept."""
        if host.id not in self._scopes:
            self._scopes[host.id] = await asyncio.to_thread(self._kept.of, host.id)
        return self._scopes[host.id]

    async def _result(
        self, host: Host, task: RenderTask, question: dict[str, Any], scopes: dict[str, bytes]
    ) -> RenderResult:
        result = await self._pool.render(task)
        if result.lacks == SESSION:
            run = self._run(host, question.get("grains") or {})
            result = await self._pool.render(msgspec.structs.replace(task, run=run, scopes=scopes))
        return result

    def _run(self, host: Host, grains: dict[str, Any]) -> RunOptions:
        sources = self._sources
        entries = {"ext_pillar": sources.ext_pillar} if sources.ext_pillar else {}
        return RunOptions(
            key=host.id,
            id=host.id,
            grains={**grains, **host.grains},
            pinned=sources.pinned.get(host.id, {}),
            overrides=given_pillar(of_roster(host), self._job),
            options={**sources.options, **job_options(self._job), "file_roots": self._tree.roots},
            extra={**sources.config, **entries},
        )

    async def close(self) -> None:
        await self._pool.close()
