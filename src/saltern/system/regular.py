"""Opens files that a run depends on: only plain files, since a pipe blocks its reader and a device has no
end.
"""

from __future__ import annotations

import errno
import os
import stat

KEEP = os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
# Errors of the kernel for opening a link, a socket, a pipe without a reader, a device or a directory.
REFUSALS = (errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR)


class NotRegular(OSError):
    """The path exists, but is a link, a pipe, a socket, a device or a directory."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EINVAL, "it is not a plain file", path)


def open_regular(path: str, flags: int = os.O_RDONLY, *, follow: bool = False) -> int:
    """The handle of a file. Raises ``NotRegular`` for anything else, and ``OSError``.

    The open handle is checked, so replacing the file meanwhile makes no difference; the file is truncated
    only after that. A link is refused, too, unless ``follow`` is set, which is for files that a user names.
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
    """The content of the file, or its first ``most`` bytes. Raises like ``open_regular``."""
    with os.fdopen(open_regular(path, follow=follow), "rb") as file:
        return file.read(most)


def is_other(path: str) -> bool:
    """True if the path exists but is not a regular file; a link never is."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
