"""What to do with a job that an earlier agent had running: a pure decision from its folder."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from saltern.fleet.agent.spool import Entry

MOST = 5  # attempts of one job


class Trace(Struct, frozen=True, kw_only=True):
    """What the folder shows: whether a worker lives, whether it left an outcome, which attempt has begun."""

    alive: bool = False
    ended: bool = False
    begun: int = 0
    paused: str = ""


class Todo(Enum):
    FOLLOW = "a worker runs: wait for its end"
    COLLECT = "the worker has ended: take its result"
    CONTINUE = "start a worker, which continues by the journal, or begins if there is none"
    REPORT = "report that it is unknown what was done"
    GIVE_UP = "report that it was tried too often"


def decide(entry: Entry, trace: Trace) -> Todo:
    """Wait for a worker that lives; take the result of one that ended; replace one that died if the job may
    be repeated, because of its journal or its kind. A job that never began can begin.
    """
    if trace.alive:
        return Todo.FOLLOW
    if trace.ended:
        return Todo.COLLECT
    if entry.attempt >= MOST and not trace.paused:
        return Todo.GIVE_UP
    if trace.begun < entry.attempt or trace.paused:
        return Todo.CONTINUE
    return Todo.CONTINUE if entry.job.on_interrupt == "rerun" else Todo.REPORT
