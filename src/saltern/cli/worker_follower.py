"""Report a run to its agent: its position, its pauses; and end it before its next state on request."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from saltern.fleet.agent.task import JobFolder, Step, Task, known_to_people
from saltern.language.chunk import Chunk
from saltern.language.events import (
    Answer,
    ChunkFinished,
    ChunkStarted,
    Event,
    Report,
    RunFinished,
    RunStarted,
)
from saltern.language.result import Outcome
from saltern.report.blocks import place
from saltern.report.verdict import totals
from saltern.runtime.barriers import PAUSES, STOPS
from saltern.system import atomic, long_sockets

if TYPE_CHECKING:
    from saltern.cli.worker_records import RecordWriter

SIZE = 8192  # bytes of the note with the position of a run
WAIT = 2.0  # seconds for the agent to report a shutdown
COMMENT = 1000  # characters of a comment or name in the note
NAME = 200
OUTCOMES = {Outcome.FAILED: "failed", Outcome.WOULD_CHANGE: "would change"}


def _name(chunk: Chunk) -> str:
    return f"{chunk.function} {chunk.label}"


def _reason(answer: Answer) -> str:
    """Why it failed, in one line, with the file and line."""
    where, first = place(answer), answer.result.comment.strip().partition("\n")[0]
    return first[:COMMENT] + (f" ({where})" if where else "")


class JobFollower:
    """Writes the reports of a run to the folder of its job."""

    def __init__(self, folder: JobFolder, task: Task) -> None:
        self.job = task.jid
        self.run = ""
        self.changed = 0
        self.failed = 0
        self._folder = folder
        self._socket = task.socket
        self._names = task.names
        self._step = Step()
        self._file = -1
        self._task = task
        self._records: RecordWriter | None = None

    def follow(self, event: Event) -> None:
        if isinstance(event, ChunkStarted):
            self.end_if_cancelled()
            self._note(replace(self._step, state=_name(event.chunk)[:NAME], outcome="", comment=""))
        elif isinstance(event, ChunkFinished):
            self._finished(event.answer)
        elif isinstance(event, RunStarted):
            self._note(replace(self._step, total=event.total))
        elif isinstance(event, RunFinished) and event.stopped in STOPS.values():
            self.write_records()
            self._pause(PAUSES[event.stopped])

    def end_if_cancelled(self) -> None:
        """If the job is cancelled, end as after Ctrl-C, between two states."""
        if self.is_cancelled():
            raise KeyboardInterrupt

    def is_cancelled(self) -> bool:
        return os.path.exists(self._folder.file("cancel"))

    def cancel_reason(self) -> str:
        """The reason given for the cancellation; empty if unknown."""
        return self._folder.text("cancel", COMMENT).strip()

    def _finished(self, answer: Answer) -> None:
        result = answer.result
        failed = (
            result.outcome is Outcome.FAILED and result.ran
        )  # a state that did not run has another reason
        usual = "" if not result.ran else "changed" if result.changes else "ok"
        step = replace(
            self._step,
            done=self._step.done + (not answer.sub),
            state=_name(answer.chunk)[:NAME] if failed else self._step.state,
            failed=self._step.failed + failed,
            outcome=OUTCOMES.get(result.outcome, usual) if result.ran else usual,
            comment=known_to_people(_reason(answer), self._names) if failed else "",
        )
        self._note(step)

    @property
    def leg_file(self) -> str:
        """The file with the leg of a chain, which the agent sends."""
        return self._folder.file("leg")

    @property
    def live_prefix(self) -> str:
        """The prefix of the files that hold the live output of programs."""
        return self._folder.file("live")

    def claimed(self, run: str) -> None:
        from saltern.cli.worker_records import RecordWriter
        from saltern.journal.store import listen

        self.run = run
        self._records = RecordWriter(self._folder, self._task, run)
        listen(self._records.on_saved)
        self._note(replace(self._step, run=run))

    def paused(self, _report: Report) -> None:
        """Mark the output so far as incomplete."""
        os.truncate(self._folder.file("out"), 0)

    def reported(self, report: Report) -> None:
        found = totals(report)
        self.changed, self.failed = found.changed, found.failed

    def write_records(self) -> None:
        """Write the journal records that the controller does not have yet, before this process ends."""
        if self._records is not None:
            self._records.write_rest()

    def _note(self, step: Step) -> None:
        """Write the note in one call, always with the same size: a reader that sees half of it reads
        again.
        """
        self._step = step
        if self._file < 0:
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(self._folder.file("progress"), flags, 0o600)
        os.pwrite(self._file, msgspec.json.encode(step).ljust(SIZE), 0)

    def _pause(self, kind: str) -> None:
        """Let the agent report that the machine, or this program, pauses."""
        seconds = self._records.longest_pause(kind) if self._records else 0.0
        atomic.write(self._folder.file("pause"), f"{kind} {seconds:g}".encode())
        if not self._socket:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                line.settimeout(WAIT)
                long_sockets.connect(line, self._socket)
                line.sendall(msgspec.json.encode({"ask": "paused", "jid": self.job}) + b"\n")
                line.recv(1024)
        except OSError:
            pass  # the agent is also down; it finds the file later
