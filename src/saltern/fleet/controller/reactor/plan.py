"""Plans the reactions to an event: renders its files, and gives each reaction a token. Nothing is done."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.controller.job_events import job_of
from saltern.fleet.reactor.forms import Reaction, Wrong
from saltern.fleet.reactor.pool import RenderPool
from saltern.fleet.reactor.render import RenderResult, RenderTask
from saltern.fleet.store.events import StoredEvent


class Planned(Struct, frozen=True, kw_only=True):
    """The reactions to an event, and the mistakes in its files."""

    event: StoredEvent
    reactions: Sequence[Reaction] = ()
    wrong: Sequence[Wrong] = ()

    @property
    def parent(self) -> str:
        """The parent of the reactions: the job that the event is about, else the event itself."""
        return job_of(self.event) or self.event.cause or event_parent(self.event.number)

    def token(self, one: Reaction | Wrong) -> str:
        """A token that is the same for the same reaction to the same event, however often it is read."""
        what = (one.source, one.name, getattr(one, "kind", ""), getattr(one, "function", str(one.line)))
        return hashlib.sha256(repr((self.event.number, *what)).encode()).hexdigest()

    def jid(self, one: Reaction) -> str:
        """The number of a reaction that is not a job on systems, but may start some."""
        return f"reaction-{self.event.number}-{self.token(one)[:12]}"


def event_parent(number: int) -> str:
    """An event as the parent of jobs."""
    return f"event-{number}"


class Planner:
    """Renders in separate processes. ``engine``: the options of the engine, with roots as directories."""

    def __init__(self, id_: str, engine: Callable[[], Mapping[str, Any]], extra: Mapping[str, Any]) -> None:
        self._id = id_
        self._engine = engine
        self._extra = dict(extra)
        self._pool = RenderPool()

    async def plan(self, event: StoredEvent, sources: Sequence[str]) -> Planned:
        result = await self._call(self._task(event, sources))
        return Planned(event=event, reactions=result.reactions, wrong=result.wrong)

    async def call(self, one: Reaction) -> RenderResult:
        """Call a function on this machine."""
        task = RenderTask(id=self._id, options=dict(self._engine()), extra=self._extra, call=one)
        return await self._call(task)

    def _task(self, event: StoredEvent, sources: Sequence[str]) -> RenderTask:
        return RenderTask(
            id=self._id,
            tag=event.tag,
            data=payload(event),
            sources=list(sources),
            options=dict(self._engine()),
            extra=self._extra,
        )

    async def _call(self, task: RenderTask) -> RenderResult:
        result = await self._pool.render(task)
        if result.problem and not result.wrong:
            source = ", ".join(task.sources) or (task.call.function if task.call else "")
            return replace(result, wrong=[Wrong(line=0, why=result.problem, source=source)])
        return result

    async def close(self) -> None:
        await self._pool.close()


def payload(event: StoredEvent) -> dict[str, Any]:
    """The data of an event for reaction files: with the time, as in Salt."""
    stamp = datetime.fromtimestamp(event.at, UTC).replace(tzinfo=None).isoformat()
    return {"_stamp": stamp, **event.data}
