"""Private temporary files and directories: removed afterwards, or by a later process if ours is killed.

A file for another user is in one of our directories, which that user can enter but not list: so the entry in
the shared directory is always our own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from saltern.system.leftovers import private_name, sweep_private

ROOMY = "/var/tmp"
NAMED_BY = ("TMPDIR", "TEMP", "TMP")
USUAL = ("/tmp", ROOMY, "/usr/tmp")
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
PASSABLE = 0o711


class NotGiven(OSError):
    """Only root may give a file to another user."""


Owner = tuple[int, int]  # the IDs of a user and of a group; -1: unchanged


def folder() -> str:
    """The directory for temporary files: the first configured or usual one that can be written to."""
    named = [os.environ[name] for name in NAMED_BY if os.environ.get(name)]
    for place in (*named, *USUAL):
        if os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK):
            return os.path.abspath(place)
    return os.getcwd()


def roomy_folder() -> str:
    """The directory for large data: that of the environment, or the usual one that is not in memory."""
    return os.environ.get("TMPDIR") or (ROOMY if os.path.isdir(ROOMY) else folder())


def sweep() -> None:
    """Remove files that killed processes have left in the directories for temporary files."""
    for place in {folder(), roomy_folder()}:
        sweep_private(place, again=True)


@contextmanager
def private_directory(kind: str, *, where: str = "", owner: Owner | None = None) -> Iterator[str]:
    """A new directory that only we, or its ``owner``, can enter; removed afterwards with its contents."""
    path = make_directory(kind, where=where)
    try:
        yield path if owner is None else _given_directory(path, owner)
    finally:
        remove(path)


@contextmanager
def private_file(
    kind: str,
    data: bytes = b"",
    *,
    suffix: str = "",
    mode: int = 0o600,
    where: str = "",
    owner: Owner | None = None,
) -> Iterator[str]:
    """A new file with this content that only we, or its ``owner``, may read; it is removed afterwards."""
    if owner is not None:
        with _passable_directory(kind, where) as above:
            path = os.path.join(above, f"{kind}{suffix}")
            _write(path, data, mode, owner)
            yield path
        return
    path = os.path.join(_place(where), private_name(kind, suffix))
    try:
        _write(path, data, mode)
        yield path
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)


def make_directory(kind: str, *, where: str = "") -> str:
    """A new private directory; the caller removes it with ``remove``."""
    path = os.path.join(_place(where), private_name(kind))
    os.mkdir(path, 0o700)
    return path


def remove(path: str) -> None:
    """Remove a private directory with its contents."""
    from shutil import rmtree

    rmtree(path, ignore_errors=True)


@contextmanager
def _passable_directory(kind: str, where: str) -> Iterator[str]:
    with private_directory(kind, where=where) as path:
        os.chmod(path, PASSABLE)
        yield path


def _given_directory(above: str, owner: Owner) -> str:
    path = os.path.join(above, "private")
    os.mkdir(path, 0o700)
    _give(path, owner)
    os.chmod(above, PASSABLE)
    return path


def _write(path: str, data: bytes, mode: int, owner: Owner | None = None) -> None:
    with os.fdopen(os.open(path, NEW, 0o600), "wb") as file:
        file.write(data)
        if owner is not None:
            _give(file.fileno(), owner)
        os.fchmod(file.fileno(), mode)


def _give(file: str | int, owner: Owner) -> None:
    try:
        os.chown(file, *owner)
    except PermissionError as problem:
        raise NotGiven(*problem.args) from None


def _place(where: str) -> str:
    place = os.path.abspath(where) if where else folder()
    sweep_private(place)
    return place
