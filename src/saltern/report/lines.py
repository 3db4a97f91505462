"""``--out jsonl``: writes each event as one line of JSON, when it happens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from msgspec.structs import asdict

from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame
from saltern.language.diagnostics import Diagnostic
from saltern.language.events import (
    Answer,
    ChunkFinished,
    ChunkStarted,
    Event,
    Fired,
    FrameFinished,
    FrameStarted,
    Report,
    RunFinished,
    RunStarted,
    tag_in,
)
from saltern.report.salt import Keys, dumps, salt_return, time_of_day
from saltern.report.text import tame
from saltern.report.verdict import failed, totals

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

Line = dict[str, object]
Scopes = dict[str, list[Answer | Frame]]  # by the path of a frame; the run itself has none


class Lines:
    """Call it with each event, then ``close`` it with the report, which knows the forgiven failures."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._clock = time_of_day()
        self._keys = Keys()
        self._answers: list[Answer] = []
        self._finished: RunFinished | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._keys.reserve(chunk.tag for chunk in event.chunks)
                self._write("run-started", total=event.total, test=event.test, time=event.started)
            case ChunkStarted():
                self._write("chunk-started", tag=event.tag, **_names(event.chunk), time=event.started)
            case ChunkFinished():
                self._answered(event.answer)
            case FrameStarted():
                self._keys.reserve(tag_in(chunk, event.frame.path) for chunk in event.chunks)
                self._write("frame-started", **_frame(event.frame))
            case FrameFinished():
                self._write("frame-finished", **_frame(event.frame), took=event.frame.took)
            case Fired():
                self._write("fired", tag=event.tag, data=event.data)
            case RunFinished():
                self._finished = event

    def close(self, report: Report | None = None, exit_code: int | None = None) -> None:
        """Write the last line. Without a report, it counts the answers so far."""
        if report is None:
            if self._finished is None:  # if the run broke, the missing last line shows it
                return
            ended = self._finished
            report = Report(answers=self._answers, took=ended.took, stopped=ended.stopped)
        self._end(report, exit_code)

    def _answered(self, answer: Answer) -> None:
        tag, parent = self._keys.take(answer), self._keys.parent(answer)
        self._answers.append(answer)
        self._write("chunk-finished", tag=tag, **{"return": salt_return(answer, self._clock, parent)})

    def _end(self, report: Report, exit_code: int | None) -> None:
        counts = totals(report)
        self._write(
            "run-finished",
            took=report.took,
            stopped=report.stopped,
            totals={"total": counts.total, **asdict(counts)},
            exit_code=exit_code if exit_code is not None else 2 * failed(report),
        )

    def _write(self, event: str, **values: object) -> None:
        self._out.write(tame(dumps({"event": event, **values}).decode()) + "\n")
        self._out.flush()


def _frame(frame: Frame) -> Line:
    return {
        "path": frame.path,
        "kind": frame.kind,
        "name": frame.name,
        "where": str(frame.where),
        "depth": frame.depth,
        "caller": frame.caller,
        "jid": frame.jid,
        "parent_jid": frame.parent_jid,
        "states": frame.states,
    }


def _names(chunk: Chunk) -> Line:
    return {
        "function": chunk.function,
        "id": chunk.id,
        "name": chunk.name,
        "sls": chunk.sls or None,
    }


def write(report: Report, out: TextIO, _options: OutputOptions) -> None:
    """Write a finished run: the states of each frame between its start and its end."""
    write = Lines(out)
    started = min((answer.started for answer in report.answers if answer.has_start), default=0.0)
    real = [answer.chunk for answer in report.answers if not (answer.sub or answer.frame)]
    write(RunStarted(total=len(report.answers), test=report.test, started=started, chunks=real))
    for event in _events(report):
        write(event)
    write.close(report)


def _events(report: Report) -> Iterator[Event]:
    """The events of a finished run. A frame begins before its first state; nested frames are within it."""
    scopes: Scopes = {}
    known = {frame.path for frame in report.frames} | {""}
    by_number = {answer.number: answer for answer in report.answers}

    def home(answer: Answer | None) -> str:
        """The frame of an answer. For a frame that was never reported, and the answer that stands for one:
        that of the caller.
        """
        while answer is not None and answer.frame not in known:
            answer = by_number.get(answer.under)
        return answer.frame if answer else ""

    for answer in report.answers:
        scopes.setdefault(home(answer), []).append(answer)
    for frame in report.frames:
        scopes.setdefault(home(by_number.get(frame.caller)), []).append(frame)
    yield from _scope("", scopes)


def _scope(path: str, scopes: Scopes) -> Iterator[Event]:
    for one in sorted(scopes.pop(path, []), key=_place):
        if isinstance(one, Answer):
            yield ChunkFinished(one)
            continue
        inside = [item for item in scopes.get(one.path, []) if isinstance(item, Answer)]
        yield FrameStarted(one, [answer.chunk for answer in inside if not answer.sub])
        yield from _scope(one.path, scopes)
        yield FrameFinished(one)


def _place(one: Answer | Frame) -> tuple[int, int]:
    return (one.number, 1) if isinstance(one, Answer) else (one.first, 0)


def write_data(value: object, out: TextIO, _options: OutputOptions) -> None:
    """Write a list as one line per item, and anything else as one line."""
    items = value if isinstance(value, list | tuple) else [value]
    out.writelines(tame(dumps(item).decode()) + "\n" for item in items)


def write_problems(problems: Iterable[Diagnostic], out: TextIO, options: OutputOptions) -> None:
    """Write each problem as one line."""
    write_data([_problem(problem) for problem in problems], out, options)


def _problem(problem: Diagnostic) -> Line:
    where = problem.where
    return {
        "event": "problem",
        "severity": problem.severity.value,
        "code": problem.code,
        "what": problem.what,
        "file": where.file if where else None,
        "line": where.line if where else None,
        "column": where.column if where else None,
        "fix": problem.fix,
    }
