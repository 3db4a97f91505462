"""A directory held open: everything in it is reached one step at a time, and nothing outside of it.

Names are walked with handles. A link on the way is read and walked by hand, below the directory only, so
that neither a link in an archive nor another user who exchanges names meanwhile can lead a write elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from saltern.system.files import KEPT, Attributes, new_directory, settle_new, usual_mode
from saltern.system.leftovers import sweep, temporary_name
from saltern.system.paths import MOST_LINKS, STEP, open_directory, settle

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Outside(OSError):
    """A name, or a link on the way to it, leads out of the directory."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(errno.EXDEV, why, path)


def link_leads_out(target: str, depth: int) -> bool:
    """Whether a link, in a directory so many levels below the top, can lead out of the top.

    ``..`` is allowed at the beginning only: behind a name it means another place when the name is a link.
    """
    parts = [part for part in target.split("/") if part not in ("", ".")]
    up = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
    return target.startswith("/") or up > depth or ".." in parts[up:]


class Rooted:
    """``with Rooted(path) as tree``: the directory must exist. Names are relative and have no ``..``."""

    def __init__(self, path: str) -> None:
        self.path = settle(path)
        self._stack = [open_directory(self.path)]
        self._at = ""

    def __enter__(self) -> Rooted:
        return self

    def __exit__(self, *_: object) -> None:
        self._back_to(0)

    def _back_to(self, length: int) -> None:
        while len(self._stack) > length:
            os.close(self._stack.pop())

    # -- walking -------------------------------------------------------------------------------

    def _enter(self, name: str, make: Attributes | None) -> int:
        """A handle on the directory called ``name``, which stays ours; what is missing may be made."""
        if name == self._at:
            return self._stack[-1]
        if name.startswith("/") or ".." in name.split("/"):
            raise Outside(self._full(name), f"is not a name below {self.path}")
        self._back_to(1)
        self._at = "\0"  # no name, should the walk break off
        todo = name.split("/")[::-1]
        links = 0
        while todo:
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                self._up(name)
                continue
            target = self._step(part, make)
            if target is not None:
                links += 1
                if links > MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self._full(name))
                todo += self._below_top(name, target).split("/")[::-1]
        self._at = name
        return self._stack[-1]

    def _up(self, name: str) -> None:
        if len(self._stack) == 1:
            raise Outside(
                self._full(name), f"would land outside of {self.path}, since a link there leads out"
            )
        os.close(self._stack.pop())

    def _step(self, part: str, make: Attributes | None) -> str | None:
        """Go one directory down; or, if ``part`` is a link, stay and return its target."""
        here = self._stack[-1]
        try:
            self._stack.append(os.open(part, STEP, dir_fd=here))
        except FileNotFoundError:
            if make is None:
                raise
            new_directory(here, part, make)
            self._stack.append(os.open(part, STEP, dir_fd=here))
        except OSError as problem:
            if problem.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            try:
                return os.readlink(part, dir_fd=here)
            except OSError:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), part) from None
        return None

    def _below_top(self, name: str, target: str) -> str:
        """What to walk for a link; an absolute one begins anew at the top, if it leads below it."""
        if not target.startswith("/"):
            return target
        top = self.path.rstrip("/") + "/"
        if not f"{target}/".startswith(top):
            raise Outside(
                self._full(name), f"would land outside of {self.path}, since a link there leads to {target}"
            )
        self._back_to(1)
        return target[len(top) :]

    def _full(self, name: str) -> str:
        return os.path.join(self.path, name)

    @contextmanager
    def _parent(self, name: str, make: Attributes | None = None) -> Iterator[tuple[int, str]]:
        """Handle and last part, with the whole path in what the system refuses."""
        parent, _, last = name.rpartition("/")
        if last in ("", ".", ".."):
            raise Outside(self._full(name), f"is not a name below {self.path}")
        try:
            yield self._enter(parent, make), last
        except Outside:
            raise
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, self._full(name)) from None

    # -- looking and changing ------------------------------------------------------------------

    def look(self, name: str) -> os.stat_result | None:
        """What is there, or None. The last part is not followed."""
        try:
            with self._parent(name) as (directory, last):
                return os.stat(last, dir_fd=directory, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_directory(self, name: str) -> bool:
        """Whether a directory is there, or a link to one below the top."""
        try:
            self._enter(name, None)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def target(self, name: str) -> str:
        with self._parent(name) as (directory, last):
            return os.readlink(last, dir_fd=directory)

    def open(self, name: str, flags: int = OLD) -> int:
        """A handle on what is there, which must not be a link."""
        with self._parent(name) as (directory, last):
            return os.open(last, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)

    def names(self, name: str = "") -> list[str]:
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._enter(name, None))
        try:
            return sorted(os.listdir(fd))
        finally:
            os.close(fd)

    def remove(self, name: str) -> None:
        """A file, a link, or a directory with all it holds."""
        from shutil import rmtree

        with self._parent(name) as (directory, last):
            if stat.S_ISDIR(os.stat(last, dir_fd=directory, follow_symlinks=False).st_mode):
                rmtree(last, dir_fd=directory)
            else:
                os.unlink(last, dir_fd=directory)
        self._back_to(1)
        self._at = ""

    def set_owner(self, name: str, owner: Attributes) -> None:
        with self._parent(name) as (directory, last):
            _own(last, directory, owner)

    # -- making --------------------------------------------------------------------------------

    def directory(self, name: str, attributes: Attributes = KEPT, above: Attributes = KEPT) -> None:
        """Make it unless it is there; those above it are made as ``above`` says."""
        with self._parent(name, above):
            self._enter(name, attributes)

    def file(
        self,
        name: str,
        blocks: Iterable[bytes],
        attributes: Attributes = KEPT,
        *,
        time: int | None = None,
        above: Attributes = KEPT,
    ) -> None:
        """Write a file whole, in place of a file or a link; nobody sees a part of it."""

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

        self._replace(name, fill, above)

    def link(
        self,
        name: str,
        target: str,
        owner: Attributes = KEPT,
        above: Attributes = KEPT,
        *,
        anywhere: bool = False,
    ) -> None:
        """Make a symbolic link, unless it could lead out of the top and may not."""

        def make(temporary: str, directory: int) -> None:
            if not anywhere and link_leads_out(target, len(self._stack) - 1):
                raise Outside(self._full(name), f"is a link that leads out, to {target!r}")
            os.symlink(target, temporary, dir_fd=directory)
            _own(temporary, directory, owner)

        self._replace(name, make, above)

    def hard_link(self, name: str, target: str, above: Attributes = KEPT) -> None:
        """Another name of a regular file below the top."""
        with self._parent(target) as (directory, last):
            found = os.open(last, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
        try:
            if not stat.S_ISREG(os.fstat(found).st_mode):
                raise Outside(self._full(target), "is not a file, so there can be no hard link to it")
            self._replace(
                name, lambda new, into: os.link(f"/proc/self/fd/{found}", new, dst_dir_fd=into), above
            )
        finally:
            os.close(found)

    def take(self, source: Rooted) -> None:
        """Move all that is in another directory here: renamed, or copied from another file system."""
        for name in source.names():
            try:
                os.rename(name, name, src_dir_fd=source._enter("", None), dst_dir_fd=self._enter("", None))
            except OSError as problem:
                if problem.errno != errno.EXDEV:
                    raise
                self._copy(source, name)

    def _copy(self, source: Rooted, name: str) -> None:
        found = source.look(name)
        if found is None:
            return
        kept = Attributes(stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid)
        if stat.S_ISLNK(found.st_mode):
            self.link(name, source.target(name), kept, anywhere=True)
        elif stat.S_ISDIR(found.st_mode):
            self.directory(name, kept)
            for one in source.names(name):
                self._copy(source, f"{name}/{one}")
        elif stat.S_ISREG(found.st_mode):
            with os.fdopen(source.open(name), "rb") as file:
                self.file(name, iter(lambda: file.read(1 << 18), b""), kept, time=int(found.st_mtime))

    def _replace(self, name: str, make: Callable[[str, int], None], above: Attributes) -> None:
        with self._parent(name, above) as (directory, last):
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
