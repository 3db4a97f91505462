"""The roots of a tree: environments, each with directories in order of preference.

For each relative path the first directory that has it wins. Nothing outside the roots is
ever reached by a name: ``..`` that leaves a root finds nothing. Links inside a root are
followed, as a tree's owner means them; a loop of links is an error, not a hang. In an untrusted
tree a link that leads out of the roots leads to nothing.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from posixpath import normpath

from msgspec import Struct

from saltern.language.diagnostics import CompileError, Diagnostic, OperationError
from saltern.language.source import Mark, SlsRef

ANY_ENV = "__env__"  # an environment of this name in the roots stands for every other
BLOCK = b"delayed_block"
MOST_DIRECTORIES = 50_000  # below one root
BOM = b"\xef\xbb\xbf"  # which some editors write before a text
_BYTES = "[\udc80-\udcff]"  # as ``surrogateescape`` reads what is not UTF-8


class SlsSource(Struct, frozen=True):
    """A state file as it lies on disk. ``path`` is absolute, ``name`` relative to its root."""

    ref: SlsRef
    path: str
    name: str
    text: str

    @property
    def is_init(self) -> bool:
        return self.name.endswith("/init.sls") and not self.ref.name.endswith(".init")


class Tree:
    """Finds files. Reads no file but the one asked for, and keeps no listings.

    ``texts`` are texts by path that win over those on disk: what an editor has not saved yet.
    ``links_out``: links may lead out of the roots.
    """

    def __init__(
        self,
        roots: Mapping[str, Sequence[str]],
        *,
        max_size: int = 10 * 1024 * 1024,
        texts: Mapping[str, str] | None = None,
        links_out: bool = True,
    ) -> None:
        self._roots = {env: list(dirs) for env, dirs in roots.items()}
        self._max_size = max_size
        self._texts = texts or {}
        self._found: dict[str, None] | None = None
        every = (root for dirs in self._roots.values() for root in dirs)
        self._is_out = None if links_out else _leads_out_of(every)

    def record_files(self) -> dict[str, None]:
        """Record every file that is found or read from here on; the mapping fills while that happens."""
        self._found = {} if self._found is None else self._found
        return self._found

    def environments(self) -> list[str]:
        """``base`` first, then the others as configured."""
        names = [env for env in self._roots if env != ANY_ENV]
        return sorted(names, key=lambda env: env != "base")

    def roots(self, env: str) -> list[str]:
        return self._roots.get(env) or self._roots.get(ANY_ENV, [])

    def __contains__(self, env: object) -> bool:
        return env in self._roots or ANY_ENV in self._roots

    def check(self) -> None:
        """Raise if a root is no directory that can be read."""
        problems = [
            Diagnostic(
                code="root-unreadable",
                what=f"the {env!r} root {root!r} {why}",
                fix="give an existing directory: --file-root DIR, or file_roots in the configuration",
            )
            for env, dirs in self._roots.items()
            for root in dirs
            if (why := _unusable(root))
        ]
        if problems:
            raise OperationError(*problems)

    # -- salt:// ---------------------------------------------------------------------------

    def find(self, path: str, env: str) -> str | None:
        """The file on disk, or None."""
        name = inside(path)
        if name is None:
            return None
        for root in self.roots(env):
            full = f"{root}/{name}"
            if full in self._texts or (self._is_file(full) and not (self._is_out and self._is_out(full))):
                if self._found is not None:
                    self._found[full] = None
                return full
        return None

    def _is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def names(self, env: str) -> list[str]:
        """Every file, sorted, relative to its root; with those that exist only in an editor."""
        found = {name for root in self.roots(env) for name in walk(root, self._kind, files=True)}
        for root in self.roots(env) if self._texts else ():
            found |= {path.removeprefix(f"{root}/") for path in self._texts if path.startswith(f"{root}/")}
        return sorted(found)

    def directories(self, env: str) -> list[str]:
        roots = self.roots(env)
        return sorted({name for root in roots for name in walk(root, self._kind, files=False)})

    def _kind(self, entry: os.DirEntry[str]) -> str:
        return _kind(entry, self._is_out)

    def links(self, env: str) -> dict[str, str]:
        """Every link and where it leads, as written; also those that lead nowhere."""
        found: dict[str, str] = {}
        for root in self.roots(env):
            for name, target in self._links(root):
                found.setdefault(name, target)
        return dict(sorted(found.items()))

    def _links(self, root: str) -> Iterable[tuple[str, str]]:
        return _links(root, self._is_out)

    # -- state files -------------------------------------------------------------------------

    def sls_names(self, env: str) -> list[str]:
        """The names of all state files, sorted: what a pattern is matched against."""
        return sorted({sls_name(name) for name in self.names(env) if name.endswith(".sls")})

    def place(self, ref: SlsRef) -> str | None:
        """The path of the file that ``read`` would read."""
        base = inside(ref.name.replace(".", "/"))
        return (self.find(f"{base}.sls", ref.env) or self.find(f"{base}/init.sls", ref.env)) if base else None

    def read(self, ref: SlsRef) -> SlsSource | None:
        """The file of this name: ``a/b.sls`` in any root, else ``a/b/init.sls`` in any root."""
        base = inside(ref.name.replace(".", "/"))
        if base is None:
            return None
        for name in (f"{base}.sls", f"{base}/init.sls"):
            for root in self.roots(ref.env):
                text = self.text(f"{root}/{name}")
                if text is not None:
                    return SlsSource(ref, f"{root}/{name}", name, text)
        return None

    def source(self, name: str, env: str) -> tuple[str, str] | None:
        """Path and text of any file in the tree (a template, a top file)."""
        wanted = inside(name)
        if wanted is None:
            return None
        for root in self.roots(env):
            text = self.text(f"{root}/{wanted}")
            if text is not None:
                return f"{root}/{wanted}", text
        return None

    def text(self, path: str) -> str | None:
        """What the file holds, or None if there is no such file. Raises for what cannot be text."""
        if self._texts and path in self._texts:
            return self._texts[path]
        if self._is_out is not None and self._is_out(path):
            return None
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as problem:
            if problem.errno == errno.ENAMETOOLONG:
                return None
            raise _unreadable(path, problem.strerror or str(problem)) from None
        try:
            text = _read(fd, path, self._max_size)
        except IsADirectoryError:
            return None
        finally:
            os.close(fd)
        if self._found is not None:
            self._found[path] = None
        return text


def _read(fd: int, path: str, max_size: int) -> str:
    found = os.fstat(fd)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError
    if not stat.S_ISREG(found.st_mode):
        raise _unreadable(path, "it is not a plain file")
    size = found.st_size
    if size > max_size:
        raise CompileError(
            Diagnostic(
                code="file-too-large",
                what=f"this file has {size:,} bytes; {max_size:,} are allowed",
                where=Mark(path),
                fix="is it a state file at all? The limit is max_sls_size in the configuration",
            )
        )
    blocks: list[bytes] = []
    while block := os.read(fd, max(size, 65536) + 1):
        blocks.append(block)
        if sum(map(len, blocks)) > max_size:
            raise _unreadable(path, "it does not end")
    return _decode(b"".join(blocks), path)


def inside(path: str) -> str | None:
    """``path`` in its plain form, or None if it leads out of the root."""
    name = normpath(path.lstrip("/"))
    return None if name.startswith("..") or name == "." or "\0" in name else name


def _leads_out_of(roots: Iterable[str]) -> Callable[[str], bool]:
    """A question: whether a path leads out of all of these directories, by whatever links."""
    from saltern.system.guard import is_within

    within = tuple(sorted({os.path.realpath(one) for one in roots}))
    return lambda path: not is_within(os.path.realpath(path), within)


def _decode(data: bytes, path: str) -> str:
    data = data.removeprefix(BOM)
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        if BLOCK in data:  # what stands in a delayed block is not looked at before it is rendered
            return data.decode(errors="surrogateescape")
        raise _not_utf8(data[problem.start], data[: problem.start], path) from None


def check_text(text: str, path: str) -> None:
    """Raise if the text has bytes that are none: a file with delayed blocks is read with all it has."""
    found = None if text.isascii() else re.search(_BYTES, text)
    if found:
        before = text[: found.start()].encode(errors="surrogateescape")
        raise _not_utf8(ord(found[0]) - 0xDC00, before, path)


def _not_utf8(byte: int, before: bytes, path: str) -> CompileError:
    return CompileError(
        Diagnostic(
            code="not-utf8",
            what=f"the byte 0x{byte:02x} is not UTF-8",
            where=Mark(path, before.count(b"\n") + 1, len(before) - before.rfind(b"\n")),
            fix="save the file as UTF-8",
        )
    )


def _unreadable(path: str, why: str) -> CompileError:
    return CompileError(
        Diagnostic(code="file-unreadable", what=f"this file cannot be read: {why}", where=Mark(path))
    )


def _unusable(root: str) -> str:
    try:
        with os.scandir(root):
            return ""
    except FileNotFoundError:
        return "does not exist"
    except NotADirectoryError:
        return "is not a directory"
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"


def walk(root: str, kind_of: Callable[[os.DirEntry[str]], str], *, files: bool) -> Iterator[str]:
    """Names below a root; a directory that is its own ancestor (a loop of links) is left out, and so is
    what ``kind_of`` calls neither file nor directory. Raises for a tree that links make too large to walk.
    """
    left: list[tuple[str, frozenset[tuple[int, int]]]] = [("", frozenset())]
    count = 0
    while left:
        below, seen = left.pop()
        try:
            place = os.stat(f"{root}/{below}")
            entries = list(os.scandir(f"{root}/{below}"))
        except OSError:
            continue
        here = (place.st_dev, place.st_ino)
        if here in seen:
            continue
        count += 1
        if count > MOST_DIRECTORIES:
            raise _too_many(root)
        for entry in entries:
            kind = kind_of(entry)
            if kind == "directory":
                left.append((f"{below}{entry.name}/", seen | {here}))
            if kind == ("file" if files else "directory"):
                yield f"{below}{entry.name}"


def _links(root: str, out: Callable[[str], bool] | None) -> Iterator[tuple[str, str]]:
    """Links below a root that are not reached through another link."""
    left = [""]
    while left:
        below = left.pop()
        try:
            entries = list(os.scandir(f"{root}/{below}"))
        except OSError:
            continue
        for entry in entries:
            if entry.is_symlink():
                if out is None or not out(entry.path):
                    yield f"{below}{entry.name}", os.readlink(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                left.append(f"{below}{entry.name}/")


def _kind(entry: os.DirEntry[str], out: Callable[[str], bool] | None) -> str:
    try:
        if out is not None and entry.is_symlink() and out(entry.path):
            return ""
        return "directory" if entry.is_dir() else "file" if entry.is_file() else ""
    except OSError:
        return ""


def _too_many(root: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="tree-too-large",
            what=f"below the root {root!r} are more than {MOST_DIRECTORIES:,} directories",
            fix="is a link to an ancestor, or to a directory of many links, in there?",
        )
    )


def sls_name(name: str) -> str:
    """The name of the SLS that a file below a root is: ``a/b.sls`` and ``a/b/init.sls`` are ``a.b``."""
    stem = name.removesuffix(".sls").removesuffix("/init")
    return stem.replace("/", ".")
