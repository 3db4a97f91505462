"""Open files that a run depends on: plain files alone; a pipe blocks its reader, a device has no end."""

from __future__ import annotations

import errno
import os
import stat

KEEP = os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
# How the kernel refuses to open a link, a socket, a pipe without a reader, a device, a directory.
REFUSALS = (errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR)


class NotRegular(OSError):
    """There is something of that name: a link, a pipe, a socket, a device or a directory."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EINVAL, "it is not a plain file", path)


def open_regular(path: str, flags: int = os.O_RDONLY, *, follow: bool = False) -> int:
    """The handle of a file. Raises ``NotRegular`` for anything else, and ``OSError``.

    The handle is judged, so what is put there meanwhile makes no difference; nothing is cut off before that.
    A link is refused, too, unless ``follow``: for files that a user names.
    """
    try:
        keep = KEEP if follow else KEEP | os.O_NOFOLLOW
        file = os.open(path, (flags & ~os.O_TRUNC) | keep, 0o600)
    except OSError as problem:
        if problem.errno in REFUSALS and is_other(path):
            raise NotRegular(path) from None
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise NotRegular(path)
    if flags & os.O_TRUNC:
        os.ftruncate(file, 0)
    return file


def read_regular(path: str, most: int = -1, *, follow: bool = False) -> bytes:
    """What is in the file, or its first ``most`` bytes. Raises as ``open_regular``."""
    with os.fdopen(open_regular(path, follow=follow), "rb") as file:
        return file.read(most)


def is_other(path: str) -> bool:
    """True if there is something of that name which is no regular file; a link is none, wherever it leads."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
