"""A terminal for tests: a real pseudo-terminal, and a screen that does with the output what one would do."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

TOKENS = re.compile(r"\x1b\[(?P<number>\d*)(?:;\d+)*(?P<letter>[A-Za-z])|(?P<text>[^\x1b\r\n]+)|[\r\n]")


class Screen:
    """As much of a terminal as our output needs: lines, up, erase below; colours are left out."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.lines: list[str] = [""]
        self.at = 0
        self._left = ""

    def feed(self, text: str) -> None:
        text = self._left + text
        done = 0
        for token in TOKENS.finditer(text):
            if token.start() != done:
                break  # a sequence whose end has not come yet
            self._do(token)
            done = token.end()
        self._left = text[done:]

    def _do(self, token: re.Match[str]) -> None:
        if token["letter"] == "A":
            self.at = max(self.at - int(token["number"] or 1), 0)
            drawn = self.lines[self.at :]
            assert all(len(line) < self.columns for line in drawn), "a line that wraps is not erased whole"
            assert len(drawn) <= self.rows, "what has left the screen cannot be erased"
        elif token["letter"] == "J":
            del self.lines[self.at :]
            self.lines.append("")
        elif token["text"]:
            self.lines[self.at] += token["text"]
        elif token[0] == "\n":
            self.at += 1
            if self.at == len(self.lines):
                self.lines.append("")

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Terminal:
    """A program at a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, screen: Screen) -> None:
        self.process, self._master, self.screen = process, master, screen

    def until(self, true: Callable[[Screen], bool], seconds: float = 60.0) -> None:
        """Read until the screen is as it should be."""
        end = time.monotonic() + seconds
        while not true(self.screen):
            assert time.monotonic() < end, self.screen.text
            if not self._read():
                assert true(self.screen), self.screen.text

    def _read(self) -> bool:
        if select.select([self._master], [], [], 0.2)[0]:
            try:
                data = os.read(self._master, 65536)
            except OSError:  # the other side was closed
                return False
            self.screen.feed(data.decode())
            return bool(data)
        return True

    def end(self) -> int:
        while self._read():
            if self.process.poll() is not None and not select.select([self._master], [], [], 0)[0]:
                break
        return self.process.wait(60)


@contextmanager
def at_terminal(
    command: Sequence[str], env: Mapping[str, str], cwd: str, *, columns: int = 100, rows: int = 24
) -> Iterator[Terminal]:
    master, slave = os.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen(
            command,
            env={**env, "TERM": "xterm", "LANG": "C.UTF-8"},
            cwd=cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        try:
            yield Terminal(process, master, Screen(columns, rows))
        finally:
            process.kill()
            process.wait()
    finally:
        os.close(master)
