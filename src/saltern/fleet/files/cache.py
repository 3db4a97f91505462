"""An agent's cache: contents by digest, manifests, and trees made of them. All below one directory (0700).

A content is written under a temporary name, checked, and renamed; so everything under its final name is
complete. Files of a tree are hard links to contents, with the mode that the tree gives them; only the owner
of this directory can reach them. A content that a tree is made of has more than one link, and is never
removed while that tree is kept; a tree is kept while a job is pinned to it.

Contents and trees are not synced. After a loss of power, a content is verified before its first use, and a
tree is made again: it counts only in the boot in which it was made.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

from msgspec import Struct

from saltern.fleet.files.problems import NotFetched
from saltern.system import atomic
from saltern.system.boot import boot_id

LIMIT = 2 * 1024**3
KEEP_TREES = 3
KEEP_MANIFESTS = 50
FOLDERS = ("objects", "manifests", "trees", "pins", "new")
BOOT_FILE = "boot"  # in a tree: the boot in which it was made
_HEX = frozenset("0123456789abcdef")


class Size(Struct, frozen=True):
    """A file that can be removed, least recently used first."""

    used: float
    size: int
    path: str


class Folder:
    """A directory, and where its files are written before they get their names."""

    def __init__(self, directory: str, new: str) -> None:
        self.directory = directory
        self._new = new

    def place(self, *names: str) -> str:
        return os.path.join(self.directory, *names)

    def new_place(self) -> str:
        return os.path.join(self._new, secrets.token_hex(8))


class Contents(Folder):
    """Contents by their digest and their mode."""

    def __init__(self, directory: str, new: str) -> None:
        super().__init__(directory, new)
        self._trusted: set[str] = set()

    def path(self, digest: str, mode: int) -> str:
        """The path of a content with this mode, whether or not it exists."""
        return self.place(_hex(digest)[:2], f"{digest}-{mode:04o}")

    def has(self, digest: str, mode: int) -> bool:
        """True if the content is in the cache. It is verified once per process: disks lose data."""
        path = self.path(digest, mode)
        if path in self._trusted:
            return os.path.exists(path)
        if digest_of_file(path) == digest:
            self._trusted.add(path)
            return True
        return self._copied(digest, mode)

    def _copied(self, digest: str, mode: int) -> bool:
        """Copy it from the same content with another mode."""
        folder = os.path.dirname(self.path(digest, mode))
        with suppress(FileNotFoundError):
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if name.startswith(digest) and digest_of_file(path) == digest:
                    with open(path, "rb") as old, self.writer(digest, mode) as new:
                        while block := old.read(1 << 20):
                            new.write(block)
                    return True
        return False

    def writer(self, digest: str, mode: int) -> Writer:
        return Writer(self, digest, mode)

    def accept(self, temporary: str, digest: str, mode: int) -> None:
        """Give a content its name after it was written and checked."""
        path = self.path(digest, mode)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.chmod(temporary, mode | 0o400)
        os.replace(temporary, path)
        self._trusted.add(path)

    def trim(self, limit: int) -> int | None:
        """Remove contents that no tree uses until the rest fits; None if that is not enough."""
        free, total = self._free()
        freed = 0
        for one in free:
            if total - freed <= limit:
                break
            with suppress(FileNotFoundError):
                os.unlink(one.path)
            self._trusted.discard(one.path)
            freed += one.size
        return freed if total - freed <= limit else None

    def _free(self) -> tuple[list[Size], int]:
        """Contents that may be removed, least recently used first; and the total size of all."""
        free, total = [], 0
        for folder in os.listdir(self.directory):
            with os.scandir(self.place(folder)) as found:
                for one in found:
                    look = one.stat()
                    total += look.st_size
                    if look.st_nlink == 1:
                        used = max(look.st_atime, look.st_mtime, look.st_ctime)
                        free.append(Size(used, look.st_size, one.path))
        return sorted(free, key=lambda one: one.used), total


class Manifests(Folder):
    """Manifests and indices, by their digest."""

    def read(self, digest: str) -> bytes | None:
        """The bytes of a manifest or index; None if it is missing or damaged."""
        try:
            with open(self.place(_hex(digest)), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
        return data if hashlib.sha256(data).hexdigest() == digest else None

    def write(self, digest: str, data: bytes) -> None:
        temporary = self.new_place()
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        os.replace(temporary, self.place(_hex(digest)))

    def digests(self) -> list[str]:
        """The digests of all manifests in the cache, newest first."""
        with os.scandir(self.directory) as found:
            return [one.name for one in sorted(found, key=lambda one: -one.stat().st_mtime)]

    def trim(self) -> None:
        for digest in self.digests()[KEEP_MANIFESTS:]:
            with suppress(FileNotFoundError):
                os.unlink(self.place(digest))


class Trees(Folder):
    """Trees by their digest, and the jobs that need them: the names of their pins."""

    def __init__(self, directory: str, new: str, pins: str) -> None:
        super().__init__(directory, new)
        self._pins = pins

    def path(self, digest: str) -> str:
        return self.place(_hex(digest))

    def has(self, digest: str) -> bool:
        """True if the tree was made since the machine booted."""
        place = self.path(digest)
        return os.path.isdir(place) and _text(os.path.join(place, BOOT_FILE)) == boot_id()

    def accept(self, temporary: str, digest: str) -> None:
        """Give a new tree its name; an existing one is damaged or of another boot, and is replaced."""
        with open(os.path.join(temporary, BOOT_FILE), "x") as file:
            file.write(boot_id())
        old = self.new_place()
        with suppress(FileNotFoundError):
            os.rename(self.path(digest), old)
        os.replace(temporary, self.path(digest))
        _remove(old)

    def use(self, digest: str) -> None:
        """Record that the tree is used now."""
        with suppress(OSError):
            os.utime(self.path(digest))

    def pin(self, job: str, digest: str) -> None:
        """Keep a tree for a job until ``unpin``, across restarts of the agent and a loss of power."""
        path = self._pin_path(job)
        if _text(path) != _hex(digest):
            atomic.write(path, digest.encode())

    def unpin(self, job: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._pin_path(job))

    def _pin_path(self, job: str) -> str:
        if not job or "/" in job or job.startswith("."):
            raise ValueError(f"{job!r} is not a job")
        return os.path.join(self._pins, job)

    def pinned_trees(self) -> dict[str, str]:
        """The tree of each job that has one."""
        jobs = (name for name in os.listdir(self._pins) if not name.startswith("."))
        return {job: _text(os.path.join(self._pins, job)) for job in jobs}

    def spare(self) -> list[str]:
        """The trees that no job needs, least recently used first."""
        kept = set(self.pinned_trees().values())
        with os.scandir(self.directory) as found:
            trees = sorted(found, key=lambda one: one.stat().st_mtime)
        return [one.path for one in trees if one.name not in kept]


class Cache:
    """The directory. Its methods block; none of them waits for the network."""

    def __init__(
        self, directory: str, *, limit: int = LIMIT, keep_trees: int = KEEP_TREES, left: float = 0.0
    ) -> None:
        """``left``: the age in seconds from which a temporary file counts as left by a killed process. In a
        shared cache, a newer one may be in use by another process.
        """
        self.directory = os.path.abspath(directory)
        self._limit = limit
        self._keep_trees = keep_trees
        places = {name: os.path.join(self.directory, name) for name in FOLDERS}
        for path in (self.directory, *places.values()):
            os.makedirs(path, mode=0o700, exist_ok=True)
        os.chmod(self.directory, 0o700)
        new = places["new"]
        self.contents = Contents(places["objects"], new)
        self.manifests = Manifests(places["manifests"], new)
        self.trees = Trees(places["trees"], new, places["pins"])
        for name in os.listdir(new):  # left by an agent that was killed
            path = os.path.join(new, name)
            if not left or _age(path) > left:
                _remove(path)

    def trim(self) -> int:
        """Remove what exceeds the limit: trees that no job needs, then contents by last use; return the bytes
        freed.
        """
        spare = self.trees.spare()
        for tree in spare[: max(0, len(spare) - self._keep_trees)]:
            _remove(tree)
        freed = self.contents.trim(self._limit)
        while freed is None and (spare := self.trees.spare()):
            _remove(spare[0])
            freed = self.contents.trim(self._limit)
        self.manifests.trim()
        return freed or 0


class Writer:
    """Writes a content into the cache; used as ``with contents.writer(…) as out``, then ``out.write``."""

    def __init__(self, contents: Contents, digest: str, mode: int) -> None:
        self._contents = contents
        self._digest = digest
        self._mode = mode
        self._hash = hashlib.sha256()
        self._path = contents.new_place()

    def __enter__(self) -> Writer:
        self._file = open(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        return self

    def write(self, data: bytes) -> None:
        self._hash.update(data)
        self._file.write(data)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._file.close()
            if kind is None:
                self._check()
        finally:
            with suppress(FileNotFoundError):
                os.unlink(self._path)

    def _check(self) -> None:
        if self._hash.hexdigest() != self._digest:
            raise NotFetched(f"the fetched data is not the content {self._digest[:12]}")
        self._contents.accept(self._path, self._digest, self._mode)


def _hex(digest: str) -> str:
    if len(digest) != 64 or not set(digest) <= _HEX:
        raise ValueError(f"{digest!r} is not a digest")
    return digest


def digest_of_file(path: str) -> str:
    """SHA-256 of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _text(path: str) -> str:
    """The text of a file; empty if it cannot be read."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def _age(path: str) -> float:
    """Seconds since the file was changed; 0 if it no longer exists."""
    try:
        return time.time() - os.lstat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(path)


@contextmanager
def new_tree(cache: Cache) -> Iterator[str]:
    """A directory for a new tree; it is removed unless it was given its name."""
    path = cache.trees.new_place()
    os.mkdir(path, 0o700)
    try:
        yield path
    finally:
        _remove(path)
