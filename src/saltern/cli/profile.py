"""``--profile``: where the time of a command went. Without it, nothing is loaded or measured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from msgspec import Struct

from saltern.report.colours import Paint, painter, wanted
from saltern.report.text import emit, safe_line

if TYPE_CHECKING:
    from saltern.engine.session import Session
    from saltern.language.events import Report

MOST = 10  # rows of a table


class Spent(Struct):
    """Time spent on one file: seconds, and how often."""

    seconds: float = 0.0
    times: int = 0


class Profile:
    """Starts with the process, measures what ``session`` does, and is written once at the end."""

    def __init__(self, session: Session, middle: str = "compiling and planning") -> None:
        """``middle`` names what is done, besides rendering, before anything runs."""
        self._middle = middle
        self._started_up = _age()
        self._begin = time.perf_counter()
        self._compiled: float | None = None
        self._early = 0.0  # rendering before everything is compiled
        self._pillar = 0.0
        self._inside = False  # a file that renders another counts once
        self.files: dict[str, Spent] = {}
        renderers = session.renderers
        vars(session).update(load_pillar=self._timed_pillar(session.load_pillar))
        vars(renderers).update(
            sls=self._time_calls(renderers.sls, lambda source, _: str(source.path)),
            block=self._time_calls(renderers.block, lambda block, _: f"{block.file}, block {block.name}"),
            text=self._time_calls(renderers.text, lambda _, path: path or "templates within states"),
        )

    def compiled(self) -> None:
        """Call this when everything is compiled, before anything runs."""
        self._compiled = time.perf_counter()
        self._early = self._rendering()

    def _rendering(self) -> float:
        return sum(spent.seconds for spent in self.files.values())

    def _time_calls(self, work: Callable[..., Any], name: Callable[[Any, str], str]) -> Callable[..., Any]:
        def call(what: Any, *args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return work(what, *args, **kwargs)
            self._inside = True
            begin = time.perf_counter()
            try:
                return work(what, *args, **kwargs)
            finally:
                self._inside = False
                spent = self.files.setdefault(name(what, kwargs.get("path", "")), Spent())
                spent.seconds += time.perf_counter() - begin
                spent.times += 1

        return call

    def _timed_pillar(self, prepare: Callable[[], None]) -> Callable[[], None]:
        def call() -> None:
            begin = time.perf_counter()
            prepare()
            self._pillar += time.perf_counter() - begin

        return call

    # -- output ----------------------------------------------------------------------------------------

    def write(self, report: Report | None, out: TextIO, *, colour: bool | None) -> None:
        paint = painter(wanted(out, colour))
        phases = self._phases(report, time.perf_counter())
        whole = sum(seconds for _, seconds in phases)
        lines = [
            paint(f"Where the time went: {whole * 1000:.1f} ms", "cyan"),
            *_table([(name, seconds, f"{seconds / whole * 100:4.1f} %") for name, seconds in phases]),
            *self._slowest_files(paint),
        ]
        if report is not None:
            lines += _slowest_states(report, paint)
        emit(out, "\n".join([*lines, ""]))

    def _phases(self, report: Report | None, end: float) -> list[tuple[str, float]]:
        compiled, rendered = end, self._rendering()
        if self._compiled is not None:
            compiled, rendered = self._compiled, self._early
        phases = [
            ("start-up and configuration", self._started_up),
            ("pillar", self._pillar),
            ("rendering", rendered),
            (self._middle, max(compiled - self._begin - self._pillar - rendered, 0.0)),
        ]
        if report is not None:
            ran = sum(one.took for one in report.answers if not (one.parallel or one.sub))
            ran = min(ran, end - compiled)
            phases += [("states", ran), ("between states, journal, output", end - compiled - ran)]
        return phases

    def _slowest_files(self, paint: Paint) -> Iterator[str]:
        slow = sorted(self.files.items(), key=lambda item: -item[1].seconds)
        if slow:
            yield paint(f"Rendering, by file ({len(slow)} in all)", "cyan")
            yield from _table(
                [
                    (name, spent.seconds, f"{spent.times} times" if spent.times > 1 else "")
                    for name, spent in slow[:MOST]
                ]
            )


def _slowest_states(report: Report, paint: Paint) -> Iterator[str]:
    timed = [answer for answer in report.answers if answer.timed and answer.took > 0]
    slow = sorted(timed, key=lambda answer: -answer.took)[:MOST]
    if slow:
        yield paint("Slowest states", "cyan")
        yield from _table(
            [(f"{one.chunk.function} {one.path}", one.took, str(one.chunk.mark())) for one in slow]
        )


def _table(rows: list[tuple[str, float, str]]) -> Iterator[str]:
    room = max(len(safe_line(name)) for name, _, _ in rows)
    for name, seconds, more in rows:
        yield f"  {safe_line(name):<{room}}  {seconds * 1000:10.1f} ms  {safe_line(more)}".rstrip()


def _age() -> float:
    """Seconds since this process was started, from Linux; 0 where that cannot be read."""
    try:
        with open("/proc/self/stat", encoding="ascii") as file:
            begun = int(file.read().rpartition(")")[2].split()[19])
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - begun / os.sysconf("SC_CLK_TCK"), 0.0)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0
