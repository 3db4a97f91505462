"""The declarations and references of all files of a tree. A file is read again only if it has changed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from time import monotonic

from saltern.language.diagnostics import CompileError
from saltern.language.source import SlsRef
from saltern.lsp.nodes import page_of
from saltern.lsp.outline import Declared, Outline, Reference, outline
from saltern.lsp.sites import Site

LARGEST = 1_000_000  # characters; larger files have no outline
FRESH = 2.0  # seconds for which a list of files is cached
Texts = Callable[[str], str | None]  # the text of a file that is open in the editor


class Index:
    """Outlines by path. ``opened`` returns the text of a file that is open in the editor."""

    def __init__(self, opened: Texts) -> None:
        self._opened = opened
        self._kept: dict[str, tuple[object, Outline]] = {}
        self._listings: dict[tuple[Site, str], tuple[float, list[tuple[str, str]]]] = {}

    def text(self, path: str) -> str | None:
        """The text of a file, from the editor or from disk; None if it cannot be read."""
        found = self._opened(path)
        if found is not None:
            return found
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                return file.read(LARGEST + 1)
        except (OSError, UnicodeDecodeError, ValueError):
            return None

    def outline(self, path: str, pipe: str) -> Outline:
        text = self._opened(path)
        stamp = text if text is not None else _stamp(path)
        known = self._kept.get(path)
        if known is None or known[0] != stamp:
            text = self.text(path) if text is None else text
            is_small = text is not None and len(text) <= LARGEST
            known = (stamp, outline(page_of(text or "", path, pipe)) if is_small else Outline())
            self._kept[path] = known
        return known[1]

    # -- a tree ----------------------------------------------------------------------------------------

    def files(self, site: Site, env: str) -> Iterator[tuple[str, str, Outline]]:
        """SLS name, path and outline of every state file."""
        for name, path in self._list_files(site, env):
            yield name, path, self.outline(path, site.settings.renderer)

    def _list_files(self, site: Site, env: str) -> list[tuple[str, str]]:
        """The state files, cached for a moment: requests come in bursts, and a large tree takes long to
        walk.
        """
        due, listed = self._listings.get((site, env), (0.0, []))
        if monotonic() >= due:
            places = ((name, self.place(site, env, name)) for name in site.tree.sls_names(env))
            listed = [(name, path) for name, path in places if path is not None]
            self._listings[site, env] = (monotonic() + FRESH, listed)
        return listed

    def place(self, site: Site, env: str, sls: str) -> str | None:
        try:
            return site.tree.place(SlsRef(env, sls))
        except CompileError:
            return None

    def reached_files(self, site: Site, env: str, sls: str) -> set[str]:
        """The file and all that it includes, by the names written in it."""
        reached, left = {sls}, [sls]
        while left:
            path = self.place(site, env, left.pop())
            if path is None:
                continue
            names = self.outline(path, site.settings.renderer).includes()
            more = [name for name in (absolute(one, path, site) for one in names) if name not in reached]
            reached.update(more)
            left += more
        return reached

    def dependents(self, site: Site, path: str) -> set[str]:
        """The paths of all files that need this one: by an include, or by a template that they import."""
        env = site.env(path)
        place = site.place(path)
        needs: dict[str, set[str]] = {}
        for name, file, known in self.files(site, env):
            needs[file] = {absolute(one, file, site) for one in known.includes()}
            needs[file] |= {one.name for one in known.references if one.kind in ("template", "file")}
            needs.setdefault(file, set()).discard(name)
        found: set[str] = set()
        left = {site.sls(path), place[1] if place else ""}
        while left:
            more = {file for file, names in needs.items() if file not in found and names & left}
            found |= more
            left = {site.sls(file) for file in more}
        return found


def absolute(name: str, path: str, site: Site) -> str:
    """The full name of an include; one that begins with dots is relative to its file."""
    plain = name.rpartition(":")[2]
    dots = re.match(r"\.*", plain)
    level = dots.end() if dots else 0
    if not level:
        return plain
    here = site.sls(path).split(".")
    up = level - os.path.basename(path).startswith("init.sls")
    kept = here[: len(here) - up] if up else here
    return ".".join([*kept, plain[level:]])


def matches(reference: Reference, declared: Declared) -> bool:
    """True if a reference may mean these states: by their ID, or by the name of one of them."""
    if reference.kind == "id":
        return declared.id.text == reference.name
    by_id = declared.id.text == reference.name and reference.state in declared.modules
    return by_id or (reference.state, reference.name) in declared.names


def _stamp(path: str) -> object:
    try:
        known = os.stat(path)
        return known.st_mtime_ns, known.st_size
    except OSError:
        return None
