"""The journal of a job's run as messages for the controller, without the values of its ``no_log`` states.

Records are written to the folder of the job as soon as they are in the journal, with the same numbers; the
agent sends them. The journal of a run with ``no_log`` states has their values while it can be resumed: it is
read when the run has ended or pauses, and is redacted like a journal that is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import msgpack

from saltern.config.settings import Settings
from saltern.fleet.agent.task import BATCH, STREAMED, JobFolder, Task
from saltern.fleet.protocol.messages import Records
from saltern.journal.barriers import longest
from saltern.journal.fold import fold
from saltern.journal.form import Damaged, Record, Unreadable
from saltern.journal.hidden import hides, may_hide, without_hidden
from saltern.journal.reader import read
from saltern.journal.runs import Runs
from saltern.journal.seal import mask_sealed
from saltern.journal.store import Saved
from saltern.language.secret_tokens import OPEN
from saltern.system import atomic

TOKEN = OPEN.encode()  # a secret that is sealed
BATCH_SIZE = 400_000  # bytes of records in one message
LARGEST = 200_000  # bytes of one record; a larger one is replaced by a note


class RecordWriter:
    """Writes the records of a job's run to its folder, each once, even over several attempts."""

    def __init__(self, folder: JobFolder, task: Task, run: str) -> None:
        kept = {key: value for key, value in task.overrides.items() if key == "state_dir"}
        self._path = Runs(Settings(**kept)).path(run)
        self._folder = folder
        self._jid = task.jid
        self._run = run
        self._written = int(folder.text(STREAMED) or 0)
        self._hides = False

    def on_saved(self, path: str, records: Saved) -> None:
        """Called when records are in a journal: write those of this run, unless the run has ``no_log`` states
        or earlier records were not written. A full disk is ignored: the run needs the space more.
        """
        if path != self._path or self._hides or records[0][0] != self._written:
            return
        pairs = [(kind, msgpack.decode(body, strict=False)) for _, kind, body in records]
        self._hides = any(kind in PLANS and may_hide(PLANS[kind](body)) for kind, body in pairs)
        if not self._hides:
            with suppress(OSError):
                self._write(_drop_private(pairs), len(records))

    def write_rest(self) -> None:
        """Write the records that are not written yet; none if the journal cannot be read."""
        try:
            records = list(read(self._path))
        except (Damaged, Unreadable):
            return
        pairs = list(shown_records(records))
        self._write(pairs[self._written :], len(pairs) - self._written)

    def longest_pause(self, kind: str) -> float:
        """The seconds within which the run must continue after its open barriers; 0 if unknown."""
        try:
            state = fold(list(read(self._path)))
        except (Damaged, Unreadable):
            return 0.0
        return max((longest(body) for body in state.open_barriers if body["kind"] == kind), default=0.0)

    def _write(self, pairs: Iterable[tuple[str, object]], count: int) -> None:
        for batch in batches(self._jid, self._run, pairs, first=self._written):
            path = self._folder.file(BATCH.format(batch.first))
            atomic.write(path, msgspec.json.encode(batch), durable=False)
        self._written += count
        atomic.write(self._folder.file(STREAMED), str(self._written).encode(), durable=False)


def shown_records(records: list[Record]) -> Iterator[tuple[str, object]]:
    """Kind and body of each record that may leave the machine.

    The journal of a run that is over has no hidden values any more.
    """
    state = fold(records)
    hidden = not state.is_over and any(hides(one.plan) for one in state.scopes.values() if one.plan)
    return _drop_private(without_hidden(records) if hidden else ((one.kind, one.body) for one in records))


def _drop_private(pairs: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, object]]:
    """The records without data that stays on this machine, such as pillar and configuration."""
    for kind, body in pairs:
        change = LESS.get(kind)
        yield kind, change(body) if change is not None else body


def _head(body: Any) -> dict[str, Any]:
    return {key: body[key] for key in ("jid", "job", "version", "request", "started") if key in body}


def _sources(body: Any) -> list[str]:
    """The names of the source files; the controller has their texts."""
    return list(body)


PLANS: dict[str, Callable[[Any], Any]] = {"plan": lambda body: body, "frame": lambda body: body["plan"]}
LESS: dict[str, Callable[[Any], object]] = {"run": _head, "sources": _sources}


def batches(
    jid: str, run: str, records: Iterable[tuple[str, object]], *, first: int = 0
) -> Iterator[Records]:
    """Messages of a bounded size, numbered by their records."""
    size = 0
    held: list[Any] = []
    for kind, body in records:
        data = msgspec.json.encode({"kind": kind, "body": body}, enc_hook=str)
        if TOKEN in data:
            data = msgspec.json.encode({"kind": kind, "body": mask_sealed(body)}, enc_hook=str)
        if len(data) > LARGEST:
            data = msgspec.json.encode({"kind": kind, "left_out": len(data)})
        if held and size + len(data) > BATCH_SIZE:
            yield Records(jid=jid, run=run, first=first, records=held)
            first, size, held = first + len(held), 0, []
        held.append(msgspec.Raw(data))
        size += len(data)
    if held:
        yield Records(jid=jid, run=run, first=first, records=held)
