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
    # The same functions with plain numbers: ``signal`` creates enumerations, at its import and for every
    # argument and result. Also for modules that run programs.
    import _signal as signal

ASKING_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_terminated = False
_hung_up = False  # and SIGTERM, which often follows it, has not come yet
_terminals: tuple[int, ...] = ()  # those of the three streams that are terminals


def end_in_order() -> None:
    """Make SIGTERM and SIGHUP interrupt like Ctrl-C. An ignored SIGHUP, as with ``nohup``, stays ignored."""
    global _terminals
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        _terminals = tuple(stream for stream in range(3) if os.isatty(stream))
        signal.signal(signal.SIGHUP, _hang_up)


def end_at_once() -> None:
    """For a child process that has nothing to report: let signals end it at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextmanager
def delay_signals() -> Iterator[set[int]]:
    """Delay the signals that request our end. Yields the signals that were blocked before, for
    ``restore_signals``.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKING_TO_END)
    try:
        yield before
    finally:
        restore_signals(before)


def restore_signals(before: set[int]) -> None:
    """Stop delaying the signals that request our end; those that came meanwhile arrive at once.

    For a process that was forked meanwhile. It must already handle its own end: otherwise it would unwind
    into the code of its parent.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def was_terminated() -> bool:
    """True if a signal, such as that of a shutdown, ended us, rather than a user at the keyboard."""
    return _terminated


def _terminate(_number: int, _frame: object) -> None:
    global _terminated, _hung_up
    if _hung_up:
        _hung_up = False
        return
    _terminated = True
    raise KeyboardInterrupt


def _hang_up(_number: int, _frame: object) -> None:
    """Handle SIGHUP once, or whichever comes first of it and SIGTERM: kernel, shell and systemd send both.

    Writing to a terminal that is gone would fail, and with it the report of the run.
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
