"""Keep standard output and standard error in the order in which they were written."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import TextIO

from saltern.language import secrets


class OrderedError(TextIOWrapper):
    """Standard error with secrets masked: a module may print anything there.

    Flushes standard output first. Python buffers it where it is a pipe or a file, but never buffers standard
    error: a later error line would come before earlier output.
    """

    def __init__(self, before: TextIO, error: TextIO) -> None:
        super().__init__(
            error.buffer, encoding=error.encoding, errors=error.errors, newline="\n", line_buffering=True
        )
        self._before = before

    def write(self, text: str) -> int:
        try:
            self._before.flush()
        except (OSError, ValueError):
            pass  # the end of the process flushes again, and reports it
        super().write(secrets.mask(text))
        self.flush()  # also an incomplete line
        return len(text)


def keep_order() -> None:
    """Replace standard error of this process. Streams that are not text over bytes stay as they are."""
    if isinstance(sys.stderr, TextIOWrapper) and isinstance(sys.stdout, TextIOWrapper):
        sys.stderr = OrderedError(sys.stdout, sys.stderr)
