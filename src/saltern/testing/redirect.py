"""While a state is called, it sees the file system in memory, and nothing real is touched.

Functions of ``system.files`` and the functions of ``os`` that only read are replaced meanwhile. Anything else
that acts (starting a program, writing a file, connecting) is refused before it happens.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from saltern.system import files
from saltern.system.effects import ACTS, WRITES
from saltern.testing.memory import MemoryHost

Real = Callable[[object], bool]  # True if a path is on the real disk


class Refused(PermissionError):
    """A state was about to act on the machine that the test runs on."""


class _Guard:
    """Called by an audit hook. Python never removes hooks, so there is only one, which is switched on and
    off.
    """

    ours: Real | None = None  # what may be written; None: switched off
    installed = False

    def hear(self, event: str, args: tuple[object, ...]) -> None:
        if self.ours is None or not (event in ACTS or (event == "open" and _writes(args))):
            return
        path = args[0] if args else ""
        if event.startswith(("os.", "open")) and (self.ours(path) or "__pycache__" in str(path)):
            return
        raise Refused(
            1,
            f"a test in memory must not act on this machine ({event} {path!r}): fake this state or function",
        )


_GUARD = _Guard()


def _writes(args: tuple[object, ...]) -> bool:
    flags = args[2] if len(args) > 2 else 0
    return isinstance(flags, int) and bool(flags & WRITES)


@contextmanager
def in_memory(host: MemoryHost, places: Sequence[str]) -> Iterator[None]:
    """Redirect the file system to ``host``; directories in ``places`` stay real."""
    if _GUARD.ours is not None:  # a state within a state
        yield
        return
    ours = _below(places)
    real = _below(
        [*places, *sys.path, os.path.dirname(os.__file__), "/proc"]
    )  # Python imports modules meanwhile
    before = [(owner, name, getattr(owner, name)) for owner, name in _REPLACED]
    if not _GUARD.installed:
        _GUARD.installed = True
        sys.addaudithook(_GUARD.hear)
    made = _Replacements(host, real)
    try:
        for owner, name, _ in before:
            setattr(owner, name, getattr(made, name if owner is files else f"os_{name}"))
        _GUARD.ours = ours
        yield
    finally:
        _GUARD.ours = None
        for owner, name, old in before:
            setattr(owner, name, old)


_REPLACED: tuple[tuple[Any, str], ...] = (
    *((os, name) for name in ("stat", "lstat", "readlink", "listdir", "scandir")),
    *((files, name) for name in ("see", "write", "set_attributes", "rename", "link", "remove", "read")),
    (files, "make_directories"),
)


def _below(places: Sequence[str]) -> Real:
    kept = tuple(f"{place.rstrip('/')}/" for place in places if place.strip("/"))

    def below(path: object) -> bool:
        if isinstance(path, int):
            return True
        text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
        return f"{text}/".startswith(kept) or text == os.devnull

    return below


class _Replacements:
    """One method for each function that is replaced; those of ``os`` begin with ``os_``."""

    def __init__(self, host: MemoryHost, real: Real) -> None:
        self._host = host
        self._is_real = real
        self._os = {name: getattr(os, name) for owner, name in _REPLACED if owner is os}
        self._see = files.see

    def _real(self, path: object, more: dict[str, Any]) -> bool:
        return more.get("dir_fd") is not None or self._is_real(path)

    # -- os --------------------------------------------------------------------------------------------

    def os_stat(self, path: Any, **more: Any) -> os.stat_result:
        if self._real(path, more):
            found: os.stat_result = self._os["stat"](path, **more)
            return found
        node = self._host.node(os.fsdecode(path), follow=more.get("follow_symlinks", True))
        if node is None:
            raise FileNotFoundError(2, os.strerror(2), path)
        return node.stat()

    def os_lstat(self, path: Any, **more: Any) -> os.stat_result:
        return self.os_stat(path, **more, follow_symlinks=False)

    def os_readlink(self, path: Any, **more: Any) -> str:
        if self._real(path, more):
            return str(self._os["readlink"](path, **more))
        node = self._host.node(os.fsdecode(path), follow=False)
        if node is None or node.kind != stat.S_IFLNK:
            wrong = 2 if node is None else 22
            raise OSError(wrong, os.strerror(wrong), path)
        return node.target

    def os_listdir(self, path: Any = ".") -> list[str]:
        if self._is_real(path):
            return list(self._os["listdir"](path))
        return self._host.names(os.fsdecode(path))

    def os_scandir(self, path: Any = ".") -> Any:
        if self._is_real(path):
            return self._os["scandir"](path)
        text = os.fsdecode(path)
        return _Listing([_Entry(name, os.path.join(text, name)) for name in self._host.names(text)])

    # -- system.files ----------------------------------------------------------------------------------

    def see(self, path: str, *, follow: bool = True) -> files.Seen | None:
        if self._is_real(path):
            return self._see(path, follow=follow)
        node = self._host.node(path, follow=follow)
        if node is None:
            return None
        return files.Seen(node.stat(), node.data if node.kind == stat.S_IFREG else None)

    def read(self, path: str) -> bytes | None:
        seen = self.see(path)
        if seen is not None and seen.data is None:
            raise OSError(22, f"not a file, but a {seen.kind}", path)
        return seen.data if seen else None

    def write(
        self,
        path: str,
        data: bytes,
        attributes: files.Attributes = files.KEPT,
        *,
        follow: bool = True,
        suffix: str = "",
        check: Callable[[str], None] | None = None,
    ) -> None:
        place = self._host.real(path, follow=follow)
        if check is not None:
            trial = f"{place}.new{suffix}"
            self._host.write(trial, data)
            try:
                check(trial)
            finally:
                self._host.remove(trial)
        if not follow:
            self._host.remove(place)
        self._host.write(place, data)
        self.set_attributes(place, attributes)

    def set_attributes(self, path: str, attributes: files.Attributes, *, follow: bool = True) -> None:
        node = self._host.node(path, follow=follow)
        if node is None:
            raise FileNotFoundError(2, os.strerror(2), path)
        for name in ("mode", "uid", "gid"):
            if (value := getattr(attributes, name)) is not None:
                setattr(node, name, value)

    def rename(self, source: str, target: str) -> None:
        self._host.rename(source, target)

    def link(
        self, path: str, make: Callable[[str, int], None], attributes: files.Attributes = files.KEPT
    ) -> None:
        """Create a link. ``make`` calls ``os.symlink``, which here only gives the target."""
        targets: list[str] = []
        before, os.symlink = os.symlink, lambda target, *_, **__: targets.append(os.fsdecode(target))
        try:
            make("link", -1)
        finally:
            os.symlink = before
        if not targets:
            raise Refused(1, "a host in memory has no hard links", path)
        self._host.link(path, targets[0])
        self.set_attributes(path, attributes, follow=False)

    def make_directories(self, path: str, attributes: files.Attributes = files.KEPT) -> list[str]:
        made = self._host.makedirs(path)
        for directory in made:
            self.set_attributes(directory, attributes)
        return made

    def remove(self, path: str, *, tree: bool = True) -> bool:
        if not tree and self._host.is_directory(path) and self._host.names(path):
            raise OSError(39, os.strerror(39), path)
        return self._host.remove(path)


class _Entry:
    """As ``os.DirEntry``."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return os.stat(self.path) if follow_symlinks else os.lstat(self.path)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISDIR(self.stat(follow_symlinks=follow_symlinks).st_mode)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISREG(self.stat(follow_symlinks=follow_symlinks).st_mode)

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(os.lstat(self.path).st_mode)


class _Listing(list[_Entry]):
    """As what ``os.scandir`` gives."""

    def __enter__(self) -> _Listing:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
