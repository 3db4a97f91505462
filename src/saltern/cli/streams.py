"""Standard output and standard error as one reader of both sees them: in the order of what was written."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import TextIO

from saltern.language import secrets


class OrderedError(TextIOWrapper):
    """Standard error, without secrets: a module prints there what it likes.

    Whatever standard output still holds back is written first. Python keeps that back where it is a pipe or a
    file, and standard error never: a line of it would stand before what was printed long before.
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
            pass  # who ends the process flushes again, and reports it
        super().write(secrets.mask(text))
        self.flush()  # half a line, too
        return len(text)


def keep_order() -> None:
    """For this process. Streams that are something else than text over bytes stay as they are."""
    if isinstance(sys.stderr, TextIOWrapper) and isinstance(sys.stdout, TextIOWrapper):
        sys.stderr = OrderedError(sys.stdout, sys.stderr)
