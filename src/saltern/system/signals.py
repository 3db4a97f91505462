"""SIGTERM and SIGHUP end a run in order: with a report, and a journal that can be resumed.

Signals, and the terminals that the three streams are, belong to the process.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import signal as signal
    from collections.abc import Iterator
else:
    # The same, but numbers are numbers: ``signal`` makes enumerations of them, at the start of every run and
    # again of all that it is given and gives back. For those who run programs, too.
    import _signal as signal

ASKING_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_terminated = False
_hung_up = False  # and SIGTERM, which often comes with it, has not come yet
_terminals: tuple[int, ...] = ()  # of the three streams, those that are one


def end_in_order() -> None:
    """SIGTERM and SIGHUP interrupt as Ctrl-C does. An ignored SIGHUP, as of ``nohup``, stays so."""
    global _terminals
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        _terminals = tuple(stream for stream in range(3) if os.isatty(stream))
        signal.signal(signal.SIGHUP, _hang_up)


def end_at_once() -> None:
    """For a child of ours that has nothing to report: what ends us ends it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextmanager
def delay_signals() -> Iterator[set[int]]:
    """Delay the signals that ask us to end. Yields the signals that were blocked before, for
    ``restore_signals``.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKING_TO_END)
    try:
        yield before
    finally:
        restore_signals(before)


def restore_signals(before: set[int]) -> None:
    """Let the signals that ask us to end through again; those that came meanwhile arrive at once.

    For a process that was forked there. It has to be sure of its own end by now: in the stack above it, it
    would do what its parent does.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def was_terminated() -> bool:
    """True if a signal such as that of a shutdown ended us, and not a user at the keyboard."""
    return _terminated


def _terminate(_number: int, _frame: object) -> None:
    global _terminated, _hung_up
    if _hung_up:
        _hung_up = False
        return
    _terminated = True
    raise KeyboardInterrupt


def _hang_up(_number: int, _frame: object) -> None:
    """Only the first one, or whichever comes first of it and SIGTERM: kernel, shell and systemd send both.

    What is written to a terminal that is gone would fail, and that would be everything known of the run.
    """
    global _terminated, _hung_up
    _leave_terminals()
    if not _terminated:
        _terminated = _hung_up = True
        raise KeyboardInterrupt


def _leave_terminals() -> None:
    gone = [stream for stream in _terminals if not os.isatty(stream)]
    if gone:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in gone:
            os.dup2(null, stream)
        os.close(null)
