"""Refuses, within the process, everything that a check of an untrusted tree does not need.

No Python code of such a tree runs, so none of it can bypass an audit hook: what is refused here is saltern's
own code, which a template made do more than it should. ``confine`` makes the kernel refuse the same, as a
second barrier.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from saltern.system.effects import ACTS, WRITES

REFUSED = "refused in an untrusted tree"

# Events that, without changing anything, reveal or send data, or could disable this guard.
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
    """A forbidden operation was attempted."""


def is_within(path: str, places: Iterable[str]) -> bool:
    """True if a real path is one of the places or below one."""
    return any(path == place or path.startswith(place.rstrip(os.sep) + os.sep) for place in places)


def refuse(places: Iterable[str]) -> None:
    """From now on, allow this process only to read files below ``places`` and those of Python itself.

    No directory may be written, not even the cache: its contents are run later, without this guard.
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
        return  # a file descriptor was checked when it was opened
    if event == "open" and _writes(args):
        raise Refused(1, f"{REFUSED}: to write {path!r}")
    text = os.fsdecode(path) if isinstance(path, str | bytes) else str(path or ".")
    if not is_within(os.path.realpath(text), readable):
        raise Refused(1, f"{REFUSED}: to read {text!r}, which is outside of the tree")


def _writes(args: tuple[object, ...]) -> bool:
    flags = args[2] if len(args) > 2 else 0
    return isinstance(flags, int) and bool(flags & WRITES)
