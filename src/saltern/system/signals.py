"""To be asked to end is to end in order: with a report, and a journal that can be taken up again."""

from __future__ import annotations

import signal

_terminated = False


def end_in_order() -> None:
    """SIGTERM interrupts as Ctrl-C does."""
    signal.signal(signal.SIGTERM, _terminate)


def was_terminated() -> bool:
    """By whoever ends processes, such as a shutdown, and not by a user at the keyboard."""
    return _terminated


def _terminate(_number: int, _frame: object) -> None:
    global _terminated
    _terminated = True
    raise KeyboardInterrupt
