"""Events of jobs and of systems: their tags and data in the database, and as notices."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from saltern.fleet.protocol.messages import Event, Job, Return
from saltern.fleet.protocol.notices import Happened, JobEnded, Notice, PresenceChanged, StatusChanged
from saltern.fleet.protocol.tags import is_flat
from saltern.fleet.reactor.calls import RunnerCall
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, StoredEvent
from saltern.fleet.store.job_queries import counts
from saltern.fleet.store.jobs import Change
from saltern.fleet.store.returns import ended_at

LISTED = 1000  # systems that an event names one by one
_JOB = re.compile(r"(?:salt|saltern)/job/([^/]+)/(new|ret|status|ended)(?:/.*)?")
_COUNTS = ("why", "exit_code", "changed", "failed", "back_by")


def job_new(job: Job, target: str, systems: Sequence[str], now: float) -> NewEvent:
    """Salt's event of a new job, without the arguments: they may hold secrets."""
    data: dict[str, Any] = {"jid": job.jid, "fun": job.function, "tgt": target, "user": job.user}
    data |= {"tgt_type": "compound", "missing": []}
    data |= {"test": job.test, "count": len(systems), "minions": list(systems[:LISTED])}
    return NewEvent(tag=f"salt/job/{job.jid}/new", data=data, at=now)


def status_event(
    change: Change, now: float, one: Return | None = None, *, why: str = "", back_by: float | None = None
) -> NewEvent:
    """The event of a status: a system's own report has Salt's tag; what the controller infers has
    saltern's.
    """
    kind = f"salt/job/{change.jid}/ret/" if one is not None else f"saltern/job/{change.jid}/status/"
    data: dict[str, Any] = {"jid": change.jid, "id": change.system, "status": change.status}
    if one is not None:
        why = why or one.why
        counts = {"exit_code": one.exit_code, "changed": one.changed, "failed": one.failed}
        data |= {name: value for name, value in counts.items() if value}
        data |= {"retcode": one.exit_code, "success": change.status == "returned"}
    data |= {name: value for name, value in (("why", why), ("back_by", back_by)) if value}
    return NewEvent(tag=kind + change.system, data=data, at=now, system=change.system)


def end_events(connection: Connection, jids: Collection[str], now: float) -> list[NewEvent]:
    """An event for each of these jobs that ended in the transaction of this moment."""
    if not jids:
        return []
    return [job_ended(jid, counts(connection, jid), now) for jid in ended_at(connection, jids, now)]


def job_ended(jid: str, numbers: dict[str, int], now: float) -> NewEvent:
    return NewEvent(tag=f"saltern/job/{jid}/ended", data={"jid": jid, "counts": numbers}, at=now)


def runner_event(
    call: RunnerCall, what: str, data: dict[str, Any], *, user: str, now: float, cause: str
) -> NewEvent:
    """The start (``new``) or the end (``ret``) of a runner or wheel function, as in Salt, without the
    arguments: they may hold secrets.
    """
    base = {"runner": "run", "wheel": "wheel"}[call.kind]
    around = {"fun": f"{call.kind}.{call.function}", "jid": call.jid, "user": user}
    return NewEvent(tag=f"salt/{base}/{call.jid}/{what}", data={**around, **data}, at=now, cause=cause)


def agent_event(system: str, event: Event, now: float) -> NewEvent:
    """An event of a system, as in Salt: the payload is below ``data``, except for beacons; the id is the
    sender's.
    """
    around = {"tag": event.tag, "data": event.data, "cmd": "_minion_event", "pretag": None}
    data = event.data if is_flat(event.tag) else {**around, **event.preload}
    uid = f"{system}/{event.uid}" if event.uid else None
    return NewEvent(
        tag=event.tag,
        data={**data, "id": system},
        at=now,
        system=system,
        uid=uid,
        cause=event.jid or "",
    )


def agent_started(system: str, version: str, boot: str, now: float) -> list[NewEvent]:
    """The event of an agent's start, as in Salt, under its new and its old tag."""
    at = datetime.fromtimestamp(now, UTC).strftime("%a %b %d %H:%M:%S %Y")
    data = {"id": system, "data": f"Minion {system} started at {at}", "version": version, "boot": boot}
    around = {"cmd": "_minion_event", "pretag": None}
    return [
        NewEvent(tag=tag, data={**data, **around, "tag": tag}, at=now, system=system)
        for tag in ("minion_start", f"salt/minion/{system}/start")
    ]


def presence_change(new: Sequence[str], lost: Sequence[str], now: float) -> NewEvent:
    data = {"new": list(new), "lost": list(lost)}
    return NewEvent(tag="salt/presence/change", data=data, at=now)


def presence_present(online: Collection[str], now: float) -> NewEvent:
    """The connected systems, as in Salt; sent when they have changed."""
    return NewEvent(tag="salt/presence/present", data={"present": sorted(online)[:LISTED]}, at=now)


def job_of(event: StoredEvent) -> str:
    """The job that an event is about; empty if it is about none."""
    found = _JOB.fullmatch(event.tag)
    return found[1] if found else ""


def notices(event: StoredEvent, jid: str) -> list[Notice]:
    """The notices of an event for followers of this job."""
    found = _JOB.fullmatch(event.tag)
    make = _NOTICES.get(found[2]) if found and found[1] == jid else None
    return [make(event)] if make else []


def presence_notices(event: StoredEvent) -> list[Notice]:
    if event.tag != "salt/presence/change":
        return []
    changes = [(True, event.data.get("new", [])), (False, event.data.get("lost", []))]
    return [
        PresenceChanged(system=str(system), online=online, at=event.at, number=event.number)
        for online, systems in changes
        for system in systems
    ]


def as_happened(event: StoredEvent) -> Happened:
    return Happened(tag=event.tag, system=event.system, data=event.data, at=event.at, number=event.number)


def _status(event: StoredEvent) -> Notice:
    data = {name: event.data[name] for name in ("jid", "status", *_COUNTS) if name in event.data}
    return StatusChanged(system=str(event.data.get("id", "")), at=event.at, number=event.number, **data)


def _end_notice(event: StoredEvent) -> Notice:
    counts = event.data.get("counts", {})
    return JobEnded(jid=str(event.data["jid"]), counts=counts, at=event.at, number=event.number)


_NOTICES: dict[str, Callable[[StoredEvent], Notice]] = {
    "ret": _status,
    "status": _status,
    "ended": _end_notice,
}
