"""Finds the tree that a file belongs to: that of the configuration, or one around the file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from saltern.config.load import load
from saltern.config.settings import Settings
from saltern.config.untrusted import restrict_settings
from saltern.language.diagnostics import OperationError
from saltern.lint.select import is_below
from saltern.lsp.launch import resolve_options
from saltern.sources.tree import Tree, sls_name

# Directories with these names are roots by default.
USUAL_ROOTS = ("states", "salt", "file_roots")
USUAL_PILLAR = "pillar"
CONFIG = "saltern.yaml"


class Given(Struct, frozen=True, kw_only=True):
    """The command line. ``options`` override those of the configuration."""

    config: str | None = None
    options: dict[str, object] = {}
    pillar: dict[str, object] = {}
    trust: bool = False


class Found(Struct, frozen=True, kw_only=True):
    """What was found around a file: a configuration, and roots that it does not have."""

    config: str | None = None
    root: str | None = None
    pillar: str | None = None

    def options(self) -> dict[str, object]:
        roots = {"file_roots": self.root, "pillar_roots": self.pillar}
        return {name: {"base": [one] if one else []} for name, one in roots.items() if one is not None}


class Site:
    """One tree, in the form for a check."""

    def __init__(self, given: Given, found: Found, configured: Settings, settings: Settings) -> None:
        """``settings`` are the effective ones among those ``configured``."""
        self.config = found.config
        self.configured = configured
        self.settings = settings
        self.options = {**given.options, **found.options()}
        self.tree = Tree(settings.file_roots, max_size=settings.max_sls_size, links_out=given.trust)
        self.pillar_keys: tuple[str, ...] = ()  # as the last check saw them

    @cached_property
    def _real(self) -> list[tuple[str, str, str]]:
        """For each root: its kind or environment, its configured path, and its real path."""
        settings = self.settings
        pillar = [("", root) for roots in settings.pillar_roots.values() for root in roots]
        states = [(env, root) for env in self.tree.environments() for root in self.tree.roots(env)]
        return [(env, root, os.path.realpath(root)) for env, root in (*pillar, *states)]

    def place(self, path: str) -> tuple[str, str] | None:
        """Environment (empty: pillar) and path below its root, for a file of this tree."""
        real = os.path.realpath(path)
        for env, _, root in self._real:
            if real != root and is_below(real, root):
                return env, os.path.relpath(real, root)
        return None

    def aliases(self, path: str) -> list[str]:
        """The path as the engine spells it: below the configured path of the root."""
        real = os.path.realpath(path)
        below = [
            f"{given}/{os.path.relpath(real, root)}" for _, given, root in self._real if is_below(real, root)
        ]
        return list(dict.fromkeys([path, *below]))

    def kind(self, path: str) -> str:
        """states, pillar, top, or template: any other file. A buffer without a file counts as states."""
        if not os.path.isabs(path):
            return "states"
        place = self.place(path)
        name = os.path.basename(path)
        if name == self.settings.state_top:
            return "top"
        if not name.endswith(".sls"):
            return "template"
        return "pillar" if place is not None and not place[0] else "states"

    def env(self, path: str) -> str:
        place = self.place(path)
        return (place[0] if place else "") or "base"

    def sls(self, path: str) -> str:
        """The SLS name of a file."""
        place = self.place(path)
        return sls_name(place[1]) if place else sls_name(os.path.basename(path))


class Sites:
    """The trees of the open files, made when they are first needed."""

    def __init__(self, given: Given, environ: Mapping[str, str]) -> None:
        self.given = given
        self.folders: list[str] = []  # the editor's
        self._environ = environ
        self._known: dict[Found, Site] = {}
        self._stamps: dict[Found, tuple[object, ...]] = {}

    def of(self, path: str) -> Site:
        """The tree of a file. Never raises: if the configuration cannot be read, the default settings are
        used.
        """
        above = _above(path)
        opened = [os.path.realpath(one) for one in self.folders]
        inside = [place for place in above if any(is_below(place, one) for one in opened)]
        config = self._config(inside)
        configured = self._site(Found(config=config))
        if configured.place(path) is not None or "file_roots" in self.given.options:
            return configured
        top = configured.settings.state_top
        roots = [place for place in above if os.path.isfile(os.path.join(place, top))]
        roots += [place for place in inside if os.path.basename(place) in (*USUAL_ROOTS, USUAL_PILLAR)]
        roots += [place for place in inside if place in opened]
        return self._site(_around([*roots, above[0]][0], config, configured.configured))

    def all(self) -> Iterable[Site]:
        return list(self._known.values())

    def _config(self, inside: list[str]) -> str | None:
        """The named configuration, else one in a folder of the editor; None for the usual places."""
        if self.given.config or self._environ.get("SALTERN_CONFIG"):
            return self.given.config
        places = (os.path.join(place, CONFIG) for place in inside)
        return next(filter(os.path.isfile, places), None)

    def _site(self, found: Found) -> Site:
        known = self._known.get(found)
        if known is None or self._stamps[found] != _stamp(known.settings.files):
            settings = self._settings(found)
            known = self._known[found] = Site(
                self.given, found, settings, self._allowed_settings(found, settings)
            )
            self._stamps[found] = _stamp(settings.files)
        return known

    def _allowed_settings(self, found: Found, settings: Settings) -> Settings:
        """The settings that are allowed for this tree."""
        if self.given.trust:
            return settings
        try:
            places = resolve_options(found.config, {**self.given.options, **found.options()}, self._environ)[
                2
            ]
        except OperationError:
            places = []
        return restrict_settings(settings, places)[0]

    def _settings(self, found: Found) -> Settings:
        options = {**self.given.options, **found.options()}
        try:
            return load(found.config, options, self._environ)[0]
        except OperationError:  # the check reports its problems; it is read again once it is fixed
            files = [found.config] if found.config else []
            return Settings(**options, files=files)  # type: ignore[arg-type]


def _above(path: str) -> list[str]:
    """The directory of a file and all above it, nearest first."""
    folder = os.path.dirname(os.path.realpath(path))
    above = [folder]
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        above.append(folder)
    return above


def _around(root: str, config: str | None, settings: Settings) -> Found:
    """The roots around a file. States and pillar are often side by side; a configured pillar has
    precedence.
    """
    beside = os.path.dirname(root)
    if os.path.basename(root) == USUAL_PILLAR:
        states = (os.path.join(beside, name) for name in USUAL_ROOTS)
        return Found(config=config, root=next(filter(os.path.isdir, states), ""), pillar=root)
    pillar = os.path.join(beside, USUAL_PILLAR)
    is_free = settings.pillar_roots == Settings().pillar_roots and os.path.isdir(pillar)
    return Found(config=config, root=root, pillar=pillar if is_free else None)


def _stamp(files: Iterable[str]) -> tuple[object, ...]:
    """A value that changes when one of the files changes."""
    found: list[object] = []
    for file in files:
        try:
            known = os.stat(file)
            found.append((file, known.st_mtime_ns, known.st_size))
        except OSError:
            found.append((file, None))
    return tuple(found)
