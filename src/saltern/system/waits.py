"""Reports waits, so that a silent program does not look dead."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

LONG = 2.0  # shorter waits, in seconds, are not reported


def report_wait(what: str, seconds: float = LONG) -> None:
    """Report a wait that may be long, when it begins. ``what`` follows "waiting for"."""
    if seconds >= LONG and sys.stderr is not None:
        print(f"saltern: waiting for {what}", file=sys.stderr, flush=True)


@contextmanager
def reported_wait(what: str) -> Iterator[None]:
    """Report a wait only if it has not ended after ``LONG`` seconds."""
    from threading import Timer

    timer = Timer(LONG, report_wait, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
