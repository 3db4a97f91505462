"""``gem``: Ruby packages."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.lib import gems as lib


def _names(gems: str) -> list[str]:
    """The names, at least one: without a name gem would act on all gems."""
    names = [lib.check_name(name) for name in gems.split()]
    if not names:
        raise BadArgument("gems needs the name of at least one gem")
    return names


@function(name="list")
def list_(
    ctx: Context,
    prefix: str = "",
    ruby: str | None = None,
    runas: str | None = None,
    gem_bin: str | None = None,
) -> dict[str, list[str]]:
    """Installed gems and all their versions; only those that begin with ``prefix``.

    Example:
        ```console
        $ saltern call gem.list tidy
        local:
            ----------
            tidy:
                - 1.1.0
        ```
    """
    found = lib.gems(ctx, lib.gem_for(ruby, gem_bin, runas))
    return {name: versions for name, versions in found.items() if name.startswith(prefix)}


@function
def sources_list(
    ctx: Context, ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> list[str]:
    """The URLs that gems are fetched from.

    Example:
        ```console
        $ saltern call gem.sources_list
        local:
            - http://localhost:8000/gems/
            - https://rubygems.org/
        ```
    """
    return lib.sources(ctx, lib.gem_for(ruby, gem_bin, runas))


@function
def install(
    ctx: Context,
    gems: str,
    ruby: str | None = None,
    gem_bin: str | None = None,
    runas: str | None = None,
    version: str | None = None,
) -> bool:
    """Install a gem.

    Example:
        ```console
        $ saltern call gem.install tidy version=1.0.0
        local:
            True
        ```
    """
    gem = lib.gem_for(ruby, gem_bin, runas)
    words = [*(["--version", version] if version else []), *_names(gems)]
    gem.out(ctx, "install", "--no-document", *words, what="Could not install gem")
    return True


@function
def uninstall(
    ctx: Context,
    gems: str,
    ruby: str | None = None,
    runas: str | None = None,
    gem_bin: str | None = None,
) -> bool:
    """Remove all versions of a gem.

    Example:
        ```console
        $ saltern call gem.uninstall tidy
        local:
            True
        ```
    """
    gem = lib.gem_for(ruby, gem_bin, runas)
    gem.out(ctx, "uninstall", "--all", "--executables", *_names(gems), what="Could not remove gem")
    return True
