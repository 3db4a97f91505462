"""``cp``: list the tree, and read facts about its files."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib import addresses


@function
def is_cached(ctx: Context, path: str, saltenv: str | None = None) -> str:
    """The path of the cached copy of a file; empty if there is none.

    Example:
        ```console
        $ saltern call cp.cache_file salt://web/motd
        $ saltern call cp.is_cached salt://web/motd
        local:
            /srv/salt/web/motd
        ```
    """
    if addresses.is_web(path):
        from saltern.modules.lib.files.web_cache import cache_path

        kept = cache_path(ctx, path, saltenv)
        return kept if os.path.exists(kept) else ""
    return addresses.on_disk(ctx, path, saltenv) or ""


@function
def hash_file(ctx: Context, path: str, saltenv: str | None = None) -> dict[str, str] | str:
    """The digest of a file and its algorithm; empty if there is no such file.

    Example:
        ```console
        $ saltern call cp.hash_file salt://web/motd
        local:
            ----------
            hash_type:
                sha256
            hsum:
                290e5317e74329c1db67caa9e2e67bc0094d5c3d4054cd097eadffa8dec33063
        ```
    """
    import hashlib

    found = addresses.on_disk(ctx, path, saltenv)
    if not found:
        return ""
    kind = str(ctx.opts.get("hash_type") or "sha256")
    with open(found, "rb") as file:
        return {"hash_type": kind, "hsum": hashlib.file_digest(file, kind).hexdigest()}


@function
def stat_file(ctx: Context, path: str, saltenv: str | None = None, octal: bool = True) -> str | int:
    """The mode of a file of the tree; None if there is no such file.

    Example:
        ```console
        $ saltern call cp.stat_file salt://web/motd
        local:
            0644
        ```
    """
    found = addresses.on_disk(ctx, path, saltenv)
    if not found:
        return ""
    mode = os.stat(found).st_mode & 0o7777
    return f"{mode:04o}" if octal else mode


@function
def list_master(ctx: Context, saltenv: str | None = None, prefix: str = "") -> list[str]:
    """Every file of the environment.

    Example:
        ```console
        $ saltern call cp.list_master prefix=web/files
        local:
            - web/files/about.html
            - web/files/index.html
        ```
    """
    return [name for name in ctx.files.names(saltenv or ctx.env) if name.startswith(prefix)]


@function
def list_master_dirs(ctx: Context, saltenv: str | None = None, prefix: str = "") -> list[str]:
    """Every directory of the environment.

    Example:
        ```console
        $ saltern call cp.list_master_dirs
        local:
            - keys
            - web
            - web/files
        ```
    """
    return [name for name in ctx.files.directories(saltenv or ctx.env) if name.startswith(prefix)]


@function
def list_states(ctx: Context, saltenv: str | None = None) -> list[str]:
    """The names of all SLS files of the environment.

    Example:
        ```console
        $ saltern call cp.list_states
        local:
            - top
            - web
        ```
    """
    names = (name for name in ctx.files.names(saltenv or ctx.env) if name.endswith(".sls"))
    return sorted(name.removesuffix(".sls").removesuffix("/init").replace("/", ".") for name in names)


@function
def envs(ctx: Context) -> list[str]:
    """The environments.

    Example:
        ```console
        $ saltern call cp.envs
        local:
            - base
        ```
    """
    return ctx.files.environments()


@function
def list_master_symlinks(ctx: Context, saltenv: str | None = None, prefix: str = "") -> dict[str, str]:
    """The links among the files of the environment, with their targets.

    Example:
        ```console
        $ saltern call cp.list_master_symlinks
        local:
            ----------
            web/issue:
                motd
        ```
    """
    found = ctx.files.links(saltenv or ctx.env)
    return {name: target for name, target in found.items() if name.startswith(prefix)}
