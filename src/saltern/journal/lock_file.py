"""A lock file that one process of this machine holds, with a text that identifies the process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from saltern.journal.folder import make_folder
from saltern.system import lock
from saltern.system.regular import open_regular

MOST_READ = 4096
PATIENCE = 2.0  # seconds before a wait is reported


class LockFile:
    """Looking at the file takes no lock, so it blocks no run."""

    def __init__(self, path: str) -> None:
        self.path = path

    def holder(self) -> bytes | None:
        """The text of the process that holds the lock; None if no process does."""
        try:
            file = open_regular(self.path, os.O_RDWR)
        except OSError:
            return None
        try:
            return text_of(file) if lock.is_held(file) else None
        finally:
            os.close(file)

    def last_holder(self) -> bytes:
        """The text of the process that last took the lock, even if it is no longer held."""
        try:
            file = open_regular(self.path)
        except OSError:
            return b""
        try:
            return text_of(file)
        finally:
            os.close(file)

    def open(self) -> int:
        """Open the file to lock it; create it if needed. Raises ``OSError``."""
        make_folder(os.path.dirname(self.path))
        return open_regular(self.path, os.O_RDWR | os.O_CREAT)


def text_of(file: int) -> bytes:
    """The text in the file; empty if it cannot be read."""
    try:
        return os.pread(file, MOST_READ, 0)
    except OSError:
        return b""


def sign(file: int, text: bytes) -> None:
    """Write the holder's text. Raises ``OSError``."""
    os.ftruncate(file, 0)
    os.pwrite(file, text, 0)


def take(file: int, wait: float = 0.0, report: Callable[[], None] | None = None) -> None:
    """Lock the file within ``wait`` seconds. Raises ``BlockingIOError`` if another process holds it longer.

    ``report`` is called once if the wait is long.
    """
    begun = time.monotonic()
    while True:
        try:
            lock.take(file)
            return
        except BlockingIOError:
            waited = time.monotonic() - begun
            if waited >= wait:
                raise
            if waited >= PATIENCE and report is not None:
                report()
                report = None
            time.sleep(min(0.005 + waited / 10, 0.2, wait - waited))


def lock_of_legs(state_dir: str) -> LockFile:
    """The lock of the leg that runs on this machine."""
    return LockFile(os.path.join(state_dir, "chains", "lock"))
