"""Events of states for the controllers of a fleet: ``fire_event`` of a state, and ``state_events`` of all."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.language import secrets
from saltern.language.diagnostics import OperationError
from saltern.language.events import Answer, ChunkFinished, FrameStarted, RunStarted
from saltern.language.hidden import shown_chunk
from saltern.modules.api.refused import Refused
from saltern.modules.api.uplink import JOB, Uplink
from saltern.report.salt import salt_return, time_of_day

if TYPE_CHECKING:
    from saltern.language.events import Event
    from saltern.runtime.ports import EventSink

log = logging.getLogger(__name__)


class StateEvents:
    """Follows a run, and has the agent send the events that Salt's minions send. Events that the agent does
    not take are logged: no state fails for that."""

    def __init__(self, agent: Uplink, id_: str, jid: str, *, every: bool, then: EventSink | None) -> None:
        self._agent = agent
        self._id = id_
        self._jid = os.environ.get(JOB) or jid or "local"
        self._every = every
        self._then = then
        self._total = 0
        self._clock = time_of_day()

    def __call__(self, event: Event) -> None:
        if self._then is not None:
            self._then(event)
        if isinstance(event, RunStarted | FrameStarted):
            self._total += len(event.chunks)
        elif isinstance(event, ChunkFinished):
            for tag, data in self._of(event.answer):
                self._send(tag, data)

    def _of(self, answer: Answer) -> Iterator[tuple[str, dict[str, object]]]:
        """The tags and data of a state, as in Salt."""
        chunk = shown_chunk(answer.chunk)
        label = chunk.args.get("fire_event") if "fire_event" in chunk.words else None
        if not label and not self._every:
            return
        data: dict[str, object] = {
            "ret": secrets.mask_all(salt_return(replace(answer, chunk=chunk), self._clock))
        }
        if label:
            name = label if isinstance(label, str) else chunk.name
            yield f"salt/state_result/{self._jid}/{self._id}/{name}", data
        else:
            yield f"salt/job/{self._jid}/prog/{self._id}/{answer.number}", {**data, "len": self._total}

    def _send(self, tag: str, data: dict[str, object]) -> None:
        try:
            self._agent.ask("event", tag=secrets.mask(tag), data=data, preload={"jid": self._jid})
        except (Refused, OperationError) as problem:
            log.warning("the event %s is not sent: %s", tag, problem)
