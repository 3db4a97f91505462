"""``gem``: Ruby packages."""

from __future__ import annotations

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.states import gem as states


@function(name="list")
def list_(
    ctx: Context,
    prefix: str = "",
    ruby: str | None = None,
    runas: str | None = None,
    gem_bin: str | None = None,
) -> dict[str, list[str]]:
    """Installed gems and all their versions; only those that begin with ``prefix``."""
    found = states.gems(ctx, states.gem_for(ruby, gem_bin, runas))
    return {name: versions for name, versions in found.items() if name.startswith(prefix)}


@function
def sources_list(
    ctx: Context, ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> list[str]:
    """The addresses gems are taken from."""
    return states.sources(ctx, states.gem_for(ruby, gem_bin, runas))


@function
def install(
    ctx: Context,
    gems: str,
    ruby: str | None = None,
    gem_bin: str | None = None,
    runas: str | None = None,
    version: str | None = None,
) -> bool:
    """Install a gem."""
    gem = states.gem_for(ruby, gem_bin, runas)
    words = ["--version", version] if version else []
    gem.out(ctx, "install", "--no-document", *words, "--", *gems.split(), what="Could not install gem")
    return True


@function
def uninstall(
    ctx: Context,
    gems: str,
    ruby: str | None = None,
    runas: str | None = None,
    gem_bin: str | None = None,
) -> bool:
    """Remove a gem in all its versions."""
    gem = states.gem_for(ruby, gem_bin, runas)
    gem.out(ctx, "uninstall", "--all", "--executables", "--", *gems.split(), what="Could not remove gem")
    return True
