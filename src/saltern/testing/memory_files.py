"""Files, directories and links in memory, with the rules of a file system."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping

from msgspec import Struct

USUAL = (
    "/",
    "/etc",
    "/home",
    "/opt",
    "/root",
    "/run",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/var",
    "/var/lib",
)
MOST_LINKS = 40  # as the kernel


class Node(Struct):
    """One entry of the file system; a link has a ``target``, a file has ``data``."""

    kind: int
    mode: int
    data: bytes = b""
    target: str = ""
    uid: int = 0
    gid: int = 0
    number: int = 0
    changed: float = 0.0

    def stat(self) -> os.stat_result:
        size = len(self.data) or len(self.target)
        times = (self.changed, self.changed, self.changed)
        return os.stat_result((self.kind | self.mode, self.number, 0, 1, self.uid, self.gid, size, *times))


class MemoryFiles:
    """``files`` and ``directories`` exist from the start, in addition to the usual directories."""

    def __init__(self, files: Mapping[str, str | bytes], directories: Iterable[str]) -> None:
        self.nodes: dict[str, Node] = {}
        self._made = 0
        self._has_links = False
        for path in (*USUAL, *directories):
            self.makedirs(path)
        for path, text in files.items():
            self.makedirs(os.path.dirname(path))
            self.write(path, text)

    def read(self, path: str) -> str | None:
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8", "surrogateescape")

    def read_bytes(self, path: str) -> bytes | None:
        node = self.node(path)
        if node is not None and node.kind != stat.S_IFREG:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return None if node is None else node.data

    def write(self, path: str, data: str | bytes, *, mode: int | None = None) -> None:
        content = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
        place = self.real(path)
        old = self.nodes.get(place)
        if old is not None and old.kind == stat.S_IFDIR:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        usual = old.mode if old is not None else 0o644
        node = self._put(place, stat.S_IFREG, usual if mode is None else mode)
        node.data = content
        if old is not None:
            node.uid, node.gid = old.uid, old.gid

    def exists(self, path: str) -> bool:
        return self.node(path, follow=False) is not None

    def is_directory(self, path: str) -> bool:
        node = self.node(path)
        return node is not None and node.kind == stat.S_IFDIR

    def makedirs(self, path: str, *, mode: int | None = None) -> list[str]:
        made: list[str] = []
        place = self.real(path)
        above = os.path.dirname(place)
        if above != place and above not in self.nodes:
            made += self.makedirs(above, mode=mode)
        node = self.nodes.get(place)
        if node is None:
            self._put(place, stat.S_IFDIR, 0o755 if mode is None else mode, made=True)
            return [*made, place]
        if node.kind != stat.S_IFDIR:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return made

    def remove(self, path: str) -> bool:
        place = self.real(path, follow=False)
        if place not in self.nodes:
            return False
        for below in [one for one in self.nodes if one == place or one.startswith(f"{place}/")]:
            del self.nodes[below]
        return True

    def node(self, path: str, *, follow: bool = True) -> Node | None:
        return self.nodes.get(self.real(path, follow=follow))

    def real(self, path: str, *, follow: bool = True) -> str:
        """The path with links resolved; the last part may stay a link."""
        plain = "/" + os.path.normpath(f"/{path}").lstrip("/")
        return _resolve(self.nodes, plain, follow=follow) if self._has_links else plain

    def link(self, path: str, target: str) -> None:
        """Create a link, in place of a file or link."""
        self._has_links = True
        self._put(self.real(path, follow=False), stat.S_IFLNK, 0o777).target = target

    def rename(self, source: str, target: str) -> None:
        old, new = self.real(source, follow=False), self.real(target, follow=False)
        self._check_parent(new)
        moved = [one for one in self.nodes if one == old or one.startswith(f"{old}/")]
        if not moved:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)
        for one in moved:
            self.nodes[new + one[len(old) :]] = self.nodes.pop(one)

    def names(self, path: str) -> list[str]:
        """The names in a directory, sorted."""
        place = self.real(path)
        node = self.nodes.get(place)
        if node is None or node.kind != stat.S_IFDIR:
            wrong = errno.ENOENT if node is None else errno.ENOTDIR
            raise OSError(wrong, os.strerror(wrong), path)
        return sorted(
            os.path.basename(one) for one in self.nodes if one != "/" and os.path.dirname(one) == place
        )

    def _put(self, place: str, kind: int, mode: int, *, made: bool = False) -> Node:
        if not made:
            self._check_parent(place)
        self._made += 1
        node = self.nodes[place] = Node(kind, mode, number=self._made, changed=float(self._made))
        return node

    def _check_parent(self, place: str) -> None:
        above = self.nodes.get(os.path.dirname(place))
        if above is None or above.kind != stat.S_IFDIR:
            wrong = errno.ENOENT if above is None else errno.ENOTDIR
            raise OSError(wrong, os.strerror(wrong), place)


def _resolve(nodes: Mapping[str, Node], plain: str, *, follow: bool) -> str:
    at, links = "/", 0
    todo = list(reversed(plain.split("/")))
    while todo:
        part = todo.pop()
        if part in ("", ".", ".."):
            at = os.path.dirname(at) if part == ".." else at
            continue
        here = os.path.join(at, part)
        node = nodes.get(here)
        if node is None or node.kind != stat.S_IFLNK or not (todo or follow):
            at = here
            continue
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), plain)
        todo.extend(reversed(node.target.split("/")))
        at = "/" if node.target.startswith("/") else at
    return at
