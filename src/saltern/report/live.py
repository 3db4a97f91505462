"""Shows a run on a terminal while it happens: a line for each finished state, and a bar at the bottom.

Everything is written to the file descriptor in complete pieces: a child process that is forked while the
timer writes must not inherit a locked or partly filled buffer.
"""

from __future__ import annotations

import time
from typing import TextIO

from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame
from saltern.language.events import (
    Answer,
    ChunkFinished,
    ChunkStarted,
    Event,
    Fired,
    FrameFinished,
    FrameStarted,
    RunFinished,
    RunStarted,
)
from saltern.language.result import Outcome, Result
from saltern.report.colours import kind_of, of_result, painter
from saltern.report.indentation import SHOWN, heading, indent
from saltern.report.screen import Screen
from saltern.report.text import cut, safe_line
from saltern.report.ticker import PERIOD, Ticker

BAR = 20
MARKS = {
    "clean": "✓",
    "changed": "●",
    "failed": "✗",
    "differs": "≈",
    "skipped": "·",
    "running": "▸",
    "done": "█",
    "left": "░",
}
ASCII = {
    "clean": "+",
    "changed": "*",
    "failed": "x",
    "differs": "~",
    "skipped": "-",
    "running": ">",
    "done": "#",
    "left": ".",
}


class Live:
    """Call it with each event, and ``close`` it in any case. Also a context manager.

    ``verbose`` False leaves out unchanged states; ``sub_states``, the value of ``--sub-states``, selects the
    steps that get a line.
    """

    def __init__(
        self, out: TextIO, colour: bool = True, verbose: bool = True, sub_states: str = "full"
    ) -> None:
        out.flush()
        self._screen = Screen(out)
        self._paint = painter(colour)
        self._marks = MARKS if "utf" in (out.encoding or "").lower() else ASCII
        self._verbose = verbose
        self._shows = SHOWN[sub_states]
        self._total = self._done = self._failed = self._steps = 0
        self._running: dict[str, tuple[Chunk, float]] = {}
        self._headed: set[str] = set()  # running states that have a line, with their steps below it
        self._waiting: list[str] = []
        self._written = 0.0
        self._ticker = Ticker(self._tick)

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, event: Event) -> None:
        with self._ticker.lock:
            match event:
                case RunStarted():
                    self._total = event.total
                    self._ticker.start("saltern-live")
                case ChunkStarted():
                    self._running[event.tag] = (event.chunk, time.monotonic())
                case ChunkFinished():
                    self._finished(event.answer)
                case FrameStarted():
                    self._total += event.frame.states
                    self._waiting.append(self._heading(event.frame))
                case RunFinished():
                    self._running.clear()
                case FrameFinished() | Fired():
                    return
            if time.monotonic() - self._written >= PERIOD:
                self._draw()

    def close(self) -> None:
        """Write the pending lines and remove the bar. May be called twice."""
        self._ticker.close(self._end)

    def _end(self) -> None:
        self._screen.replace_bar("".join(self._waiting), "")
        self._waiting.clear()

    def _tick(self) -> None:
        """Draw the bar and the pending lines, at most once per period."""
        if time.monotonic() - self._written >= PERIOD * 0.9:
            self._draw()

    def _finished(self, answer: Answer) -> None:
        kind = _kind(answer.result)
        if answer.sub:
            self._step(answer, kind)
            return
        self._running.pop(answer.tag, None)
        self._headed.discard(answer.tag)
        self._done += 1
        self._failed += answer.result.outcome is Outcome.FAILED
        if self._verbose or kind not in ("clean", "skipped"):
            self._waiting.append(self._line(answer, kind))

    def _step(self, answer: Answer, kind: str) -> None:
        """Show a step below a line with the name of its state; the state's own line follows when it has
        ended.
        """
        self._steps += 1
        self._failed += answer.result.outcome is Outcome.FAILED
        if not self._shows(answer.result) or (not self._verbose and kind in ("clean", "skipped")):
            return
        if answer.parent in self._running and answer.parent not in self._headed:
            self._headed.add(answer.parent)
            chunk, inset = self._running[answer.parent][0], indent(answer.depth - 1)
            line = f"{inset}{self._marks['running']} {safe_line(f'{chunk.function} {chunk.id}')}"
            self._waiting.append(self._paint(cut(line, self._screen.width() - 1), "cyan") + "\r\n")
        self._waiting.append(self._line(answer, kind))

    def _line(self, answer: Answer, kind: str) -> str:
        """``✓ file.managed nginx.conf 12 ms``; below a failure, the first line of its comment."""
        chunk, width, colour = answer.chunk, self._screen.width(), of_result(answer.result)
        took = f" {_span(answer.took)}" if answer.timed else ""
        text = safe_line(f"{chunk.function} {chunk.id}")
        inset = indent(answer.depth)
        head = f"{inset}{self._marks[kind]} {cut(text, width - 3 - len(took) - len(inset))}{took}"
        lines = [self._paint(cut(head, width - 1), "grey" if kind == "skipped" else colour)]
        if kind == "failed" and (why := answer.result.comment.strip()):
            first = why.partition("\n")[0]
            lines.append(self._paint(cut(f"{inset}    {safe_line(first)}", width - 1), colour))
        return "".join(f"{line}\r\n" for line in lines)

    def _heading(self, frame: Frame) -> str:
        line = cut(f"{indent(frame.depth)}{heading(frame)}", self._screen.width() - 1)
        return self._paint(line, "cyan") + "\r\n"

    def _draw(self) -> None:
        if not self._screen.replace_bar("".join(self._waiting), self._bar()):
            self._ticker.stop()
        self._waiting.clear()
        self._written = time.monotonic()

    def _bar(self) -> str:
        """``████░░░░ 12/40 file.managed nginx.conf 3 s``, one column shorter than the screen, so that it
        never wraps.
        """
        total = max(self._total, self._done)
        filled = BAR * self._done // total if total else BAR
        marks = self._marks["done"] * filled + self._marks["left"] * (BAR - filled)
        width = self._screen.width()
        parts = [marks] if width >= 60 else []
        parts.append(f"{self._done}/{total}")
        if self._failed:
            parts.append(f"{self._failed} failed")
        if self._steps:
            parts.append(f"{self._steps} steps")
        return cut(" ".join([*parts, *self._now()]), width - 1)

    def _now(self) -> list[str]:
        """The state that has run longest, and how many others run."""
        if not self._running:
            return []
        chunk, since = next(iter(self._running.values()))
        more = f" (+{len(self._running) - 1})" if len(self._running) > 1 else ""
        return [f"{_span(time.monotonic() - since)}{more}", safe_line(f"{chunk.function} {chunk.id}")]


def _kind(result: Result) -> str:
    return "skipped" if not result.ran and result.outcome is not Outcome.FAILED else kind_of(result)


def _span(seconds: float) -> str:
    """A duration for people."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02d} s"
