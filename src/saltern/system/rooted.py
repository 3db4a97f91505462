"""A directory that is held open: its contents are read and changed, and nothing outside of it.

``system.descent`` walks its names with handles, so that no link can lead a write elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable

from saltern.system.descent import Descent, Outside
from saltern.system.files import KEPT, Attributes, settle_new, usual_mode
from saltern.system.leftovers import sweep, temporary_name

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def link_leads_out(target: str, depth: int) -> bool:
    """True if a link, in a directory this many levels below the top, can lead out of the top.

    ``..`` is only allowed at the beginning: after a name that is a link, it would mean another directory.
    """
    parts = [part for part in target.split("/") if part not in ("", ".")]
    up = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
    return target.startswith("/") or up > depth or ".." in parts[up:]


class Rooted:
    """``with Rooted(path) as tree``: the directory must exist. Names are relative and have no ``..``."""

    def __init__(self, path: str) -> None:
        self._walk = Descent(path)
        self.path = self._walk.path

    def __enter__(self) -> Rooted:
        return self

    def __exit__(self, *_: object) -> None:
        self._walk.close()

    def handle(self) -> int:
        """The open directory itself."""
        return self._walk.enter("", None)

    # -- reading and changing ------------------------------------------------------------------

    def look(self, name: str) -> os.stat_result | None:
        """The status of a name, or None. A link in its last part is not followed."""
        try:
            with self._walk.parent(name) as (directory, last):
                return os.stat(last, dir_fd=directory, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_directory(self, name: str) -> bool:
        """True if the name is a directory, or a link to one below the top."""
        try:
            self._walk.enter(name, None)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def target(self, name: str) -> str:
        with self._walk.parent(name) as (directory, last):
            return os.readlink(last, dir_fd=directory)

    def open(self, name: str, flags: int = OLD) -> int:
        """A handle on a file or directory, which must not be a link."""
        with self._walk.parent(name) as (directory, last):
            return os.open(last, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)

    def names(self, name: str = "") -> list[str]:
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._walk.enter(name, None))
        try:
            return sorted(os.listdir(fd))
        finally:
            os.close(fd)

    def remove(self, name: str) -> None:
        """Remove a file, a link, or a directory with its content."""
        from shutil import rmtree

        with self._walk.parent(name) as (directory, last):
            if stat.S_ISDIR(os.stat(last, dir_fd=directory, follow_symlinks=False).st_mode):
                rmtree(last, dir_fd=directory)
            else:
                os.unlink(last, dir_fd=directory)
        self._walk.restart()

    def set_owner(self, name: str, owner: Attributes) -> None:
        with self._walk.parent(name) as (directory, last):
            _own(last, directory, owner)

    # -- making --------------------------------------------------------------------------------

    def directory(self, name: str, attributes: Attributes = KEPT, above: Attributes = KEPT) -> None:
        """Make a directory unless it exists; parents get the attributes ``above``."""
        with self._walk.parent(name, above):
            self._walk.enter(name, attributes)

    def file(
        self,
        name: str,
        blocks: Iterable[bytes],
        attributes: Attributes = KEPT,
        *,
        time: int | None = None,
        above: Attributes = KEPT,
    ) -> None:
        """Write a file atomically, replacing a file or a link."""

        def fill(temporary: str, directory: int) -> None:
            fd = os.open(temporary, NEW, 0o600, dir_fd=directory)
            with os.fdopen(fd, "wb", buffering=0) as file:
                for block in blocks:
                    left = memoryview(block)
                    while left:
                        left = left[file.write(left) :]
                settle_new(fd, attributes, usual_mode())
                if time is not None:
                    os.utime(fd, (time, time))

        _replace(self._walk, name, fill, above)

    def link(
        self,
        name: str,
        target: str,
        owner: Attributes = KEPT,
        above: Attributes = KEPT,
        *,
        anywhere: bool = False,
    ) -> None:
        """Make a symbolic link. Raises if it could lead out of the top, unless that is allowed."""

        def make(temporary: str, directory: int) -> None:
            if not anywhere and link_leads_out(target, self._walk.depth):
                raise Outside(self._walk.full_path(name), f"is a link that leads out, to {target!r}")
            os.symlink(target, temporary, dir_fd=directory)
            _own(temporary, directory, owner)

        _replace(self._walk, name, make, above)

    def hard_link(self, name: str, target: str, above: Attributes = KEPT) -> None:
        """Make a hard link to a regular file below the top."""
        with self._walk.parent(target) as (directory, last):
            found = os.open(last, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
        try:
            if not stat.S_ISREG(os.fstat(found).st_mode):
                raise Outside(
                    self._walk.full_path(target), "is not a file, so there can be no hard link to it"
                )
            _replace(
                self._walk,
                name,
                lambda new, into: os.link(f"/proc/self/fd/{found}", new, dst_dir_fd=into),
                above,
            )
        finally:
            os.close(found)


def move_content(source: Rooted, into: Rooted) -> None:
    """Move the contents of one directory to another: by renaming, or by copying from another file system."""
    for name in source.names():
        try:
            os.rename(name, name, src_dir_fd=source.handle(), dst_dir_fd=into.handle())
        except OSError as problem:
            if problem.errno != errno.EXDEV:
                raise
            _copy(source, into, name)


def _copy(source: Rooted, into: Rooted, name: str) -> None:
    found = source.look(name)
    if found is None:
        return
    kept = Attributes(stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid)
    if stat.S_ISLNK(found.st_mode):
        into.link(name, source.target(name), kept, anywhere=True)
    elif stat.S_ISDIR(found.st_mode):
        into.directory(name, kept)
        for one in source.names(name):
            _copy(source, into, f"{name}/{one}")
    elif stat.S_ISREG(found.st_mode):
        with os.fdopen(source.open(name), "rb") as file:
            into.file(name, iter(lambda: file.read(1 << 18), b""), kept, time=int(found.st_mtime))


def _replace(walk: Descent, name: str, make: Callable[[str, int], None], above: Attributes) -> None:
    """Make a file under a temporary name beside ``name``, and rename it in one step."""
    with walk.parent(name, above) as (directory, last):
        sweep(directory)
        temporary = temporary_name(last)
        try:
            make(temporary, directory)
            os.replace(temporary, last, src_dir_fd=directory, dst_dir_fd=directory)
        finally:
            try:
                os.unlink(temporary, dir_fd=directory)
            except FileNotFoundError:
                pass


def _own(name: str, directory: int, owner: Attributes) -> None:
    if owner.uid is not None or owner.gid is not None:
        os.chown(name, _or_same(owner.uid), _or_same(owner.gid), dir_fd=directory, follow_symlinks=False)


def _or_same(number: int | None) -> int:
    return -1 if number is None else number
