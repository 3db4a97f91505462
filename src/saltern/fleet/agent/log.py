"""The log of an agent: on standard error, and in a file of limited size that `saltern agent log` shows."""

from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import suppress

LIMIT = 1024 * 1024  # bytes after which the file is rotated


class LogFile(logging.Handler):
    """Adds lines to a file; one rotated file is kept beside it."""

    def __init__(self, path: str, limit: int = LIMIT) -> None:
        super().__init__()
        self._path = path
        self._limit = limit

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line. If that fails, the line is lost: the disk may be full, and the work continues."""
        with suppress(OSError):
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(file, (self.format(record) + "\n").encode(errors="replace"))
                full = os.fstat(file).st_size > self._limit
            finally:
                os.close(file)
            if full:
                os.replace(self._path, f"{self._path}.1")


class _Form(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)sZ %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S")
        self.converter = time.gmtime


def start_log(path: str, level: int = logging.INFO) -> None:
    """Write what this process logs to standard error and to the file."""
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    root = logging.getLogger()
    root.setLevel(level)
    for handler in (logging.StreamHandler(sys.stderr), LogFile(path)):
        handler.setFormatter(_Form())
        root.addHandler(handler)


def read_log(path: str, lines: int) -> list[str]:
    """The last lines, the older file before the newer one."""
    found: list[str] = []
    for place in (f"{path}.1", path):
        with suppress(OSError), open(place, encoding="utf-8", errors="replace") as file:
            found += file.read().splitlines()
    return found[-lines:]
