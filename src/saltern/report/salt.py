"""Report → the dictionary the scripts of Salt users expect, and JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, TextIO

import msgspec

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostic
from saltern.language.events import Answer, Report
from saltern.report.plain import is_plain, plain
from saltern.report.text import emit, tame

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions


def to_dict(report: Report) -> dict[str, dict[str, object]]:
    """``{tag: return}`` in the order of the report. Values are shared with it, not copied."""
    shaped: dict[str, dict[str, object]] = {}
    clock = time_of_day()
    for answer in report.answers:
        tag = tag_of(answer)
        if tag in shaped:
            tag = unique_tag(answer, shaped)
        shaped[tag] = returned(answer, clock)
    return shaped


def returned(answer: Answer, clock: Callable[[float], str]) -> dict[str, object]:
    """The return of one answer, with Salt's keys. Those of ``extra`` come last and replace nothing."""
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
    if answer.timed:
        shaped["start_time"] = clock(answer.started)
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
        shaped["__parent__"] = answer.parent
    if answer.depth:
        shaped["__depth__"] = answer.depth
        shaped["__path__"] = answer.path
    for key, value in result.extra.items():
        shaped.setdefault(key, value)
    return shaped


def tag_of(answer: Answer) -> str:
    """The chunk's tag; of what was rendered late, with its whole path for an ID, always in four parts."""
    chunk = answer.chunk
    return chunk.tag if not answer.frame else _tag(chunk, answer.path)


def unique_tag(answer: Answer, taken: Container[str]) -> str:
    """The tag, or that of its ID with ``#2``, ``#3`` … when another answer has it already."""
    tag, number = tag_of(answer), 1
    while tag in taken:
        number += 1
        tag = _tag(answer.chunk, f"{answer.path}#{number}")
    return tag


def _tag(chunk: Chunk, id_: str) -> str:
    return f"{chunk.state}_|-{id_}_|-{chunk.name}_|-{chunk.fun}"


def time_of_day() -> Callable[[float], str]:
    """A clock that writes ``HH:MM:SS.ffffff`` in local time; it asks for the zone once per second of run."""
    seconds: dict[int, str] = {}

    def clock(moment: float) -> str:
        whole, micro = divmod(round(moment * 1_000_000), 1_000_000)
        text = seconds.get(whole)
        if text is None:
            text = seconds[whole] = time.strftime("%H:%M:%S", time.localtime(whole))
        return f"{text}.{micro:06d}"

    return clock


def dumps(value: object, indent: bool = False, *, doubtful: object = ...) -> bytes:
    """JSON of anything: odd values become text, odd keys become strings; NaN becomes null.

    ``doubtful`` is the part of the value that may hold bytes, sets and the like, when
    that is known to be less than all of it: looking for them takes as long as writing.
    """
    text = _encoded(value, value if doubtful is ... else doubtful)
    try:
        return msgspec.json.format(text, indent=4) if indent else text
    except msgspec.DecodeError:  # half characters
        return text


def _encoded(value: object, doubtful: object) -> bytes:
    try:
        text = msgspec.json.encode(value)
        if is_plain(doubtful):
            return text
    except (TypeError, ValueError, RecursionError):  # unknown types, half characters, loops
        pass
    try:
        return msgspec.json.encode(plain(value))
    except ValueError:
        import json  # the only one that can write half characters, as \udc80

        return json.dumps(plain(value)).encode()


def write(report: Report, out: TextIO, options: OutputOptions) -> None:
    results = [answer.result for answer in report.answers]
    doubtful = [part for result in results for part in (result.changes, result.data, result.extra) if part]
    _write(to_dict(report), out, options, doubtful)


def write_data(value: object, out: TextIO, options: OutputOptions) -> None:
    """``{label: value}``, or the bare value when the label is empty."""
    _write(value, out, options, value)


def _write(value: object, out: TextIO, options: OutputOptions, doubtful: object) -> None:
    whole = {options.label: value} if options.label else value
    text = dumps(whole, options.indent, doubtful=doubtful).decode()
    emit(out, (tame(text) if options.indent else text) + "\n")


def write_problems(problems: Iterable[Diagnostic], out: TextIO, options: OutputOptions) -> None:
    """What Salt gives when nothing could run: the list of messages in place of the answers."""
    from saltern.report.diagnostics import as_text

    write_data([as_text(problem) for problem in problems], out, options)
