"""Removes files that killed processes have left: those beside files that they were to replace, and private
ones.

Their names contain the process that made them, see ``system.maker``. Only our own files of processes that
have ended are removed, and never through a link: other users may create names in a directory as well.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from saltern.system import maker

MARK = "saltern"
BESIDE = re.compile(rf"\..*\.{MARK}-({maker.PATTERN})-[0-9a-f]{{12}}")
PRIVATE = re.compile(rf"{MARK}-[a-z]+-({maker.PATTERN})-[0-9a-f]{{12}}")
LONGEST = 120  # bytes of a name that are part of its temporary name
OPEN_TO_OTHERS = 0o066  # mode bits that private files never have

_swept: set[tuple[int, int]] = set()  # directories that this process has checked


def temporary_name(name: str, suffix: str = "") -> str:
    """A hidden name beside ``name``, with the word of this process."""
    begin = os.fsencode(name)[:LONGEST].decode("utf-8", "ignore")
    return f".{begin}.{MARK}-{maker.this_process().word}-{os.urandom(6).hex()}{suffix}"


def private_name(kind: str, suffix: str = "") -> str:
    """A name for a private file of this process; ``kind`` is one word in lower case."""
    return f"{MARK}-{kind}-{maker.this_process().word}-{os.urandom(6).hex()}{suffix}"


def sweep(directory: int) -> None:
    """Remove temporary files that were to replace others in a directory; each directory is checked once."""
    if _is_first(directory):
        for name in _leftover_names(directory, BESIDE):
            _remove_ours(name, directory, _unlink)


def sweep_folder(folder: str) -> None:
    """The same for a directory by its name; one that cannot be opened is skipped."""
    with suppress(OSError), _open_directory(folder) as directory:
        sweep(directory)


def sweep_private(folder: str, *, again: bool = False) -> None:
    """Remove private files and directories in ``folder`` that no process uses any more.

    This is done once, unless ``again`` is set: new ones may have been left since.
    """
    with suppress(OSError), _open_directory(folder) as directory:
        if not (_is_first(directory) or again):
            return
        left = _leftover_names(directory, PRIVATE)
        used = names_in_use(left) if left else set()
        for name in left:
            if name not in used:
                _remove_ours(name, directory, _remove_private)


def names_in_use(names: Iterable[str]) -> set[str]:
    """The names that a process has in its command line, environment, directory or open files.

    A program that a killed process has started may still need its files.
    """
    wanted = {name: os.fsencode(name) for name in names}
    found: set[str] = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) != os.getpid():
            held = b"\0".join(_held_names(f"/proc/{pid}"))
            found |= {name for name, word in wanted.items() if word in held}
    return found


def _held_names(process: str) -> Iterator[bytes]:
    """Texts that may contain names of files that the process uses, as far as we may read them."""
    for part in ("cmdline", "environ"):
        with suppress(OSError), open(f"{process}/{part}", "rb") as file:
            yield file.read()
    links = [f"{process}/{part}" for part in ("cwd", "root", "exe")]
    with suppress(OSError):
        links += [f"{process}/fd/{number}" for number in os.listdir(f"{process}/fd")]
    for link in links:
        with suppress(OSError):
            yield os.fsencode(os.readlink(link))


def _is_first(directory: int) -> bool:
    here = os.fstat(directory)
    key = (here.st_dev, here.st_ino)
    is_new = key not in _swept
    _swept.add(key)
    return is_new


@contextmanager
def _open_directory(path: str, directory: int | None = None) -> Iterator[int]:
    """A handle on a directory; links below another directory are not followed."""
    follow = os.O_NOFOLLOW if directory is not None else 0
    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | follow, dir_fd=directory)
    try:
        yield file
    finally:
        os.close(file)


def _leftover_names(directory: int, pattern: re.Pattern[str]) -> list[str]:
    """The names in a directory whose makers have ended."""
    me = maker.this_process()
    return [
        name
        for name in _names(directory)
        if (found := pattern.match(name)) and maker.is_gone(maker.parse(found[1]), me)
    ]


def _names(directory: int) -> list[str]:
    try:
        with _open_directory(".", directory) as file:
            return os.listdir(file)
    except OSError:
        return []  # one that we may write to, but not read


def _remove_ours(name: str, directory: int, remove: Callable[[str, int, os.stat_result], None]) -> None:
    with suppress(OSError):  # removed meanwhile, or not permitted
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if found.st_uid == os.geteuid():
            remove(name, directory, found)


def _unlink(name: str, directory: int, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):
        os.unlink(name, dir_fd=directory)


def _remove_private(name: str, directory: int, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        _remove_directory(name, directory)
    elif stat.S_ISREG(found.st_mode) and not found.st_mode & OPEN_TO_OTHERS:
        os.unlink(name, dir_fd=directory)


def _remove_directory(name: str, directory: int) -> None:
    """Remove a directory, after checking through its handle that it is private and ours."""
    from shutil import rmtree

    with _open_directory(name, directory) as file:
        found = os.fstat(file)
        if found.st_uid != os.geteuid() or found.st_mode & OPEN_TO_OTHERS:
            return
        for one in os.listdir(file):
            if stat.S_ISDIR(os.stat(one, dir_fd=file, follow_symlinks=False).st_mode):
                rmtree(one, ignore_errors=True, dir_fd=file)
            else:
                os.unlink(one, dir_fd=file)
    os.rmdir(name, dir_fd=directory)
