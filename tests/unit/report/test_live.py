"""The live view, on a real terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import termios
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from saltern.language.events import ChunkFinished, ChunkStarted, RunFinished, RunStarted
from saltern.language.result import Outcome
from saltern.report.live import Live
from saltern.report.text import columns

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make

SEQUENCE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Screen:
    """The other end of a pseudo-terminal."""

    def __init__(self, columns: int = 80) -> None:
        self._master, self._slave = pty.openpty()
        self.resize(columns)
        self.out = io.TextIOWrapper(io.FileIO(self._slave, "w"), encoding="utf-8", write_through=True)

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self) -> str:
        os.set_blocking(self._master, False)
        data = b""
        try:
            while piece := os.read(self._master, 65536):
                data += piece
        except BlockingIOError:
            pass
        return data.decode()

    def read_until(self, part: str) -> str:
        """All up to when ``part`` has come."""
        text = ""
        while part not in text:
            time.sleep(0.01)
            text += self.read()
        return text

    def close(self) -> None:
        self.out.close()
        os.close(self._master)


@pytest.fixture
def screen() -> Iterator[Screen]:
    screen = Screen()
    yield screen
    screen.close()


def left(text: str) -> list[str]:
    """What a terminal shows in the end, for text that only clears its last line."""
    text = SEQUENCE.sub(lambda found: "\0" if found[0] == "\x1b[J" else "", text)
    lines = [
        line.rpartition("\0")[2] for line in text.replace("\r\r\n", "\n").replace("\r\n", "\n").split("\n")
    ]
    return [line.replace("\r", "") for line in lines]


def test_each_state_leaves_a_line_and_the_bar_leaves_none(screen: Screen, make: Make) -> None:
    live = Live(screen.out, colour=False)
    live(RunStarted(total=4))
    for answer in (
        make("ok", took=0.012),
        make("new", changes={"a": 1}, took=2.5),
        make("bad", Outcome.FAILED, "why\nmore", took=75.0),
        make("skip", ran=False, timed=False),
    ):
        live(ChunkStarted(answer.chunk, 0.0))
        live(ChunkFinished(answer))
    live(RunFinished(took=1.0))
    live.close()
    live.close()
    assert left(screen.read()) == [
        "✓ file.managed ok 12 ms",
        "● file.managed new 2.5 s",
        "✗ file.managed bad 1 min 15 s",
        "    why",
        "· file.managed skip",
        "",
    ]


def test_the_bar_tells_what_runs_and_for_how_long(screen: Screen, make: Make) -> None:
    with Live(screen.out, colour=False) as live:
        live(RunStarted(total=2))
        live(ChunkFinished(make("first")))
        live(ChunkStarted(make("slow").chunk, 0.0))
        text = screen.read_until("file.managed slow")
    assert re.search(r"██████████░░░░░░░░░░ 1/2 [\d.]+ m?s file\.managed slow", text)
    assert screen.read() == "\r\x1b[J"


@pytest.mark.parametrize("width", [10, 20, 40])
def test_nothing_is_wider_than_a_narrow_terminal(screen: Screen, make: Make, width: int) -> None:
    screen.resize(width)
    with Live(screen.out, colour=False) as live:
        live(RunStarted(total=1))
        answer = make("long " * 30, Outcome.FAILED, "because " * 20)
        live(ChunkStarted(answer.chunk, 0.0))
        seen = screen.read_until("\r")
        live(ChunkFinished(answer))
    text = SEQUENCE.sub("", seen + screen.read())
    assert all(columns(line) < width for line in re.split("[\r\n]+", text))


def test_a_terminal_made_narrower_gets_the_wrapped_rows_cleared(screen: Screen, make: Make) -> None:
    with Live(screen.out, colour=False) as live:
        live(RunStarted(total=1))
        live(ChunkStarted(make("x" * 200).chunk, 0.0))
        screen.read_until("xxx")
        screen.resize(20)
    assert screen.read() == "\x1b[3A\r\x1b[J"


def test_an_exception_leaves_the_terminal_clean(screen: Screen, make: Make) -> None:
    with pytest.raises(KeyboardInterrupt), Live(screen.out) as live:
        live(RunStarted(total=1))
        live(ChunkStarted(make().chunk, 0.0))
        raise KeyboardInterrupt
    assert left(screen.read()) == [""]


def test_names_cannot_attack_the_terminal(screen: Screen, make: Make) -> None:
    with Live(screen.out, colour=False) as live:
        live(RunStarted(total=1))
        live(ChunkFinished(make("\x1b[2J\x07", Outcome.FAILED, "\x1b]0;title\x07")))
    text = screen.read()
    assert "\x1b[2J" not in text
    assert "\x07" not in text


def test_states_that_were_fine_can_be_left_out(screen: Screen, make: Make) -> None:
    with Live(screen.out, colour=False, verbose=False) as live:
        live(RunStarted(total=2))
        live(ChunkFinished(make("ok")))
        live(ChunkFinished(make("new", Outcome.WOULD_CHANGE)))
    assert left(screen.read()) == ["≈ file.managed new 1 ms", ""]


def test_a_terminal_that_goes_away_does_not_end_the_run(make: Make) -> None:
    screen = Screen()
    live = Live(screen.out)
    os.close(screen._master)
    live(RunStarted(total=1))
    live(ChunkFinished(make()))
    live.close()
    screen.out.close()
