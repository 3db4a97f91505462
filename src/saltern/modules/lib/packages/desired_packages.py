"""The packages of a state, from ``name``, ``pkgs``, ``version`` and ``sources``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.addresses import download, is_web, on_disk
from saltern.modules.lib.packages.model import Listing, Manager, PackageError
from saltern.modules.lib.packages.versions import Condition, conditions

LATEST = "latest"


class Wanted(Struct, frozen=True, kw_only=True):
    """A package of a state. ``path`` is its file, if any; ``version`` is that of the file then."""

    name: str
    version: str = ""
    must: tuple[Condition, ...] = ()
    path: str = ""

    @property
    def newest(self) -> bool:
        return self.version == LATEST


def read_wanted(
    name: str,
    pkgs: object = None,
    version: str | None = None,
    *,
    plain_name: Callable[[str], str] = lambda name: name,
) -> list[Wanted]:
    """``pkgs`` if there is one, else ``name`` with ``version``. Raises ``BadArgument``."""
    if pkgs is None:
        return [_make_wanted(plain_name(name), version)]
    found = {plain_name(key): value for key, value in pairs(pkgs, "pkgs")}
    return [_make_wanted(key, value) for key, value in found.items()]


def _make_wanted(name: str, version: object) -> Wanted:
    text = "" if version is None else str(version).strip()
    if not name or name[0] in "-+" or any(sign.isspace() or not sign.isprintable() for sign in name):
        raise BadArgument(f"{name!r} is not the name of a package")
    must = conditions(text, name) if text and text != LATEST else ()
    return Wanted(name=name, version=text, must=must)


def pairs(given: object, what: str) -> list[tuple[str, object]]:
    """``[a, {b: 1.2}, …]`` or ``{a: …}`` as pairs; a plain name has None."""
    if isinstance(given, Mapping):
        return [(str(key), value) for key, value in given.items()]
    items = given if isinstance(given, list | tuple) else [given]
    found: list[tuple[str, object]] = []
    for item in items:
        if isinstance(item, Mapping):
            found += [(str(key), value) for key, value in item.items()]
        elif isinstance(item, str | int | float) and not isinstance(item, bool):
            found.append((str(item), None))
        else:
            raise BadArgument(f"{what} needs names and {{name: value}}, got {item!r}")
    return found


# -- files -------------------------------------------------------------------------------------


def from_sources(ctx: Context, manager: Manager, sources: object) -> list[Wanted]:
    """The packages of ``[{name: url}]``, fetched and inspected. Raises if a name is wrong."""
    found = []
    for name, url in pairs(sources, "sources"):
        if not isinstance(url, str) or not url:
            raise BadArgument(f"sources needs {{name: path or URL}}, got {name!r} without one")
        item = manager.inspect(_local(ctx, url))
        if manager.plain_name(name) != item.name:
            raise PackageError(f"{url} is the package {item.name}, not {name}")
        found.append(Wanted(name=item.name, version=item.version, path=item.path))
    return found


def _local(ctx: Context, url: str) -> str:
    if not is_web(url):
        path = on_disk(ctx, url)
        if path is None:
            raise PackageError(f"the package file {url} was not found")
        return path
    from saltern.modules.lib.files.sources import cache_path
    from saltern.system import files

    path = cache_path(ctx, url)
    files.make_directories(os.path.dirname(path), files.Attributes(mode=0o700))
    files.write(path, download(url), files.Attributes(mode=0o600))
    return path


def facts(manager: Manager, wants: list[Wanted], listing: Listing) -> dict[str, object]:
    """The facts about the packages, changed or not."""
    return {"manager": manager.name, "packages": {one.name: listing.get(one.name, "") for one in wants}}
