"""Systems of a roster in the database: rows without keys, and the jobs that are open for them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Select, bindparam, insert, or_, select, update

from saltern.fleet.protocol.messages import Job
from saltern.fleet.protocol.verbs import DEPLOY
from saltern.fleet.store.bulk import fetch, structs
from saltern.fleet.store.jobs import Change, set_status
from saltern.fleet.store.statuses import OPEN, WAITING
from saltern.fleet.store.systems import SSH, forget
from saltern.fleet.store.tables import JOBS, SYSTEMS, TARGETS

ROSTER = "roster"  # recorded as the one who accepted them
GONE = "it is no longer in the roster"
_JOBS = msgspec.json.Decoder(Job)


class SshSystem(Struct, frozen=True, kw_only=True):
    """What is known of one: ``why`` it could not be reached last, empty if it could or was not tried."""

    id: str
    online: bool
    seen_at: float | None
    why: str


class RosterChange(Struct, frozen=True, kw_only=True):
    """The changes by a roster: new systems, removed ones, ids that agents have, and their open jobs."""

    added: list[str] = []
    removed: list[str] = []
    taken: list[str] = []
    ended: list[Change] = []


class OpenWork(Struct, frozen=True, kw_only=True):
    """A job that a system without an agent must still do."""

    job: Job
    system: str
    status: str
    created: float
    expires: float
    cancelled: bool

    @property
    def is_begun(self) -> bool:
        return self.status in ("running", "down", "indeterminate")


def ssh_systems(connection: Connection) -> dict[str, SshSystem]:
    """All of them, by id."""
    return {one.id: one for one in structs(SshSystem, fetch(connection, _SSH))}


_SSH = (
    select(*(SYSTEMS.c[name] for name in SshSystem.__struct_fields__))
    .where(SYSTEMS.c.kind == SSH)
    .order_by(SYSTEMS.c.id)
)


def set_roster(connection: Connection, ids: Collection[str], now: float) -> RosterChange:
    """Set the systems without an agent to those of a roster. An id that an agent has stays with it."""
    rows = connection.execute(select(SYSTEMS.c.id, SYSTEMS.c.kind))
    known = {str(row.id): str(row.kind) for row in rows}
    added = sorted(id_ for id_ in ids if id_ not in known)
    removed = sorted(id_ for id_, kind in known.items() if kind == SSH and id_ not in ids)
    if added:
        connection.execute(insert(SYSTEMS), [_row(id_, now) for id_ in added])
    ended = [change for id_ in removed for change in _end_work(connection, id_, now)]
    for id_ in removed:
        forget(connection, id_)
    taken = sorted(id_ for id_ in ids if known.get(id_, SSH) != SSH)
    return RosterChange(added=added, removed=removed, taken=taken, ended=ended)


def _row(id_: str, now: float) -> dict[str, object]:
    return {
        "id": id_,
        "kind": SSH,
        "state": "accepted",
        "key": b"",
        "sealing_key": b"",
        "fingerprint": "",
        "first_seen": now,
        "decided_at": now,
        "decided_by": ROSTER,
    }


def _end_work(connection: Connection, id_: str, now: float) -> list[Change]:
    """End the open jobs of a system that was removed."""
    query = select(TARGETS.c.jid, TARGETS.c.status)
    rows = connection.execute(query.where(TARGETS.c.system == id_, TARGETS.c.status.in_(OPEN))).all()
    ends = ((jid, "cancelled" if status in WAITING | {"sent"} else "indeterminate") for jid, status in rows)
    changes = [Change(jid, id_, end) for jid, end in ends]
    return [one for one in changes if set_status(connection, one, now, reported=False, why=GONE)]


def has_open_work(connection: Connection) -> bool:
    """True if something is open on systems without an agent, or gives them one."""
    return connection.execute(_ANY_WORK).first() is not None


def open_work(connection: Connection) -> list[OpenWork]:
    """What is open on systems without an agent, or gives them one: what was begun first, then by age."""
    return _read_work(connection, _OPEN_WORK)


def late_work(connection: Connection, system: str, since: float) -> list[OpenWork]:
    """What was begun on a system and given up since then: the system may know how it ended."""
    found = _read_work(connection, _LATE_WORK, of=system, since=since)
    return [one for one in found if one.is_begun]


_WORK = (
    select(
        TARGETS.c.system,
        TARGETS.c.status,
        JOBS.c.work,
        JOBS.c.created,
        JOBS.c.expires,
        JOBS.c.cancelled_at,
    )
    .join(JOBS, JOBS.c.jid == TARGETS.c.jid)
    .join(SYSTEMS, SYSTEMS.c.id == TARGETS.c.system)
    .where(or_(SYSTEMS.c.kind == SSH, JOBS.c.function == DEPLOY))
    .order_by(JOBS.c.created, JOBS.c.jid, TARGETS.c.system)
)
# Of the jobs an index has those that are open: the systems of all jobs that are kept may be millions.
_OPEN_WORK = _WORK.where(JOBS.c.ended.is_(None), TARGETS.c.status.in_(OPEN - {"held"}))
_ANY_WORK = _OPEN_WORK.with_only_columns(JOBS.c.jid).order_by(None).limit(1)
_LATE_WORK = _WORK.where(
    TARGETS.c.system == bindparam("of"),
    TARGETS.c.status == "indeterminate",
    TARGETS.c.updated >= bindparam("since"),
)


def _read_work(connection: Connection, query: Select[Any], **given: object) -> list[OpenWork]:
    found = [
        OpenWork(
            job=_JOBS.decode(work),
            system=system,
            status=status,
            created=created,
            expires=expires,
            cancelled=cancelled_at is not None,
        )
        for system, status, work, created, expires, cancelled_at in fetch(connection, query, **given)
    ]
    return sorted(found, key=lambda one: not one.is_begun)


def note_reached(connection: Connection, id_: str, now: float) -> bool:
    """Record that a system was reached; True if it was away before."""
    row = (SYSTEMS.c.id == id_) & (SYSTEMS.c.kind == SSH)
    was = connection.scalar(select(SYSTEMS.c.online).where(row))
    values = {"online": True, "seen_at": now, "back_by": None, "why": ""}
    connection.execute(update(SYSTEMS).where(row).values(values))
    return was is False


def note_unreached(connection: Connection, id_: str, why: str) -> bool:
    """Record that a system could not be reached, and why; True if it was reachable before."""
    row = (SYSTEMS.c.id == id_) & (SYSTEMS.c.kind == SSH)
    was = connection.scalar(select(SYSTEMS.c.online).where(row))
    connection.execute(update(SYSTEMS).where(row).values(online=False, why=why))
    return was is True


def note_wait(connection: Connection, jid: str, system: str, why: str, now: float) -> bool:
    """Record why a job still waits for a system; False if that is known, or it does not wait."""
    row = (TARGETS.c.jid == jid) & (TARGETS.c.system == system) & TARGETS.c.status.in_(("queued", "sent"))
    done = connection.execute(update(TARGETS).where(row, TARGETS.c.why != why).values(why=why, updated=now))
    return done.rowcount == 1
