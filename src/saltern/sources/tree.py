"""The files of a tree, found in the roots of its environments.

For each relative path, the first directory that has it wins. Nothing outside the roots is
ever reached by a name: ``..`` that leaves a root finds nothing. Links inside a root are
followed, as the owner of the tree intends; a loop of links is an error, not a hang. In an untrusted
tree, a link that leads out of the roots finds nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from posixpath import normpath

from msgspec import Struct

from saltern.language.source import SlsRef
from saltern.sources.roots import Roots
from saltern.sources.text_file import read_text
from saltern.sources.walk import kind_of_entry, leads_out_of, links_below, walk


class SlsSource(Struct, frozen=True):
    """A state file on disk. ``path`` is absolute, ``name`` is relative to its root."""

    ref: SlsRef
    path: str
    name: str
    text: str

    @property
    def is_init(self) -> bool:
        return self.name.endswith("/init.sls") and not self.ref.name.endswith(".init")


class Tree(Roots):
    """Finds files. Reads only the requested file, and caches no listings.

    ``texts`` are texts by path that override those on disk: what an editor has not saved yet.
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
        super().__init__(roots)
        self._max_size = max_size
        self._texts = texts or {}
        self._found: dict[str, None] | None = None
        every = (root for dirs in self._roots.values() for root in dirs)
        self._is_out = None if links_out else leads_out_of(every)

    def record_files(self) -> dict[str, None]:
        """Record every file that is found or read from now on, in the returned mapping."""
        self._found = {} if self._found is None else self._found
        return self._found

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
        """All files, sorted, relative to their roots; including those that exist only in an editor."""
        found = {name for root in self.roots(env) for name in walk(root, self._kind, files=True)}
        for root in self.roots(env) if self._texts else ():
            found |= {path.removeprefix(f"{root}/") for path in self._texts if path.startswith(f"{root}/")}
        return sorted(found)

    def directories(self, env: str) -> list[str]:
        roots = self.roots(env)
        return sorted({name for root in roots for name in walk(root, self._kind, files=False)})

    def _kind(self, entry: os.DirEntry[str]) -> str:
        return kind_of_entry(entry, self._is_out)

    def links(self, env: str) -> dict[str, str]:
        """All links and their targets as written, including broken ones."""
        found: dict[str, str] = {}
        for root in self.roots(env):
            for name, target in self._links(root):
                found.setdefault(name, target)
        return dict(sorted(found.items()))

    def _links(self, root: str) -> Iterable[tuple[str, str]]:
        return links_below(root, self._is_out)

    # -- state files -------------------------------------------------------------------------

    def sls_names(self, env: str) -> list[str]:
        """The names of all state files, sorted; patterns are matched against them."""
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
        """The text of a file; None if there is no such file. Raises ``CompileError`` if it is not text."""
        if self._texts and path in self._texts:
            return self._texts[path]
        if self._is_out is not None and self._is_out(path):
            return None
        text = read_text(path, self._max_size)
        if text is None:
            return None
        if self._found is not None:
            self._found[path] = None
        return text


def inside(path: str) -> str | None:
    """``path`` normalised; None if it leads out of the root."""
    name = normpath(path.lstrip("/"))
    return None if name.startswith("..") or name == "." or "\0" in name else name


def sls_name(name: str) -> str:
    """The SLS name of a file below a root: ``a.b`` for ``a/b.sls`` and ``a/b/init.sls``."""
    stem = name.removesuffix(".sls").removesuffix("/init")
    return stem.replace("/", ".")
