"""Merge several directories of the tree: of each path, the first directory that has it wins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from saltern.modules.api.context import Context
from saltern.modules.lib.files.patterns import Matches
from saltern.modules.lib.files.sources import tree_path


class Listing(Struct, frozen=True):
    """The names below one directory of the tree. A link is listed as a link, and as its target."""

    url: str
    files: Sequence[str]
    directories: Sequence[str]
    links: Mapping[str, str]


def listing(ctx: Context, url: str, *, links: bool) -> Listing:
    name, env = tree_path(ctx, url)
    prefix = f"{name.strip('/')}/" if name.strip("/") else ""

    def below(names: Sequence[str]) -> list[str]:
        return [one[len(prefix) :] for one in names if one.startswith(prefix)]

    found = ctx.files.links(env) if links else {}
    return Listing(
        url,
        below(ctx.files.names(env)),
        below(ctx.files.directories(env)),
        {one[len(prefix) :]: target for one, target in found.items() if one.startswith(prefix)},
    )


class Layers(Struct):
    """The merged tree: ``files`` with their sources, ``links`` with their targets, and ``directories``."""

    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)

    def add(self, layer: Listing, chosen: Matches, *, include_empty: bool) -> None:
        """Add a layer below the earlier ones: nothing in them is replaced."""
        behind = _behind(layer)
        retyped = self._add_links(layer, chosen)
        for path in layer.files:
            if path not in behind and chosen(path) and not self._is_taken(path):
                self.files[path] = layer.url
                self.directories |= set(prefixes(os.path.dirname(path)))
        if include_empty:
            self._add_empty(layer, chosen, behind | retyped)
        else:
            self._drop_links_to_nothing(layer)

    def _is_taken(self, path: str) -> bool:
        return path in self.directories or any(
            one in self.files or one in self.links for one in prefixes(path)
        )

    def _add_links(self, layer: Listing, chosen: Matches) -> set[str]:
        """Add the links, and return those left out because an earlier layer replaces their target."""
        retyped = set()
        directories = set(layer.directories)
        for path, target in layer.links.items():
            if not chosen(path) or self._is_taken(path):
                continue
            landing = os.path.normpath(os.path.join(os.path.dirname(path), target))
            other = self.files if path in directories else self.directories
            if landing in other:
                retyped.add(path)
                continue
            self.links[path] = target
            self.directories |= set(prefixes(os.path.dirname(path)))
        return retyped

    def _add_empty(self, layer: Listing, chosen: Matches, left_out: set[str]) -> None:
        for path in layer.directories:
            if path not in left_out and chosen(path) and not self._is_taken(path):
                self.directories |= set(prefixes(path))

    def _drop_links_to_nothing(self, layer: Listing) -> None:
        """Drop links to empty directories that are not created, and links to such links."""
        directories = set(layer.directories)
        dropped = True
        while dropped:
            dropped = False
            for path, target in list(self.links.items()):
                landing = os.path.normpath(os.path.join(os.path.dirname(path), target))
                known = landing in self.files or landing in self.directories or landing in self.links
                if landing in directories and not known:
                    del self.links[path]
                    dropped = True

    @property
    def paths(self) -> set[str]:
        return {*self.files, *self.links, *self.directories}


def _behind(layer: Listing) -> set[str]:
    """The links, and the paths that are reached only through them."""
    names = (*layer.files, *layer.directories)
    return (
        {path for path in names if any(one in layer.links for one in prefixes(path))}
        if layer.links
        else set()
    )


def prefixes(path: str) -> Iterator[str]:
    """The path and its parent directories."""
    while path:
        yield path
        path = os.path.dirname(path)
