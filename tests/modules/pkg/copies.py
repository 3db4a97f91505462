"""A copy of this machine to throw away: an overlay of ``/`` in a mount namespace, for one test.

The test runs in a process of its own that has the copy as its root, so what it installs, configures
and leaves behind is gone when it ends; nothing of the machine is changed.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable

import pytest
from tests.modules.bench import needs_root

NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
SKIPPED = "skipped: "
KEPT = "SALTERN_RECORD"  # a directory that is the real one, for what a test wants to leave behind


class NoCopy(Exception):
    """Mounts are not allowed here."""


def in_a_copy(*programs: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Marks a test that runs in a copy; skipped without root, one of the programs, or the right to mount."""

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def alone(**fixtures: object) -> None:
            with tempfile.TemporaryDirectory(prefix="saltern-t-copy-") as place:
                said = _in_child(place, lambda: test(**fixtures))
            if said.startswith(SKIPPED):
                pytest.skip(said.removeprefix(SKIPPED))
            if said:
                pytest.fail(said, pytrace=False)

        return needs_root(*programs)(alone)

    return mark


def _in_child(place: str, work: Callable[[], object]) -> str:
    """What went wrong in a process that did the work in a copy; empty if nothing did."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        said = _told(place, work)
        os.write(theirs, said.encode()[-60000:])
        os._exit(0)
    os.close(theirs)
    try:
        with open(ours, "rb") as reading:
            return reading.read().decode(errors="replace")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _told(place: str, work: Callable[[], object]) -> str:
    try:
        enter(place)
        work()
    except (NoCopy, pytest.skip.Exception) as why:
        return f"{SKIPPED}{why}"
    except BaseException:
        return traceback.format_exc()
    return ""


def enter(place: str) -> None:
    """Make the copy at a directory, and make it the root of this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_MOUNTS):
        raise NoCopy(f"unshare: {os.strerror(ctypes.get_errno())}")
    _mount("--make-rprivate", "/")
    _mount("-t", "tmpfs", "tmpfs", place)
    upper, work, root = (os.path.join(place, name) for name in ("upper", "work", "root"))
    for directory in (upper, work, root):
        os.mkdir(directory)
    _mount("-t", "overlay", "overlay", "-o", f"lowerdir=/,upperdir={upper},workdir={work}", root)
    for path in ("/proc", "/dev", "/sys", *_elsewhere()):
        _mount("--rbind", path, root + path)
    os.chroot(root)
    os.chdir("/")


def _elsewhere() -> list[str]:
    """What the test itself needs of the real machine, and what an overlay of ``/`` lacks: other disks."""
    project = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
    here = os.stat("/").st_dev
    needed = (project, sys.prefix, sys.base_prefix, tempfile.gettempdir())
    kept = [os.environ[KEPT]] if KEPT in os.environ else []
    return [*kept, *(path for path in needed if os.stat(path).st_dev != here)]


def _mount(*argv: str) -> None:
    ran = subprocess.run(["mount", *argv], capture_output=True, text=True)
    if ran.returncode:
        raise NoCopy(ran.stderr.strip())
