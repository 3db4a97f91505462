"""A throw-away copy of this machine for one process and its children.

Processes, mounts, network, host name and files are its own: an overlay lies over ``/``, so that whatever is
written ends with the sandbox. Entering costs about ten milliseconds. What of the kernel belongs to no
namespace is kept from it: nobody inside may set the clock, load modules or boot, and settings outside of the
network cannot be written. Swap and loop devices cannot be kept from root; examples with them are not run.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import stat
import struct
from collections.abc import Sequence

NEWNS, NEWUTS, NEWIPC, NEWPID, NEWNET = 0x00020000, 0x04000000, 0x08000000, 0x20000000, 0x40000000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
READ_ONLY, AGAIN = 0x1, 0x20
PARENT_ENDS = 1  # PR_SET_PDEATHSIG
DROP, VERSION = 24, 0x20080522  # PR_CAPBSET_DROP, _LINUX_CAPABILITY_VERSION_3
FORBIDDEN = {"SYS_MODULE": 16, "SYS_RAWIO": 17, "SYS_BOOT": 22, "SYS_TIME": 25, "WAKE_ALARM": 35}
SET_FLAGS, UP = 0x8914, 0x1  # SIOCSIFFLAGS, IFF_UP
DEVICES = {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}  # all with the major number 1
LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    if _libc.unshare(flags):
        _complain("unshare")


def die_with_parent() -> None:
    _libc.prctl(PARENT_ENDS, signal.SIGKILL, 0, 0, 0)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    words = [word.encode() or None for word in (source, target, kind)]
    if _libc.mount(*words, flags, options.encode() or None):
        _complain(target)


def _complain(what: str) -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), what)


def hide(scratch: str) -> None:
    """Give this process mounts of its own, and an empty file system in memory at ``scratch``."""
    unshare(NEWNS)
    mount("", "/", flags=RECURSIVE | PRIVATE)
    mount("saltern-examples", scratch, "tmpfs", options="mode=755")


def enter(place: str, layers: Sequence[str], needed: Sequence[str]) -> None:
    """Make the copy below the empty directory ``place`` and go there.

    The process must be the first of its process namespace. ``layers`` lie over this machine, the uppermost
    first; what is written goes to ``place/upper``.
    """
    mount("", "/", flags=RECURSIVE | PRIVATE)
    root = os.path.join(place, "root")
    for name in ("upper", "work", "root"):
        os.mkdir(os.path.join(place, name))
    lower = ":".join([*layers, "/"])
    mount("overlay", root, "overlay", options=f"lowerdir={lower},upperdir={place}/upper,workdir={place}/work")
    for folder in _elsewhere(needed):
        mount(folder, root + folder, flags=BIND | RECURSIVE)
    mount("proc", root + "/proc", "proc")
    _settings(root + "/proc")
    mount("sysfs", root + "/sys", "sysfs", READ_ONLY)
    _devices(root + "/dev")
    os.chroot(root)
    os.chdir("/")
    _loopback()
    _forbid()


def _elsewhere(needed: Sequence[str]) -> list[str]:
    """Mounts that hold a needed directory: an overlay of ``/`` does not show them."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        points = {line.split(" ")[1] for line in file} - {"/"}
    return sorted(
        point
        for point in points
        if any(f"{os.path.realpath(one)}/".startswith(f"{point}/") for one in needed)
    )


def _settings(folder: str) -> None:
    """Of the kernel's, only those of the network are this sandbox's own."""
    for part in ("/sys/net", "/sys", "/sysrq-trigger"):
        if os.path.exists(folder + part):
            mount(folder + part, folder + part, flags=BIND | RECURSIVE)
    for part in ("/sys", "/sysrq-trigger"):
        if os.path.exists(folder + part):
            mount("", folder + part, flags=BIND | AGAIN | READ_ONLY)


def _forbid() -> None:
    """Take abilities from this process, and from every program that it starts."""
    header, sets = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    if _libc.capget(header, sets):
        _complain("capget")
    for number in FORBIDDEN.values():
        if _libc.prctl(DROP, number, 0, 0, 0):
            _complain("prctl")
        for kind in range(3):
            sets[number // 32 * 3 + kind] &= ~(1 << number % 32)
    if _libc.capset(header, sets):
        _complain("capset")


def _devices(folder: str) -> None:
    """A few devices of its own: what an example makes in /dev is not seen outside."""
    mount("tmpfs", folder, "tmpfs", options="mode=755")
    for name, minor in DEVICES.items():
        os.mknod(os.path.join(folder, name), stat.S_IFCHR | 0o666, os.makedev(1, minor))
        os.chmod(os.path.join(folder, name), 0o666)
    for name, target in LINKS.items():
        os.symlink(target, os.path.join(folder, name))
    for name in ("pts", "shm"):
        os.mkdir(os.path.join(folder, name))
    mount("devpts", os.path.join(folder, "pts"), "devpts", options="newinstance,ptmxmode=0666")
    mount("tmpfs", os.path.join(folder, "shm"), "tmpfs", options="mode=1777")


def _loopback() -> None:
    with socket.socket() as sock:
        fcntl.ioctl(sock, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
