"""Writes the output of a command to a file of any kind (``-o FILE``).

A regular file is replaced atomically. A pipe, a terminal, ``/dev/null`` or ``/dev/stdout`` is written to; a
disk, a socket and a directory are refused.
"""

from __future__ import annotations

import os
import stat

from saltern.language.diagnostics import Diagnostic, OperationError

PRIVATE = 0o600
_REFUSED = {
    stat.S_IFDIR: "it is a directory",
    stat.S_IFBLK: "it is a disk, which would be overwritten",
    stat.S_IFSOCK: "it is a socket",
}


def write_output(path: str, data: bytes, *, mode: int = PRIVATE) -> None:
    """Write the data; a new file gets ``mode``. Raises ``OperationError``."""
    try:
        _put(path, data, mode)
    except (OSError, ValueError) as problem:
        raise _unwritable(path, getattr(problem, "strerror", None) or str(problem)) from None


def _put(path: str, data: bytes, mode: int) -> None:
    place = os.path.abspath(path)
    try:
        found = os.stat(place)
    except FileNotFoundError:
        _check_parent(path, place)
        _replace(place, data, mode)
        return
    kind = stat.S_IFMT(found.st_mode)
    if kind in _REFUSED:
        raise _unwritable(path, _REFUSED[kind])
    if kind != stat.S_IFREG or _is_handle(place):
        _write_into(place, data)
    else:
        _replace(place, data, mode)


def _is_handle(place: str) -> bool:
    """True for ``/dev/stdout`` and the like, which name a file that is already open and is written to."""
    folder = os.path.realpath(os.path.dirname(place))
    if os.path.islink(place):
        folder = os.path.realpath(os.path.join(folder, os.path.dirname(os.readlink(place))))
    return folder == "/proc" or folder.startswith("/proc/")


def _write_into(place: str, data: bytes) -> None:
    handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def _replace(place: str, data: bytes, mode: int) -> None:
    from saltern.system import files

    files.write(place, data, files.Attributes(mode=mode))


def _check_parent(path: str, place: str) -> None:
    folder = os.path.dirname(place)
    if os.path.islink(place):
        raise _unwritable(path, f"it is a link to {os.readlink(place)!r}, which does not exist")
    if not os.path.isdir(folder):
        raise _unwritable(
            path, f"the directory {folder!r} does not exist", fix=f"make it first: mkdir -p {folder}"
        )


def _unwritable(path: str, why: str, fix: str = "") -> OperationError:
    what = f"{path!r} cannot be written: {why}"
    return OperationError(Diagnostic(code="output-unwritable", what=what, fix=fix))
