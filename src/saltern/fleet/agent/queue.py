"""Which jobs begin now: changing jobs one after the other, read-only ones in parallel. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from saltern.fleet.agent.spool import RUNNING, WAITING, Open

QUESTIONS = 8  # read-only jobs at a time


class Step(Struct, frozen=True, kw_only=True):
    """What to do now: begin these, report those as cancelled or expired; check again at ``wake``."""

    begin: tuple[str, ...] = ()
    cancelled: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    wake: float | None = None


def plan_queue(
    entries: Iterable[Open], *, now: float, reported: Collection[str] = (), limit: int = QUESTIONS
) -> Step:
    """``entries`` are those that wait or run, in the order of arrival; those in ``reported`` are being ended.

    A job that waits for another (``after``) begins when that one is no longer unfinished; a changing job that
    waits holds back the changing ones behind it only if it could begin itself, or is being splayed.
    """
    begin: list[str] = []
    cancelled: list[str] = []
    expired: list[str] = []
    wakes: list[float] = []
    entries = list(entries)
    open_jids = {entry.jid for entry in entries}
    changing = any(entry.state == RUNNING and entry.changing for entry in entries)
    asking = sum(entry.state == RUNNING and not entry.changing for entry in entries)
    for entry in entries:
        if entry.state != WAITING or entry.jid in reported:
            continue
        if entry.cancel:
            cancelled.append(entry.jid)
        elif now > entry.expires:
            expired.append(entry.jid)
        elif entry.due > now:
            wakes.append(entry.due)
        elif entry.after in open_jids:
            wakes.append(entry.expires)
        elif entry.changing and not changing:
            changing = True
            begin.append(entry.jid)
        elif not entry.changing and asking < limit:
            asking += 1
            begin.append(entry.jid)
        else:
            wakes.append(entry.expires)
    return Step(
        begin=tuple(begin),
        cancelled=tuple(cancelled),
        expired=tuple(expired),
        wake=min(wakes) if wakes else None,
    )
