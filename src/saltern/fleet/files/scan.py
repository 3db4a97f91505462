"""Reads roots into manifests: every file, directory and link below them, with the digest of each file.

A file tree means the same as on one machine (``sources/tree.py``): links inside a root stay links, and the
target of a link that leads outside is published in its place. A directory that is its own ancestor is
published empty.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from saltern.fleet.files.manifest import (
    DIRECTORY,
    FILE,
    LINK,
    MAX_ENTRIES,
    MODES,
    Entry,
    Manifest,
    is_inner_link,
    make_manifest,
)
from saltern.fleet.files.pieces import MAX_CONTENT, PIECE, digest_of
from saltern.fleet.files.stat_cache import StatCache, seen_from
from saltern.language.diagnostics import Diagnostic, OperationError, Severity

TRIES = 5


class Content(Struct, frozen=True):
    """Where the content of a digest can be read."""

    path: str
    size: int


class Scan(Struct):
    """The result: manifests by environment, the location of each content, and what was left out.

    ``stubs`` are contents that are in no file: they replace files that are not published.
    """

    manifests: dict[str, Manifest] = {}
    contents: dict[str, Content] = {}
    stubs: dict[str, bytes] = {}
    warnings: list[Diagnostic] = []


def scan(roots: Mapping[str, Sequence[str]], cache: StatCache) -> Scan:
    """Read the roots of all environments; only files that changed are read."""
    result = Scan(manifests={}, contents={}, warnings=[])
    for environment, directories in roots.items():
        layers = [_Layer(root, cache, result).entries() for root in directories]
        result.manifests[environment] = make_manifest(environment, layers)
    cache.save()
    return result


class _Layer:
    """One root."""

    def __init__(self, root: str, cache: StatCache, result: Scan) -> None:
        self._root = root
        self._cache = cache
        self._result = result
        self._real = os.path.realpath(root)
        self._count = 0

    def entries(self) -> list[Entry]:
        """All entries below the root; none if it does not exist, as on one machine."""
        try:
            top = os.stat(self._root)
        except FileNotFoundError:
            self._warn("root-missing", f"the root {self._root!r} does not exist", "make the directory")
            return []
        if not stat.S_ISDIR(top.st_mode):
            raise _unusable(self._root)
        return list(self._below("", _identity(top), outside=False))

    def _below(self, folder: str, *above: tuple[int, int], outside: bool) -> Iterator[Entry]:
        left = [(folder, frozenset(above), outside)]
        while left:
            folder, ancestors, outside = left.pop()
            for name in self._names(folder):
                path = f"{folder}{name}"
                entry, found = self._entry(path, outside)
                if entry is None:
                    continue
                if entry.kind == DIRECTORY and found is not None and _identity(found) not in ancestors:
                    left.append((f"{path}/", ancestors | {_identity(found)}, outside or bool(entry.link)))
                yield self._count_entry(entry)

    def _names(self, folder: str) -> list[str]:
        try:
            names = os.listdir(f"{self._root}/{folder}")
        except OSError as problem:
            self._skip(folder, problem.strerror or str(problem))
            return []
        return [name for name in names if self._is_text(name, folder)]

    def _is_text(self, name: str, folder: str) -> bool:
        try:
            name.encode()
        except UnicodeEncodeError:
            self._skip(f"{folder}{name!a}", "its name is not UTF-8")
            return False
        return True

    def _entry(self, path: str, outside: bool) -> tuple[Entry | None, os.stat_result | None]:
        """The entry of a path and its contents; links below a link that leads outside are followed."""
        full = f"{self._root}/{path}"
        try:
            found = os.lstat(full)
        except OSError:
            return None, None  # removed meanwhile
        if not stat.S_ISLNK(found.st_mode):
            return self._plain(path, found, ""), found
        link = "" if outside else os.readlink(full)
        if link and is_inner_link(path, link) and self._stays_inside(full, path, link):
            return Entry(path, LINK, link=link), None
        try:
            found = os.stat(full)
        except OSError:
            return (Entry(path, LINK, link=link) if link and self._is_text(link, path) else None), None
        return self._plain(path, found, link), found

    def _stays_inside(self, full: str, path: str, link: str) -> bool:
        """True if the link leads to the same place when its text is read within the root alone."""
        meant = os.path.normpath(os.path.join(os.path.dirname(path), link))
        there = os.path.realpath(f"{self._real}/{meant}")
        return os.path.realpath(full) == there and f"{there}/".startswith(f"{self._real}/")

    def _plain(self, path: str, found: os.stat_result, link: str) -> Entry | None:
        mode = found.st_mode & MODES
        if stat.S_ISDIR(found.st_mode):
            return Entry(path, DIRECTORY, mode, link=link)
        if not stat.S_ISREG(found.st_mode):
            return None  # as on one machine: sockets, pipes and devices are not files of a tree
        try:
            digest, size = self._digest(f"{self._root}/{path}", found)
        except OSError as problem:
            self._skip(path, problem.strerror or str(problem))
            return None
        return Entry(path, FILE, mode, size, digest, link)

    def _digest(self, full: str, found: os.stat_result) -> tuple[str, int]:
        for _ in range(TRIES):
            look = seen_from(found)
            if look.size > MAX_CONTENT:
                raise OSError(0, f"it is larger than {MAX_CONTENT:,} bytes")
            digest = self._cache.digest(full, look)
            if not digest:
                digest = _read(full)
                found = os.stat(full)
                if seen_from(found) != look:
                    continue
                self._cache.remember(full, look, digest)
            self._result.contents[digest] = Content(full, look.size)
            return digest, look.size
        raise OSError(0, "it changes while it is read")

    def _count_entry(self, entry: Entry) -> Entry:
        self._count += 1
        if self._count > MAX_ENTRIES:
            raise OperationError(
                Diagnostic(
                    code="tree-too-large",
                    what=f"the root {self._root!r} has more than {MAX_ENTRIES:,} files and directories",
                    fix="does a link lead to a directory with many files?",
                )
            )
        return entry

    def _skip(self, path: str, why: str) -> None:
        full = f"{self._root}/{path}".rstrip("/")
        self._warn("file-not-published", f"{full} is not published: {why}", "agents will not see it")

    def _warn(self, code: str, what: str, fix: str) -> None:
        self._result.warnings.append(Diagnostic(severity=Severity.WARNING, code=code, what=what, fix=fix))


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _read(path: str) -> str:
    """The digest of a file that may be replaced by a pipe at any time."""
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is not a plain file")
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_pieces(content: Content, digest: str) -> Iterator[bytes]:
    """The pieces of a content from its file. ``ContentChanged`` if the file has changed since."""
    whole = hashlib.sha256()
    try:
        with open(content.path, "rb") as file:
            left = content.size
            while True:
                piece = file.read(min(PIECE, left) or 1)
                whole.update(piece)
                left -= len(piece)
                if left < 0 or (left and not piece):
                    break
                if not left and whole.hexdigest() != digest:
                    break
                yield piece
                if not left:
                    return
    except OSError:
        pass
    raise ContentChanged(content.path)


class ContentChanged(Exception):
    """A file changed after it was scanned."""


def piece_digests(content: Content, digest: str) -> list[str]:
    """The digests of the pieces of a content, from its file."""
    return [digest_of(piece) for piece in read_pieces(content, digest)]


def _unusable(root: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="root-unreadable",
            what=f"the root {root!r} is not a directory",
            fix="give an existing directory in file_roots of the controller",
        )
    )
