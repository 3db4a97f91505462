"""A repository that does not fit on the disk: reported as such, not as an unreadable remote."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from saltern.language.diagnostics import Diagnostic, OperationError

LEAST = 64 * 1024  # bytes; git does not always say why it could not write
SAID = ("No space left on device", "Disk quota exceeded")
NUMBERS = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def reported_if_full(directory: str, shown: str) -> Iterator[None]:
    """Report a failure as a full disk if the disk of ``directory`` is full. ``shown`` is the remote."""
    try:
        yield
    except OSError as problem:
        if problem.errno not in NUMBERS:
            raise
        raise _full(directory, shown) from None
    except OperationError as problem:
        if problem.diagnostics[0].code == "git-disk-full":
            raise
        said = " ".join(one.what for one in problem.diagnostics)
        if not any(words in said for words in SAID) and _free(directory) >= LEAST:
            raise
        raise _full(directory, shown) from None


def _free(directory: str) -> int:
    """Bytes that this user may still write below a directory, which may not exist yet."""
    while directory and not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    found = os.statvfs(directory or ".")
    return found.f_bavail * found.f_frsize


def _full(directory: str, shown: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="git-disk-full",
            what=f"{shown} does not fit on the disk: {directory} has no room for it",
            fix="free space there, or set `cachedir` to a directory on a larger disk",
        )
    )
