"""A limit on the CPU time of one render.

CPU time, not time on the wall: a template may well wait a minute for a command it calls, but not
compute for one. The alarm is the process's own; outside the main thread there is no limit.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeIsUp(BaseException):
    """Passes through everything that catches ``Exception`` on the way out of a template."""


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise TimeIsUp


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    if seconds <= 0:
        yield
        return
    try:
        before = signal.signal(signal.SIGVTALRM, _ring)
    except ValueError:  # not the main thread
        yield
        return
    left = signal.setitimer(signal.ITIMER_VIRTUAL, min(seconds, 1e6))[0]
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, left)
        signal.signal(signal.SIGVTALRM, before)
