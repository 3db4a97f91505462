"""A job of the fleet while it runs, for people: a live block on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import TextIO

from saltern.cli.watcher import Watcher
from saltern.fleet.view.block import block, tally
from saltern.fleet.view.board import Board, Said
from saltern.report.colours import is_terminal, painter, wanted
from saltern.report.live import ASCII, MARKS
from saltern.report.screen import Screen
from saltern.report.text import cut
from saltern.report.ticker import Ticker

COLOURS = {"failed": "red", "changed": "cyan", "clean": "green", "down": "yellow"}
BEATS = 60.0  # seconds after which a silent log gets a line


class Plain(Watcher):
    """Prints lines to a stream that is not a terminal."""

    def __init__(self, board: Board, out: TextIO) -> None:
        self._board, self._out = board, out
        self._marks = _marks(out)
        self._written = time.monotonic()

    def note(self, text: str) -> None:
        self._write(f"saltern: {text}")

    def say(self, said: Sequence[Said]) -> None:
        for one in said:
            self._write(f"{self._marks.get(one.kind, self._marks['running'])} {one.text}")
        if time.monotonic() - self._written > BEATS:
            self._write(f"saltern: {tally(self._board)}")

    def _write(self, line: str) -> None:
        print(line, file=self._out, flush=True)
        self._written = time.monotonic()


class Terminal(Watcher):
    """The live block at the bottom of a terminal, with permanent lines above it."""

    def __init__(self, board: Board, out: TextIO, colour: bool | None) -> None:
        out.flush()
        self._board = board
        self._screen = Screen(out)
        self._paint = painter(wanted(out, colour))
        self._marks = _marks(out)
        self._held = False
        self._ticker = Ticker(lambda: self._draw(""))

    def __enter__(self) -> Watcher:
        self._ticker.start("saltern-watch")
        return self

    def note(self, text: str) -> None:
        self._draw(f"{cut(f'saltern: {text}', 10 * self._screen.width())}\r\n")

    def say(self, said: Sequence[Said]) -> None:
        if said:
            self._draw("".join(self._line(one) for one in said))

    def _line(self, one: Said) -> str:
        mark = self._marks.get(one.kind, self._marks["running"])
        return self._paint(f"{mark} {one.text}", COLOURS.get(one.kind, "")) + "\r\n"

    def ask(self, question: str, answers: Mapping[str, str], *, without: str, again: str) -> str:
        if not is_terminal(sys.stdin):
            return without
        with self._ticker.lock:
            self._screen.replace_bar(question)
            self._held = True
        try:
            found = sys.stdin.readline()
        except KeyboardInterrupt:  # a second Ctrl-C counts as no answer
            found = ""
        finally:
            self._held = False
        return answers.get(found.strip().lower()[:1], again) if found else without

    def close(self) -> None:
        self._ticker.close(lambda: self._screen.replace_bar(""))

    def _draw(self, text: str) -> None:
        with self._ticker.lock:
            if self._ticker.is_closed or self._held:
                return
            width, height = self._screen.width(), self._screen.height()
            plain = self._marks is ASCII
            lines = block(self._board, time.time(), width=width, height=height, plain=plain)
            if not self._screen.replace_bar(text, *lines):
                self._ticker.stop()


def _marks(out: TextIO) -> dict[str, str]:
    return MARKS if "utf" in (out.encoding or "").lower() else ASCII
