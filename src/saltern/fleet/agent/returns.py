"""The result of a job as the messages that are sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from saltern.fleet.agent.spool import Entry
from saltern.fleet.agent.task import PART, JobFolder, Outcome
from saltern.fleet.protocol.message import Status
from saltern.fleet.protocol.messages import Records, Return

INTERRUPTED = 130  # the exit code of a command that was interrupted
MOST = 8000  # characters of a reason
MESSAGE = 400_000  # bytes of records in one message


def short_return(entry: Entry, status: Status, why: str, *, now: float, code: int = 0) -> list[Return]:
    """A return without data."""
    return [
        Return(jid=entry.jid, status=status, why=why[:MOST], exit_code=code, started=entry.started, ended=now)
    ]


def status_of(entry: Entry, outcome: Outcome) -> Status:
    """``cancelled`` if a cancellation ended the job; it may have ended before that."""
    if entry.cancel and outcome.code == INTERRUPTED:
        return "cancelled"
    return "returned" if outcome.code == 0 else "failed"


def whole_return(
    entry: Entry, outcome: Outcome, folder: JobFolder, *, now: float
) -> Iterator[Return | Records]:
    """The parts of a return in order, then the records of its run."""
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
    yield from kept_records(folder)


class _Written(Records, frozen=True, kw_only=True):
    """Records of a local worker, passed on unchanged."""

    records: list[msgspec.Raw] = []


def kept_records(folder: JobFolder) -> Iterator[Records]:
    """The records that the worker has written, in order: consecutive ones are combined into one message as
    long as it stays small. A damaged file is left out.
    """
    held: _Written | None = None
    room = 0
    for path in folder.batches():
        with open(path, "rb") as file, suppress(msgspec.DecodeError):
            data = file.read()
            one = msgspec.json.decode(data, type=_Written)
            if held is not None and len(data) <= room and one.first == held.first + len(held.records):
                held = replace(held, records=[*held.records, *one.records])
                room -= len(data)
                continue
            if held is not None:
                yield held
            held, room = one, MESSAGE - len(data)
    if held is not None:
        yield held
