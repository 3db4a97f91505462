"""Refuses, within the process, everything that a check of an untrusted tree does not need.

Nothing that is Python of such a tree runs, so nothing of it can get past an audit hook: what is heard here
is saltern's own code, which a template led further than it should. ``confine`` has the kernel refuse the
same, should that ever be wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from saltern.system.effects import ACTS, WRITES

REFUSED = "refused in an untrusted tree"

# Beside what acts: what finds out or gives away, and what could undo this guard.
ALSO = frozenset(
    {
        *("ctypes.dlopen", "ctypes.dlsym", "ctypes.call_function", "ctypes.cdata", "ctypes.addressof"),
        *("socket.__new__", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"),
        *("socket.gethostbyaddr", "socket.getnameinfo", "socket.getservbyname", "socket.gethostname"),
        *("urllib.Request", "ftplib.connect", "smtplib.connect", "imaplib.open", "http.client.connect"),
        *("mmap.__new__", "os.getxattr", "os.listxattr", "os.putenv", "os.unsetenv", "os.chflags"),
        *("pty.spawn", "shutil.copyfile", "shutil.move", "shutil.rmtree", "signal.pthread_kill"),
        *("syslog.openlog", "syslog.syslog", "fcntl.ioctl", "fcntl.flock", "fcntl.lockf", "os.chdir"),
        *("builtins.input", "sys.unraisablehook", "sys.setprofile", "sys.settrace"),
    }
)
ZONES = "/usr/share/zoneinfo"
LISTS = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob"})


class Refused(PermissionError):
    """Something that is not allowed was about to be done."""


def is_within(path: str, places: Iterable[str]) -> bool:
    """True if a real path is one of the places or below one."""
    return any(path == place or path.startswith(place.rstrip(os.sep) + os.sep) for place in places)


def refuse(places: Iterable[str]) -> None:
    """From now on and for good, in this process: read below ``places`` and of Python itself, and no more.

    No directory may be written, not even the cache: what is kept there is run later, when nothing refuses.
    """
    sys.dont_write_bytecode = True
    readable = tuple(os.path.realpath(place) for place in (*places, *interpreter(), ZONES))

    def hear(event: str, args: tuple[object, ...]) -> None:
        if event in ACTS or event in ALSO:
            raise Refused(1, f"{REFUSED}: {event}")
        if event in ("open", *LISTS):
            _check_path(event, args, readable)

    sys.addaudithook(hear)


def interpreter() -> tuple[str, ...]:
    """The directories of Python and saltern: code is imported from there on demand."""
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    found = [*(entry for entry in sys.path if os.path.isabs(entry)), sys.prefix, sys.base_prefix, own]
    return tuple(dict.fromkeys(entry for entry in found if os.path.exists(entry) and entry != os.sep))


def _check_path(event: str, args: tuple[object, ...], readable: tuple[str, ...]) -> None:
    path = args[0] if args else ""
    if isinstance(path, int) or path == os.devnull:
        return  # a number was opened before, and asked for then
    if event == "open" and _writes(args):
        raise Refused(1, f"{REFUSED}: to write {path!r}")
    text = os.fsdecode(path) if isinstance(path, str | bytes) else str(path or ".")
    if not is_within(os.path.realpath(text), readable):
        raise Refused(1, f"{REFUSED}: to read {text!r}, which is outside of the tree")


def _writes(args: tuple[object, ...]) -> bool:
    flags = args[2] if len(args) > 2 else 0
    return isinstance(flags, int) and bool(flags & WRITES)
