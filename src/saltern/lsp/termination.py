"""A signal ends the language server at once, also while its editor is silent or does not read.

An exception out of a signal handler would not do: the server reads in a thread that it waits for, and a lock
that is just being taken would stay taken. So a thread of its own waits for the signal, and ends the process.
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
    """Within this block a signal calls ``clean_up`` in another thread, and ends the process with ``code``."""
    hear, say = os.pipe()
    threading.Thread(target=_wait, args=(hear, clean_up, code), daemon=True).start()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = {number: how for number, how in before.items() if how != signal.SIG_IGN}
    for number in heard:
        signal.signal(number, lambda *_: _write(say))
    try:
        yield
    finally:
        for number, how in heard.items():
            signal.signal(number, how)
        os.close(say)  # the thread ends


def _write(say: int) -> None:
    os.write(say, b"!")


def _wait(hear: int, clean_up: Callable[[], None], code: int) -> None:
    with os.fdopen(hear, "rb", buffering=0) as pipe:
        if not pipe.read(1):
            return
    try:
        clean_up()
    finally:
        os._exit(code)
