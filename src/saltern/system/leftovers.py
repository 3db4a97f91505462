"""Temporary files: their names say who made them, so that what a killed process left can be removed."""

from __future__ import annotations

import os
import re
import stat

MARK = "saltern"
LEFT = re.compile(rf"\..*\.{MARK}-(\d+)-[0-9a-f]{{12}}")
STAGED = re.compile(rf"{MARK}-(\d+)-")

_swept: set[tuple[int, int]] = set()  # directories this process has looked through


def temporary_name(name: str, suffix: str = "") -> str:
    """A hidden name beside ``name``, of this process."""
    return f".{name[:160]}.{MARK}-{os.getpid()}-{os.urandom(6).hex()}{suffix}"


def staging_prefix() -> str:
    """How the name of a temporary directory of this process begins."""
    return f"{MARK}-{os.getpid()}-"


def sweep(directory: int) -> None:
    """Remove temporary files that processes which are no more have left in a directory; looked at once."""
    here = os.fstat(directory)
    key = (here.st_dev, here.st_ino)
    if key in _swept:
        return
    _swept.add(key)
    for name in _listed(directory):
        found = LEFT.match(name)
        if found and is_gone(int(found[1])):
            _unlink(name, directory)


def _listed(directory: int) -> list[str]:
    try:
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return []  # one we may write to, but not read
    try:
        return os.listdir(fd)
    finally:
        os.close(fd)


def _unlink(name: str, directory: int) -> None:
    """Only our own, and no directory."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if found.st_uid == os.geteuid() and not stat.S_ISDIR(found.st_mode):
            os.unlink(name, dir_fd=directory)
    except OSError:
        pass  # gone meanwhile, or not ours to remove


def sweep_staging(place: str) -> None:
    """Remove temporary directories that processes which are no more have left in ``place``."""
    from shutil import rmtree

    for name in os.listdir(place):
        found = STAGED.match(name)
        path = os.path.join(place, name)
        if found and is_gone(int(found[1])) and os.lstat(path).st_uid == os.geteuid():
            rmtree(path, ignore_errors=True)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
