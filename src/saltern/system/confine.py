"""Makes the kernel restrict this process from now on, as a second barrier against untrusted input.

The layers are independent, and one that the kernel does not support is left out: a new network namespace (and
one of users, if we are not root), no new privileges, limits, Landlock for files, and a filter for system
calls. ``guard`` does not depend on any of them.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
from collections.abc import Callable, Iterable

MEMORY = 2 * 1024**3  # bytes of addresses
PROCESSOR = 180  # seconds
FILES = 128  # open at once
# Where compiled parts of Python find the libraries they are linked with.
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/dev/null")

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_SET_DUMPABLE = 38, 22, 4
_NEWUTS, _NEWIPC, _NEWUSER, _NEWNET = 0x04000000, 0x08000000, 0x10000000, 0x40000000
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIRECTORY = 1 << 2, 1 << 3
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}  # by version of Landlock
_ALL_RIGHTS = (1 << 16) - 1
_TCP = 0b11  # bind and connect
_SCOPES = 0b11  # abstract sockets and signals

# System calls that a check never needs, by their numbers on x86-64 and on arm64 (None: there is no such
# call).
_CALLS: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "connect": (42, 203),
    "accept": (43, 202),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "bind": (49, 200),
    "listen": (50, 201),
    "socketpair": (53, 199),
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "sendmmsg": (307, 269),
    "accept4": (288, 242),
    "rename": (82, None),
    "mkdir": (83, None),
    "rmdir": (84, None),
    "creat": (85, None),
    "link": (86, None),
    "unlink": (87, None),
    "symlink": (88, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "mknod": (133, None),
    "truncate": (76, 45),
    "mkdirat": (258, 34),
    "mknodat": (259, 33),
    "fchownat": (260, 54),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
    "fchmodat": (268, 53),
    "renameat2": (316, 276),
    "fchmodat2": (452, 452),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "utimensat": (280, 88),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone3": (435, 435),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setgroups": (116, 159),
    "setresuid": (117, 147),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "msgget": (68, 186),
    "shmget": (29, 194),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "ioperm": (173, None),
}
_CLONE, _CLONE_THREAD = (56, 220), 0x00010000
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of _CALLS, audit number


def confine(places: Iterable[str], *, memory: int = MEMORY) -> tuple[str, ...]:
    """Give up all rights that a check does not need; ``places`` stay readable. Return the names of the active
    layers.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    readable = (*places, *LIBRARIES)
    layers: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("namespaces", lambda: _namespaces(libc)),
        ("limits", lambda: _limits(memory)),
        ("privileges", lambda: libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0),
        ("landlock", lambda: _landlock(libc, readable)),
        ("seccomp", lambda: _filter(libc)),
    )
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    return tuple(name for name, raise_it in layers if _tried(raise_it))


def _tried(layer: Callable[[], bool]) -> bool:
    try:
        return layer()
    except (OSError, ValueError, AttributeError):
        return False


def _namespaces(libc: ctypes.CDLL) -> bool:
    """Enter new namespaces. Root needs no user namespace for that, and keeps the right to read files of
    others.
    """
    users = 0 if os.geteuid() == 0 else _NEWUSER
    return bool(libc.unshare(users | _NEWNET | _NEWIPC | _NEWUTS) == 0)


def _limits(memory: int) -> bool:
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, PROCESSOR),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_NPROC, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))
    return True


# -- Landlock ------------------------------------------------------------------------------------------------


def _landlock(libc: ctypes.CDLL, readable: Iterable[str]) -> bool:
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    words = [_RIGHTS.get(version, _ALL_RIGHTS)]
    words += [_TCP] if version >= 4 else []
    words += [_SCOPES] if version >= 6 else []
    rules = struct.pack(f"={len(words)}Q", *words)
    ruleset = libc.syscall(_LANDLOCK_CREATE, rules, ctypes.c_size_t(len(rules)), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        for place in readable:
            _allow(libc, ruleset, place)
        return bool(libc.syscall(_LANDLOCK_RESTRICT, ruleset, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, place: str) -> None:
    try:
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a missing path need not be readable
    try:
        rights = _READ_FILE | (_READ_DIRECTORY if os.path.isdir(place) else 0)
        rule = struct.pack("=Qi", rights, handle)
        libc.syscall(_LANDLOCK_ADD, ruleset, 1, rule, ctypes.c_uint32(0))
    finally:
        os.close(handle)


# -- system calls --------------------------------------------------------------------------------------------


def _filter(libc: ctypes.CDLL) -> bool:
    """Make the system calls of the table fail with EPERM; the process may have threads, but no children."""
    known = _MACHINES.get(platform.machine())
    if known is None or struct.calcsize("P") != 8:
        return False
    program = filter_program(*known)
    code = b"".join(struct.pack("=HBBI", *row) for row in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    return bool(libc.prctl(_PR_SET_SECCOMP, 2, ctypes.create_string_buffer(header, len(header)), 0, 0) == 0)


def filter_program(column: int, machine: int) -> list[tuple[int, int, int, int]]:
    """The rows of a classic BPF program: code, jump if true, jump if false, value."""
    load, equal, at_least, any_bit, end = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, deny, missing, stop = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
    numbers = [one[column] for name, one in _CALLS.items() if name != "clone3" and one[column] is not None]
    rows = [(load, 0, 0, 4), (equal, 1, 0, machine), (end, 0, 0, stop), (load, 0, 0, 0)]
    rows += [(at_least, 0, 1, 0x40000000), (end, 0, 0, stop)]  # the x32 calls have other numbers
    rows += [(equal, 0, 1, _CALLS["clone3"][column] or 0), (end, 0, 0, missing)]  # then clone is used
    for number in numbers:
        rows += [(equal, 0, 1, number or 0), (end, 0, 0, deny)]
    rows += [(equal, 0, 4, _CLONE[column]), (load, 0, 0, 16), (any_bit, 1, 0, _CLONE_THREAD)]
    rows += [(end, 0, 0, deny), (end, 0, 0, allow), (end, 0, 0, allow)]
    return rows
