"""Turns a Report into Salt's dictionary of returns, and writes it as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, TextIO

import msgspec

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostic
from saltern.language.events import Answer, Report
from saltern.language.result import Outcome
from saltern.report.plain import is_plain, plain
from saltern.report.text import emit, tame
from saltern.system.clock import EARLIEST, LATEST, clamp_moment

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions


def to_dict(report: Report) -> dict[str, dict[str, object]]:
    """``{tag: return}`` in the order of the report. Values are shared with the report, not copied."""
    clock, keys = time_of_day(), keys_of(report.answers)
    return {keys.of(answer): salt_return(answer, clock, keys.parent(answer)) for answer in report.answers}


class Keys:
    """The key of each answer in Salt's dictionary: all are distinct, and a sub state never takes that of a
    state.

    ``reserve`` names the states that have no answer yet.
    """

    def __init__(self) -> None:
        self._reserved: set[str] = set()
        self._taken: set[str] = set()
        self._by_number: dict[int, str] = {}

    def reserve(self, tags: Iterable[str]) -> None:
        self._reserved.update(tags)

    def take(self, answer: Answer) -> str:
        """The tag; with ``#2``, ``#3`` … after its ID if another answer has it or will have it."""
        tag, number = answer.tag, 1
        while tag in self._taken or (answer.sub and tag in self._reserved):
            number += 1
            tag = _tag(answer.chunk, f"{answer.path}#{number}")
        self._taken.add(tag)
        self._by_number[answer.number] = tag
        return tag

    def of(self, answer: Answer) -> str:
        return self._by_number[answer.number]

    def parent(self, answer: Answer) -> str:
        """The key of the answer that spawned this one; the tag of one without an answer yet."""
        return self._by_number.get(answer.under, answer.parent) if answer.parent else ""


def keys_of(answers: Sequence[Answer]) -> Keys:
    """The keys of a whole run: states choose before sub states."""
    keys = Keys()
    for answer in sorted(answers, key=attrgetter("sub")):
        keys.take(answer)
    return keys


def salt_return(answer: Answer, clock: Callable[[float], str], parent: str = "") -> dict[str, object]:
    """The return of one answer, with Salt's keys. Those of ``extra`` come last and replace nothing.

    ``parent`` is the key of the answer that spawned it, where that is not its tag.
    """
    chunk, result = answer.chunk, answer.result
    shaped: dict[str, object] = {
        "name": chunk.name,
        "result": result.outcome.value,
        "changes": result.changes,
        "comment": result.comment,
        "__run_num__": answer.number,
        "__sls__": chunk.sls or None,
        "__id__": chunk.id,
    }
    if answer.has_start:
        shaped["start_time"] = clock(answer.started)
    if answer.timed:
        shaped["duration"] = round(answer.took * 1000, 3)
    if not result.ran or answer.sub:
        shaped["__state_ran__"] = result.ran
    if result.warnings:
        shaped["warnings"] = list(result.warnings)
    if result.quiet:
        shaped["skip_watch"] = True
    if result.data:
        shaped["data"] = result.data
    if answer.parallel:
        shaped["__parallel__"] = True
    if answer.parent:
        shaped["__parent__"] = parent or answer.parent
    if answer.depth:
        shaped["__depth__"] = answer.depth
        shaped["__path__"] = answer.path
    if result.outcome is Outcome.FAILED and result.ran and (mark := chunk.mark()).line:
        shaped["__where__"] = str(mark)
    for key, value in result.extra.items():
        shaped.setdefault(key, value)
    return shaped


def _tag(chunk: Chunk, id_: str) -> str:
    return f"{chunk.state}_|-{id_}_|-{chunk.name}_|-{chunk.fun}"


def time_of_day() -> Callable[[float], str]:
    """A clock that writes ``HH:MM:SS.ffffff`` in local time; it determines the zone once per second."""
    seconds: dict[int, str] = {}

    def clock(moment: float) -> str:
        if not EARLIEST <= moment <= LATEST:
            moment = clamp_moment(moment)
        whole, micro = divmod(round(moment * 1_000_000), 1_000_000)
        text = seconds.get(whole)
        if text is None:
            text = seconds[whole] = time.strftime("%H:%M:%S", time.localtime(whole))
        return f"{text}.{micro:06d}"

    return clock


def dumps(value: object, indent: bool = False, *, doubtful: object = ...) -> bytes:
    """JSON of any value: unsupported values become text, other keys become strings, NaN becomes null.

    ``doubtful`` is the part of the value that may contain bytes, sets and the like, if it is known to be only
    a part: searching for them takes as long as writing.
    """
    text = _encode(value, value if doubtful is ... else doubtful)
    try:
        return msgspec.json.format(text, indent=4) if indent else text
    except msgspec.DecodeError:  # lone surrogates
        return text


def _encode(value: object, doubtful: object) -> bytes:
    try:
        text = msgspec.json.encode(value)
        if is_plain(doubtful):
            return text
    except (TypeError, ValueError, RecursionError):  # unknown types, lone surrogates, loops
        pass
    try:
        return msgspec.json.encode(plain(value))
    except ValueError:
        import json  # only json can write lone surrogates, as \udc80

        return json.dumps(plain(value)).encode()


def write(report: Report, out: TextIO, options: OutputOptions) -> None:
    results = [answer.result for answer in report.answers]
    doubtful = [part for result in results for part in (result.changes, result.data, result.extra) if part]
    _write(to_dict(report), out, options, doubtful)


def write_data(value: object, out: TextIO, options: OutputOptions) -> None:
    """Write ``{label: value}``, or only the value if the label is empty."""
    _write(value, out, options, value)


def _write(value: object, out: TextIO, options: OutputOptions, doubtful: object) -> None:
    whole = {options.label: value} if options.label else value
    text = dumps(whole, options.indent, doubtful=doubtful).decode()
    emit(out, tame(text) + "\n")


def write_problems(problems: Iterable[Diagnostic], out: TextIO, options: OutputOptions) -> None:
    """Write Salt's output for a run that could not start: the list of messages in place of the answers."""
    from saltern.report.diagnostics import as_text

    write_data([as_text(problem) for problem in problems], out, options)
