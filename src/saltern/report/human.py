"""The highstate layout: a block or a line for each state, and the summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from msgspec.structs import replace

from saltern.language.delayed import Frame
from saltern.language.events import Answer, Report, in_order
from saltern.language.result import Outcome, Result
from saltern.report.blocks import Blocks
from saltern.report.causes import Blame, assign
from saltern.report.colours import Paint, painter
from saltern.report.compress import compress
from saltern.report.failures import failures
from saltern.report.indentation import DEEPEST, SubStates, heading, indent
from saltern.report.text import emit, lines, safe_line
from saltern.report.verdict import Totals, totals

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

LONG = 20  # states; a longer report repeats its failures at the end, which is visible on a terminal
HIDE, TERSE, FULL = "hide", "terse", "full"

STYLES: dict[str, Callable[[Result], str]] = {
    "full": lambda _: FULL,
    "terse": lambda _: TERSE,
    "mixed": lambda result: FULL if result.outcome is Outcome.FAILED else TERSE,
    "changes": lambda result: TERSE if _clean(result) else FULL,
}


def show(report: Report, options: OutputOptions, out: TextIO) -> None:
    """Write the report of a run for people, in the order of the run numbers."""
    emit(out, "\n".join([*_lines(report, options), ""]))


def write(report: Report, out: TextIO, options: OutputOptions) -> None:
    show(report, options, out)


def _lines(report: Report, options: OutputOptions) -> Iterator[str]:
    paint = painter(options.colour)
    answers = in_order(report.answers)
    steps = SubStates(answers, options.sub_states)
    causes = assign([answer for answer in answers if steps.shows(answer)])
    blame = Blame() if options.expand else causes
    shown = [answer for answer in answers if answer.number not in blame.hidden]
    if options.state_compress_ids:
        shown = compress(shown, alone=blame.victims)
    shown = [answer for answer in shown if steps.shows(answer)]
    styled = [(answer, style) for answer in shown if (style := _style(answer.result, options)) != HIDE]
    yield paint(f"{safe_line(options.label)}:", _host_colour([answer for answer, _ in styled]))
    yield from _nest_frames(
        styled, report.frames, options, lambda answer: steps.note(answer) or blame.note(answer)
    )
    if not answers:
        yield "    no states to run"
    yield from _summary(report, options, paint)
    for address, commit in report.sources.items():
        yield paint(f"Source:       {safe_line(address)} is at {commit}", "cyan")
    if options.seen or len(styled) > LONG:
        for line in failures(answers, causes, report.forgiven, options.width):
            yield paint(line, "red")


def _nest_frames(
    styled: Sequence[tuple[Answer, str]],
    frames: Sequence[Frame],
    options: OutputOptions,
    note: Callable[[Answer], str],
) -> Iterator[str]:
    """The blocks; those of a delayed frame are indented below a heading."""
    paint = painter(options.colour)
    waiting = sorted(frames, key=lambda frame: (frame.first, frame.depth))
    blocks: dict[int, Blocks] = {}
    for answer, style in styled:
        while waiting and waiting[0].first <= answer.number and not answer.sub:
            yield _heading(waiting.pop(0), paint)
        depth = min(answer.depth, DEEPEST)
        if depth not in blocks:
            room = options.width and max(options.width - len(indent(depth)), 20)
            blocks[depth] = Blocks(replace(options, width=room))
        write_one = blocks[depth].terse if style == TERSE else blocks[depth].full
        for line in write_one(answer, note(answer)):
            yield indent(depth) + line if depth else line
    for frame in waiting:
        yield _heading(frame, paint)


def _heading(frame: Frame, paint: Paint) -> str:
    return indent(frame.depth) + paint(heading(frame), "cyan")


def _style(result: Result, options: OutputOptions) -> str:
    """The style in which to show a result. The part after ``_`` (``mixed_id``) does not matter here."""
    if (not options.state_verbose or options.state_output_diff or options.seen) and _clean(result):
        return HIDE
    mode = options.state_output.partition("_")[0].lower()
    if mode == "filter":
        return _style_of(result, options)
    return STYLES.get(mode, STYLES["full"])(result)


def _clean(result: Result) -> bool:
    return result.outcome is Outcome.OK and not result.changes


def _style_of(result: Result, options: OutputOptions) -> str:
    word = str(result.outcome.value)
    if word in map(str, options.state_output_exclude):
        return HIDE
    return TERSE if word in map(str, options.state_output_terse) else FULL


def _host_colour(answers: Sequence[Answer]) -> str:
    """The colour of the heading. Salt's rule: the last state that failed or would change decides."""
    colours = {Outcome.FAILED: "red", Outcome.WOULD_CHANGE: "yellow"}
    for answer in reversed(answers):
        if answer.result.outcome in colours:
            return colours[answer.result.outcome]
    return "green"


def _summary(report: Report, options: OutputOptions, paint: Paint) -> Iterator[str]:
    counts = totals(report)
    digits = len(str(max(counts.total, counts.warnings)))
    dashes = paint("-" * (11 + digits), "cyan")
    yield ""
    yield paint(f"Summary for {safe_line(options.label)}", "cyan")
    yield dashes
    yield paint(f"Succeeded: {counts.succeeded:>{digits}}", "green") + _aside(counts, paint)
    forgiven = paint(f" (forgiven={counts.forgiven})", "bright yellow") if counts.forgiven else ""
    yield paint(f"Failed:    {counts.failed:>{digits}}", "red" if counts.failed else "cyan") + forgiven
    if counts.warnings:
        yield paint(f"Warnings:  {counts.warnings:>{digits}}", "bright red")
    if options.state_output_pct and counts.total:
        yield paint(f"Success %: {round(counts.succeeded / counts.total * 100, 2)}", "green")
        yield paint(f"Failure %: {round(counts.failed / counts.total * 100, 2)}", "red")
    yield dashes
    yield paint(f"Total states run: {counts.total:>{digits + 4}}", "cyan")
    if counts.sub_states:
        some = f"failed={counts.sub_failed}, changed={counts.sub_changed}"
        yield paint(f"Sub states among them: {counts.sub_states:>{max(digits - 1, 1)}} ({some})", "cyan")
    if options.state_output_profile:
        yield paint(f"Total run time: {_time(counts.took, digits + 6)}", "cyan")
    for block in report.unused:
        yield paint(safe_line(f"Unused block: {block.name} ({block.mark})"), "yellow")
    if report.stopped:
        for line in lines(f"Stopped early: {report.stopped}", 0, options.width):
            yield paint(line, "red")


def _aside(counts: Totals, paint: Paint) -> str:
    parts = []
    if counts.unchanged:
        parts.append(paint(f"unchanged={counts.unchanged}", "bright yellow"))
    if counts.changed:
        parts.append(paint(f"changed={counts.changed}", "green"))
    if counts.deferred:
        parts.append(paint(f"deferred={counts.deferred}", "bright yellow"))
    return f" ({', '.join(parts)})" if parts else ""


def _time(seconds: float, room: int) -> str:
    milliseconds = seconds * 1000
    if milliseconds >= 1000:
        return f"{seconds:>{room}.3f} s"
    return f"{milliseconds:>{room}.3f} ms"
