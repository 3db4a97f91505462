"""Say what is waited for: a program that is silent for minutes looks as if it had died."""

from __future__ import annotations

import sys

LONG = 2.0  # seconds that are not worth a word


def report_wait(what: str, seconds: float = LONG) -> None:
    """To be called once, when a wait begins that may last so long. ``what`` follows "waiting for"."""
    if seconds >= LONG and sys.stderr is not None:
        print(f"saltern: waiting for {what}", file=sys.stderr, flush=True)
