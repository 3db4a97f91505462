"""Another user, who exchanges two names in a directory of theirs all the time, and a place for both of us."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OTHER = 2  # daemon: a user of every machine
# Root opens the directory: whatever becomes of the directories above it, the names in it are exchanged.
# The first exchange has to succeed, or else what follows would prove nothing.
ATTACKER = """
import ctypes, os, sys
into, uid = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY), int(sys.argv[4])
one, other = map(os.fsencode, sys.argv[2:4])
os.setgid(uid); os.setuid(uid)
libc = ctypes.CDLL(None, use_errno=True)
def exchange():
    return libc.renameat2(into, one, into, other, 2)
done = exchange()
print("ready" if done == 0 else os.strerror(ctypes.get_errno()), flush=True)
while True:
    exchange()
"""


@contextmanager
def open_directory() -> Iterator[Path]:
    """A directory that other users can enter. Not below pytest's own, which each new session closes."""
    with tempfile.TemporaryDirectory(prefix="saltern-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@contextmanager
def exchanged(directory: str, one: str, other: str) -> Iterator[None]:
    """While ``OTHER`` exchanges these two names."""
    argv = [sys.executable, "-c", ATTACKER, directory, one, other, str(OTHER)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as attacker:
        assert attacker.stdout is not None
        try:
            assert attacker.stdout.readline() == "ready\n"
            yield
        finally:
            attacker.kill()
