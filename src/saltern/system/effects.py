"""Know that something is about to act on the machine, before it does.

Python tells of every program that is started, every file that is written, moved or removed, every
connection that is made, whoever does it: a module of ours, of Salt, of the user. So what must be on disk
before an effect is written then, and not for the many states that only look.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

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
        "subprocess.Popen",
    }
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_before: Callable[[], None] | None = None
_watching = False


def before(act: Callable[[], None] | None) -> None:
    """``act`` is called before each effect; None: no more. A process has one, as a machine has one run."""
    global _before, _watching
    _before = act
    if act is not None and not _watching:
        _watching = True
        sys.addaudithook(_heard)
        os.register_at_fork(after_in_child=_forget)


def _forget() -> None:
    """A child is an effect of its parent, which was told."""
    global _before
    _before = None


def _heard(event: str, args: tuple[object, ...]) -> None:
    if _before is None or not (event in ACTS or (event == "open" and _writes(args))):
        return
    _tell()


def _tell() -> None:
    """What is done to write it down is no effect of the run."""
    global _before
    act, _before = _before, None
    try:
        if act is not None:
            act()
    finally:
        _before = act


def _writes(args: tuple[object, ...]) -> bool:
    flags = args[2] if len(args) > 2 else 0
    return isinstance(flags, int) and bool(flags & WRITES)
