"""Limit the CPU time and memory of one render.

CPU time, not wall time: a template may wait a minute for a command it calls, but not
compute for one. The alarm belongs to the process; outside the main thread there is no limit.

The kernel limits memory: beyond the soft limit on addresses, Python raises ``MemoryError`` anywhere,
even in the middle of a large multiplication. The limit is lifted during calls of ``salt``
functions, whose programs would inherit it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from saltern.system.signals import signal


class TimeIsUp(BaseException):
    """Not an ``Exception``, so that nothing catches it on the way out of a template."""


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise TimeIsUp


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
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


@contextmanager
def limit_memory(memory: int) -> Iterator[None]:
    """Limit the process to so many more bytes than it has now; 0 is no limit."""
    before = _addresses()
    most = _used_memory() + memory if memory > 0 else 0
    if not most or before is None or (before[0] != -1 and before[0] <= most):
        yield
        return
    _set(most, before[1])
    try:
        yield
    finally:
        _set(*before)


@contextmanager
def lift_memory_limit() -> Iterator[None]:
    """Lift the limit while a function runs; restore it afterwards."""
    before = _addresses()
    if before is None or before[0] == before[1]:
        yield
        return
    _set(before[1], before[1])
    try:
        yield
    finally:
        _set(*before)


def _addresses() -> tuple[int, int] | None:
    """The soft and hard limit of the process; None if there is none."""
    if not sys.platform.startswith("linux"):
        return None
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)


def _set(soft: int, hard: int) -> None:
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_AS, (soft if hard == -1 else min(soft, hard), hard))
    except (ValueError, OSError):
        return


def _used_memory() -> int:
    import resource

    try:
        file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(file, 100).split()[0]) * resource.getpagesize()
        finally:
            os.close(file)
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
