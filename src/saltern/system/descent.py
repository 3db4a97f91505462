"""Walks from a directory to one below it, by handles, one step at a time.

Links on the way are read and followed here, and only below the directory, so that neither a link in an
archive nor another user who renames directories meanwhile can redirect a write.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from saltern.system.files import Attributes, new_directory
from saltern.system.paths import MOST_LINKS, STEP, open_directory, settle


class Outside(OSError):
    """A name, or a link on the way to it, leads out of the directory."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(errno.EXDEV, why, path)


class Descent:
    """The open handles from a top directory, which must exist, to the directory that was entered last."""

    def __init__(self, path: str) -> None:
        self.path = settle(path)
        self._stack = [open_directory(self.path)]
        self._at = ""

    @property
    def depth(self) -> int:
        """The number of levels below the top."""
        return len(self._stack) - 1

    def close(self) -> None:
        """Close every handle, including that of the top."""
        self._back_to(0)

    def restart(self) -> None:
        """Go back to the top, since directories below it may be gone."""
        self._back_to(1)
        self._at = ""

    def _back_to(self, length: int) -> None:
        while len(self._stack) > length:
            os.close(self._stack.pop())

    def enter(self, name: str, make: Attributes | None) -> int:
        """A handle on the directory ``name``, which the next walk closes; ``make``: create missing
        directories.
        """
        if name == self._at:
            return self._stack[-1]
        if name.startswith("/") or ".." in name.split("/"):
            raise Outside(self.full_path(name), f"is not a name below {self.path}")
        self._back_to(1)
        self._at = "\0"  # no name, in case the walk fails
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
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self.full_path(name))
                todo += self._below_top(name, target).split("/")[::-1]
        self._at = name
        return self._stack[-1]

    def _up(self, name: str) -> None:
        if len(self._stack) == 1:
            raise Outside(
                self.full_path(name), f"would land outside of {self.path}, since a link there leads out"
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
        """The path to walk for a link; an absolute one that leads below the top begins there again."""
        if not target.startswith("/"):
            return target
        top = self.path.rstrip("/") + "/"
        if not f"{target}/".startswith(top):
            raise Outside(
                self.full_path(name),
                f"would land outside of {self.path}, since a link there leads to {target}",
            )
        self._back_to(1)
        return target[len(top) :]

    def full_path(self, name: str) -> str:
        return os.path.join(self.path, name)

    @contextmanager
    def parent(self, name: str, make: Attributes | None = None) -> Iterator[tuple[int, str]]:
        """The handle of the directory that contains ``name``, and the last part of the name; errors have the
        whole path.
        """
        parent, _, last = name.rpartition("/")
        if last in ("", ".", ".."):
            raise Outside(self.full_path(name), f"is not a name below {self.path}")
        try:
            yield self.enter(parent, make), last
        except Outside:
            raise
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, self.full_path(name)) from None
