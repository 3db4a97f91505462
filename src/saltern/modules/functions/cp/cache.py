"""``cp``: get files of the tree and of servers into the cache."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase

from saltern.language.mask import mask
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.functions.cp.query import list_master
from saltern.modules.functions.file.errors import explain_errors
from saltern.modules.lib import addresses
from saltern.modules.lib.nested_data import each


@function
def cache_file(
    ctx: Context,
    path: str,
    saltenv: str | None = None,
    source_hash: str | None = None,
    verify_ssl: bool = True,
    use_etag: bool = False,
) -> str | bool:
    """The path of a file on this machine, or False.

    Example:
        ```console
        $ saltern call cp.cache_file salt://web/motd
        local:
            /srv/salt/web/motd
        ```
    """
    if addresses.is_web(path):
        return _fetch(ctx, path, source_hash or "", verify_ssl, use_etag)
    return addresses.on_disk(ctx, path, saltenv) or False


def _fetch(ctx: Context, url: str, source_hash: str, verify_ssl: bool, use_etag: bool) -> str:
    from saltern.modules.lib.files import sources, web_cache

    how = sources.Fetch(
        source_hash=source_hash, skip_verify=not source_hash, verify_ssl=verify_ssl, use_etag=use_etag
    )
    try:
        found = sources.find(ctx, url, how)
    except Refused as refusal:
        raise BadArgument(f"cannot fetch {mask(url)}: {refusal}") from None
    with explain_errors(mask(url)):
        return web_cache.keep(ctx, url, found.data, found.etag)


@function
def cache_files(ctx: Context, paths: object, saltenv: str | None = None) -> list[str | bool]:
    """The paths of files on this machine. ``paths`` is a list, or a text with commas.

    Example:
        ```console
        $ saltern call cp.cache_files salt://web/motd,salt://web/init.sls
        local:
            - /srv/salt/web/motd
            - /srv/salt/web/init.sls
        ```
    """
    names = paths.split(",") if isinstance(paths, str) else each(paths)
    return [cache_file(ctx, str(path).strip(), saltenv) for path in names]


@function
def cache_dir(
    ctx: Context,
    path: str,
    saltenv: str | None = None,
    include_empty: bool = False,
    include_pat: str | None = None,
    exclude_pat: str | None = None,
) -> list[str]:
    """The paths of the files below a directory of the tree on this machine.

    Example:
        ```console
        $ saltern call cp.cache_dir salt://web/files
        local:
            - /srv/salt/web/files/about.html
            - /srv/salt/web/files/index.html
        ```
    """
    names = list_master(ctx, saltenv, path.removeprefix("salt://").rstrip("/") + "/")
    wanted = [name for name in names if _wanted(name, include_pat, exclude_pat)]
    return [found for name in wanted if (found := ctx.files.find(name, saltenv or ctx.env))]


def _wanted(name: str, include: str | None, exclude: str | None) -> bool:
    return (not include or _fits(name, include)) and not (exclude and _fits(name, exclude))


def _fits(name: str, pattern: str) -> bool:
    """True if a name matches a glob, or ``E@`` and a regular expression."""
    if pattern.startswith("E@"):
        return re.search(pattern[2:], name) is not None
    return fnmatchcase(name, pattern) or fnmatchcase(os.path.basename(name), pattern)


@function
def cache_master(ctx: Context, saltenv: str | None = None) -> list[str | bool]:
    """The paths of all files of the tree on this machine.

    Example:
        ```console
        $ saltern call cp.cache_master
        ```
    """
    return cache_files(ctx, [f"salt://{name}" for name in list_master(ctx, saltenv)], saltenv)
