"""Reports that something is about to act on the machine, before it does.

Python reports every started program, every file that is written, moved or removed, and every connection, by
any code: a module of ours, of Salt or of the user. So records that must be on disk before an effect are
written then, and not for the many states that only look.

There is one reporter for the whole process, not one for each run: an audit hook cannot be removed, and does
not know who causes an effect. It is set while a journal is open, and a process has only one open journal.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock
from collections.abc import Callable

from saltern.system.faults import point

ACTS = frozenset(
    {
        "os.chmod",
        "os.chown",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.kill",
        "os.killpg",
        "os.link",
        "os.mkdir",
        "os.posix_spawn",
        "os.remove",
        "os.removexattr",
        "os.rename",
        "os.rmdir",
        "os.setxattr",
        "os.spawn",
        "os.symlink",
        "os.system",
        "os.truncate",
        "os.utime",
        "socket.connect",
        "socket.sendmsg",
        "socket.sendto",
        "socket.sethostname",
        "sqlite3.connect",
        "subprocess.Popen",
    }
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_before: Callable[[], None] | None = None
_watching = False
_reporting = False
_acted = False  # since a journal was opened
# An effect in one thread waits until everything is on disk, whichever thread writes it.
_one_at_a_time = RLock()


def before(act: Callable[[], None] | None) -> None:
    """Call ``act`` before each effect from now on; None stops that."""
    global _before, _watching, _acted
    _before = act
    _acted = _acted and act is None
    if act is not None and not _watching:
        _watching = True
        sys.addaudithook(_hear)
        os.register_at_fork(after_in_child=_forget)


def report_act() -> None:
    """Report that another process is about to act for us, which Python does not notice."""
    if _before is not None:
        with _one_at_a_time:
            _report()


def has_acted() -> bool:
    """True if there was an effect since ``before`` was last called with a function."""
    return _acted


def _forget() -> None:
    """Stop reporting in a child: starting it was the effect."""
    global _before
    _before = None


def _hear(event: str, args: tuple[object, ...]) -> None:
    if _before is None or not (event in ACTS or (event == "open" and _writes(args))):
        return
    with _one_at_a_time:
        _report()


def _report() -> None:
    """Report an effect. The writes of the recording itself are not effects of the run."""
    global _reporting, _acted
    if _reporting or _before is None:
        return
    _reporting = _acted = True
    try:
        _before()
    finally:
        _reporting = False
    point("effect")


def _writes(args: tuple[object, ...]) -> bool:
    flags = args[2] if len(args) > 2 else 0
    return isinstance(flags, int) and bool(flags & WRITES)
