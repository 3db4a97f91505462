"""``npm``: Node packages."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib import npm as lib
from saltern.modules.lib.nested_data import each


@function(name="list")
def list_(
    ctx: Context,
    pkg: str | None = None,
    dir: str | None = None,
    runas: str | None = None,
    env: object = None,
    depth: int | None = None,
) -> dict[str, dict[str, str]]:
    """Installed packages, ``{name: {version}}``; only ``pkg`` if it is given.

    Example:
        ```console
        $ saltern call npm.list dir=/srv/site
        local:
            ----------
            left-trim:
                ----------
                version:
                    1.0.0
        ```
    """
    found = lib.packages(ctx, lib.npm_for(dir, runas, None, env))
    return {name: {"version": version} for name, version in found.items() if pkg in (None, name)}


@function
def install(
    ctx: Context,
    pkg: str | None = None,
    pkgs: object = None,
    dir: str | None = None,
    runas: str | None = None,
    registry: str | None = None,
    env: object = None,
    dry_run: bool = False,
    silent: bool = True,
) -> object:
    """Install packages; without ``pkg`` and ``pkgs``, those in ``package.json``.

    Example:
        ```console
        $ saltern call npm.install left-trim dir=/srv/site
        ```
    """
    npm = lib.npm_for(dir, runas, registry, env)
    names = [str(one) for one in each(pkgs)] if pkgs else [pkg] if pkg else []
    words = ["--dry-run"] if dry_run else []
    return npm.out(ctx, "install", *words, "--", *names, what="npm install failed")


@function
def uninstall(
    ctx: Context, pkg: str, dir: str | None = None, runas: str | None = None, env: object = None
) -> bool:
    """Remove a package.

    Example:
        ```console
        $ saltern call npm.uninstall left-trim dir=/srv/site
        local:
            True
        ```
    """
    lib.npm_for(dir, runas, None, env).out(ctx, "uninstall", "--", pkg, what="npm uninstall failed")
    return True
