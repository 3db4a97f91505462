"""Reads a system's report about its leg into an event: matched by the ids of actions, never by
order. Pure.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any

from msgspec import DecodeError, Struct, ValidationError, convert, json

from saltern.chains.main_line import main_line, note_of
from saltern.chains.statuses import Leg, Step
from saltern.fleet.chains.events import Event, Refused, Reported
from saltern.fleet.chains.model import Attempt, Boot, LegState, StepState
from saltern.fleet.protocol.codec import BadMessage, check_depth
from saltern.fleet.store.chain_outbox import Returned

MOST = 16 * 1024 * 1024  # bytes of a report
MOST_ORDERS = 1_000_000  # so that a system cannot report a number that no order can exceed
LONGEST = 30 * 86_400.0  # the longest absence that a system may announce, in seconds
NAME, NOTE, MOST_BOOTS = 100, 500, 20
COMMENT = 8000  # characters of a comment that are kept


class ReportedStep(Struct, frozen=True, kw_only=True):
    """A row of the node's report; other fields are ignored."""

    action: str
    status: str
    comment: str = ""
    changed: bool = False
    attempts: int = 0
    took: float = 0
    started: float | None = None
    ended: float | None = None
    exit_code: int | None = None
    output: Any = None  # read only for the last output of a program


class ReportedLeg(Struct, frozen=True, kw_only=True):
    """The node's report of a leg."""

    status: str
    seq: int
    steps: list[ReportedStep]
    waits_for: str = ""
    quarantined: bool = False
    order: int = 0
    applied: int | None = None
    down_in: float = 0
    back_in: float = 0
    boot: str = ""
    build: str = ""
    boots: Any = None


UNREADABLE = "its system has sent a report that cannot be read"


def read_report(leg: LegState, body: object, now: float) -> Event:
    """The event of a report; a report that cannot be read makes the leg indeterminate."""
    try:
        said = convert(body, ReportedLeg, strict=False)
        status = Leg(said.status)
        rows = {one.action: _step(one) for one in said.steps}
    except (ValidationError, ValueError):
        return Refused(now=now, leg=leg.id, why=UNREADABLE, status=Leg.INDETERMINATE)
    steps = tuple(rows.get(plan.id, StepState()) for plan in leg.plan)
    return Reported(
        now=now,
        leg=leg.id,
        seq=said.seq,
        status=status,
        steps=steps,
        waits_for=said.waits_for[:COMMENT],
        quarantined=said.quarantined,
        order=min(said.order, MOST_ORDERS),
        applied=said.applied,
        down_in=bounded_time(said.down_in),
        back_in=bounded_time(said.back_in),
        boot=clean(said.boot)[:NAME],
        build=clean(said.build)[:NAME],
        boots=_boots(said.boots),
    )


def _boots(said: object) -> tuple[Boot, ...]:
    """Boots in the middle of a leg; invalid ones are left out, since nothing depends on them."""
    rows = said[-MOST_BOOTS:] if isinstance(said, list) else []
    with suppress(ValidationError):
        return convert(rows, tuple[Boot, ...])
    return ()


def bounded_time(seconds: float) -> float:
    """A time announced by a system, limited to the longest time that a controller waits."""
    return min(max(0.0, seconds), LONGEST) if seconds == seconds else 0.0


def unpack(encoding: str, data: bytes) -> object:
    """The body of a return; None if it cannot be read."""
    try:
        if encoding == "json+zlib":
            data = zlib.decompressobj().decompress(data, MOST)
        check_depth(data)
        return json.decode(data)
    except (zlib.error, BadMessage, DecodeError, UnicodeDecodeError):
        return None


def _step(row: ReportedStep) -> StepState:
    status = Step(row.status)
    return StepState(
        status=status,
        attempts=(Attempt(row.attempts, status),) if row.attempts > 0 else (),
        changed=row.changed,
        comment=clean(row.comment)[:COMMENT],
        took=row.took,
        started=row.started,
        ended=row.ended if row.ended is not None else _end(row, status),
        note=_note(row),
        exit_code=row.exit_code if row.exit_code is not None and abs(row.exit_code) < 2**31 else None,
    )


def _note(row: ReportedStep) -> str:
    said = {"status": row.status, "comment": row.comment, "output": row.output, "exit_code": row.exit_code}
    return clean(note_of(said))[:NOTE]


def _end(row: ReportedStep, status: Step) -> float | None:
    """When a step ended, from its start and its duration; None while it is open, or has not run."""
    if row.started is None or status in (Step.NOT_RUN, Step.WAITING, Step.RUNNING):
        return None
    return row.started + row.took


def clean(text: str) -> str:
    """A text that every database accepts."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}")


# For a job of an order without a report: the status of the job → the status of the leg, and why.
WITHOUT_REPORT: dict[str, tuple[Leg, str]] = {
    "refused": (Leg.FAILED, "its system refused it"),
    "failed": (Leg.INDETERMINATE, "its job failed without a report"),
    "returned": (Leg.INDETERMINATE, "its job ended without a report"),
    "indeterminate": (Leg.INDETERMINATE, "the result of its job is unknown"),
    "expired": (Leg.EXPIRED, "its system did not fetch it in time"),
}


UNBEGUN = (Leg.FAILED, "nothing was begun there")


def without_report(leg: LegState, returned: Returned, now: float) -> Event | None:
    """The event for a job that ended without a report; None: another job reports on the leg."""
    if returned.status not in WITHOUT_REPORT:
        return None
    end, about = WITHOUT_REPORT[returned.status]
    if returned.status == "failed" and not returned.started and _is_untouched(leg):
        end, about = UNBEGUN
    said = main_line(clean(returned.why), failed=True)
    return Refused(now=now, leg=leg.id, why=f"{about}: {said}" if said else about, status=end)


def _is_untouched(leg: LegState) -> bool:
    """True if no earlier order has begun one of its actions."""
    return all(step.status is Step.NOT_RUN and not step.attempts for step in leg.steps)
