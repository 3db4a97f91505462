"""The inputs of a run's session on a controller: facts, pillar and the tree of its job."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from saltern.fleet.pillar.compile import engine_options, extra_options
from saltern.fleet.pillar.desk import PillarOptions
from saltern.fleet.protocol.messages import Job
from saltern.fleet.render.job_options import given_pillar, job_options
from saltern.fleet.render.task import RunOptions
from saltern.fleet.render.trees import RenderTrees
from saltern.render.remote import Question


class RunSessions:
    """Knows the trees and the pillar of one controller. ``roots`` makes directories of git remotes."""

    def __init__(
        self,
        trees: RenderTrees,
        pillar: PillarOptions,
        *,
        roots: Callable[[Mapping[str, Sequence[str]]], dict[str, list[str]]],
        cache: str,
        limit: int | None,
    ) -> None:
        self._trees = trees
        self._pillar = pillar
        self._roots = roots
        self._cache = cache
        self._limit = limit
        self._refreshed: dict[str, str] = {}

    async def is_hidden(self, job: Job, question: Question) -> bool:
        """True if the requested file is rendered here."""
        tree = await self._trees.get(job.tree)
        return question.name in tree.hidden.get(question.env, ())

    def key(self, job: Job, id_: str, facts: str, question: Question) -> str:
        """The name of a session; another one after the facts have changed, or the pillar is to be renewed."""
        run = run_name(job.jid, id_)
        if "pillar" in question.refresh:
            packed = msgspec.msgpack.encode(question)
            self._refreshed[run] = hashlib.sha256(packed).hexdigest()[:16]
        return f"{run}{facts} {self._refreshed.get(run, '')}"

    def discard(self, runs: Collection[str]) -> None:
        """Forget runs that have ended."""
        for run in runs:
            self._refreshed.pop(run, None)

    async def options(self, job: Job, id_: str, grains: bytes, key: str, known: dict[str, Any]) -> RunOptions:
        """The options. ``known`` is pillar of the system that is in no file; that of the job overrides it."""
        tree, pillar = await self._trees.get(job.tree), self._pillar
        given = given_pillar(known, job)
        return RunOptions(
            key=key,
            id=id_,
            grains=msgspec.json.decode(grains) if grains else {},
            pinned=pillar.pinned.get(id_, {}),
            overrides=given,
            options={
                **tree.options,
                "pillar_roots": await asyncio.to_thread(self._roots, pillar.pillar_roots),
                "nodegroups": pillar.nodegroups,
                "pillar_source_merging_strategy": pillar.merging,
                "pillar_merge_lists": pillar.merge_lists,
                "cachedir": self._cache,
                **job_options(job),
                **engine_options(pillar.config),
            },
            extra=extra_options(pillar.config, pillar.ext_pillar),
            limit=self._limit,
        )


def run_name(jid: str, id_: str) -> str:
    """How the names of all sessions of a run begin."""
    return f"{jid} {id_} "
