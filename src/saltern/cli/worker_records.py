"""The journal of a job's run as messages for the controller, without what its ``no_log`` states worked with.

A journal has their values while its run can be resumed; so it is read when the run has ended or pauses, and
goes through the same door as a journal that is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from saltern.config.settings import Settings
from saltern.fleet.agent.task import BATCH, JobFolder, Task
from saltern.fleet.protocol.messages import Records
from saltern.journal.fold import fold
from saltern.journal.form import Damaged, Record, Unreadable
from saltern.journal.hidden import hides, without_hidden
from saltern.journal.reader import read
from saltern.journal.runs import Runs
from saltern.system import atomic

BATCH_SIZE = 400_000  # bytes of records in one message
LARGEST = 200_000  # bytes of one record; a larger one is left out, and its place says so


def write_records(folder: JobFolder, task: Task, run: str) -> int:
    """Write the records of a run in batches; how many there are. A journal that cannot be read has none."""
    settings = Settings(**{key: value for key, value in task.overrides.items() if key == "state_dir"})
    try:
        records = list(read(Runs(settings).path(run)))
    except (Damaged, Unreadable):
        return 0
    count = 0
    for count, batch in enumerate(batches(task.jid, run, shown(records)), start=1):
        path = folder.file(BATCH.format(count - 1))
        atomic.write(path, msgspec.json.encode(batch), durable=False)
    return count


def shown(records: list[Record]) -> Iterator[tuple[str, object]]:
    """Kind and body of each record, as they may leave the machine.

    The journal of a run that is over has no hidden values any more. Pillar and configuration stay here.
    """
    state = fold(records)
    hidden = not state.is_over and any(hides(one.plan) for one in state.scopes.values() if one.plan)
    pairs = without_hidden(records) if hidden else ((one.kind, one.body) for one in records)
    for kind, body in pairs:
        change = LESS.get(kind)
        yield kind, change(body) if change is not None else body


def _head(body: Any) -> dict[str, Any]:
    return {key: body[key] for key in ("jid", "job", "version", "request", "started") if key in body}


def _sources(body: Any) -> list[str]:
    """The names of the files; the controller has their texts."""
    return list(body)


LESS: dict[str, Callable[[Any], object]] = {"run": _head, "sources": _sources}


def batches(jid: str, run: str, records: Iterable[tuple[str, object]]) -> Iterator[Records]:
    """Messages of a bounded size, numbered by the records in them."""
    first, size = 0, 0
    held: list[Any] = []
    for kind, body in records:
        data = msgspec.json.encode({"kind": kind, "body": body}, enc_hook=str)
        if len(data) > LARGEST:
            data = msgspec.json.encode({"kind": kind, "left_out": len(data)})
        if held and size + len(data) > BATCH_SIZE:
            yield Records(jid=jid, run=run, first=first, records=held)
            first, size, held = first + len(held), 0, []
        held.append(msgspec.Raw(data))
        size += len(data)
    if held:
        yield Records(jid=jid, run=run, first=first, records=held)
