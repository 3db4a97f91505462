"""What a job came to, as the messages that are sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from saltern.fleet.agent.spool import Entry
from saltern.fleet.agent.task import BATCH, PART, JobFolder, Outcome
from saltern.fleet.protocol.messages import Records, Return, Status

INTERRUPTED = 130  # the exit code of a command that was interrupted
MOST = 8000  # characters of a reason


def short_return(entry: Entry, status: Status, why: str, *, now: float, code: int = 0) -> list[Return]:
    """A return without data."""
    return [
        Return(jid=entry.jid, status=status, why=why[:MOST], exit_code=code, started=entry.started, ended=now)
    ]


def status_of(entry: Entry, outcome: Outcome) -> Status:
    """``cancelled`` if it was, and ended by that; it may have ended before."""
    if entry.cancel and outcome.code == INTERRUPTED:
        return "cancelled"
    return "returned" if outcome.code == 0 else "failed"


def whole_return(
    entry: Entry, outcome: Outcome, folder: JobFolder, *, now: float
) -> Iterator[Return | Records]:
    """The parts of a return, one after the other, and then the records of its run."""
    fields: dict[str, Any] = {
        "jid": entry.jid,
        "status": status_of(entry, outcome),
        "exit_code": outcome.code,
        "started": entry.started,
        "ended": now,
        "changed": outcome.changed,
        "failed": outcome.failed,
        "why": outcome.why[-MOST:],
        "encoding": outcome.encoding,
        "size": outcome.size,
        "digest": outcome.digest,
    }
    for number in range(outcome.parts):
        with open(folder.file(PART.format(number)), "rb") as file:
            yield Return(part=number, parts=outcome.parts, body=file.read(), **fields)
    if not outcome.parts:
        yield Return(**fields)
    for number in range(outcome.batches):
        with open(folder.file(BATCH.format(number)), "rb") as file:
            yield msgspec.json.decode(file.read(), type=Records)
