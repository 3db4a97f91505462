"""The process that made a file, as a word in its name; and whether that process has certainly ended.

A process ID alone is not sufficient: IDs are reused, each container has its own, and a directory may be
shared with other machines.
"""

from __future__ import annotations

import os
from binascii import crc32

from msgspec import Struct

from saltern.system.boot import process_start, text_of

MACHINE_ID = "/etc/machine-id"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
PID_NAMESPACE = "/proc/self/ns/pid"
UNKNOWN = "0"
PATTERN = r"\d+\.\d+\.\d+\.[0-9a-f]+\.[0-9a-f]+"  # of the word


class Maker(Struct, frozen=True):
    """A process: its ID, its start, its PID namespace, its boot and its machine.

    Unknown parts are ``0``.
    """

    pid: int
    start: str
    namespace: str
    boot: str
    machine: str

    @property
    def word(self) -> str:
        return f"{self.pid}.{self.start}.{self.namespace}.{self.boot}.{self.machine}"


_known: dict[int, Maker] = {}  # of this process; a forked child has another ID


def this_process() -> Maker:
    pid = os.getpid()
    if pid not in _known:
        _known.clear()
        _known[pid] = _look_up(pid)
    return _known[pid]


def parse(word: str) -> Maker:
    """The maker of a word from ``Maker.word``; it matches ``PATTERN``."""
    pid, *others = word.split(".")
    return Maker(int(pid), *others)


def is_gone(maker: Maker, me: Maker) -> bool:
    """True if the process has certainly ended, as far as the process ``me`` can determine."""
    if UNKNOWN in (me.boot, me.namespace, me.start, maker.boot, maker.namespace, maker.start):
        return False
    if maker.boot != me.boot:  # an earlier boot of this machine, or another machine
        return maker.machine == me.machine != UNKNOWN
    return maker.namespace == me.namespace and _has_ended(maker.pid, maker.start)


def _has_ended(pid: int, start: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    found = process_start(pid)
    return bool(found) and found != start  # the ID was reused for another process


def _look_up(pid: int) -> Maker:
    if not _shows_this_namespace(pid):
        return Maker(pid, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)
    start = process_start(pid) or UNKNOWN
    boot = text_of(BOOT_ID).strip().replace("-", "")[:8].lower() or UNKNOWN
    return Maker(pid, start, str(os.stat(PID_NAMESPACE).st_ino), boot, _machine())


def _shows_this_namespace(pid: int) -> bool:
    """True if ``/proc`` has the processes of our namespace, by our IDs."""
    try:
        return os.readlink("/proc/self") == str(pid) and os.stat(PID_NAMESPACE).st_ino > 0
    except OSError:
        return False


def _machine() -> str:
    """A number computed from the machine ID, which should not be public, and the name: copied machines share
    IDs.
    """
    known = text_of(MACHINE_ID).strip()
    return f"{crc32(os.fsencode(known + os.uname().nodename)):08x}" if known else UNKNOWN
