"""Ends the language server at a signal, even while its editor sends nothing or does not read.

An exception from a signal handler would not work: the server waits for a thread that reads, and a lock that
is being acquired would stay locked. So a separate thread waits for the signal, and ends the process. The
interpreter itself wakes that thread (``set_wakeup_fd``): a handler would run in the main thread, and a signal
that comes just before that thread waits would be handled only when the editor sends something.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextmanager
def ended_by_signals(clean_up: Callable[[], None], code: int) -> Iterator[None]:
    """Within this block, a signal calls ``clean_up`` in another thread and ends the process with ``code``."""
    hear, say = os.pipe()
    os.set_blocking(say, False)
    threading.Thread(target=_wait, args=(hear, clean_up, code), daemon=True).start()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = {number: how for number, how in before.items() if how != signal.SIG_IGN}
    woken = signal.set_wakeup_fd(say, warn_on_full_buffer=False)
    for number in heard:
        signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        for number, how in heard.items():
            signal.signal(number, how)
        signal.set_wakeup_fd(woken)
        os.close(say)  # the thread ends


def _wait(hear: int, clean_up: Callable[[], None], code: int) -> None:
    """Wait for a signal. Each byte of the pipe is the number of a signal; some do not end the process."""
    with os.fdopen(hear, "rb", buffering=0) as pipe:
        while (found := pipe.read(1)) and found[0] not in SIGNALS:
            pass
        if not found:
            return
    try:
        clean_up()
    finally:
        os._exit(code)
