"""``cp``: the files of the tree, from templates.

There is nothing to cache: a file of the tree is on this machine already, so its "cached"
copy is the file itself. Only what comes from the web is kept, below ``cachedir``.
"""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from saltern.language.mask import mask
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.functions.file.errors import explain_errors
from saltern.modules.lib import addresses
from saltern.modules.lib.nested_data import each


@function
def get_file_str(ctx: Context, path: str, saltenv: str | None = None) -> str | bool:
    """The text of a file, or False.

    Example:
        ```console
        $ saltern call cp.get_file_str salt://web/motd
        local:
            Welcome to web1
        ```
    """
    found = cache_file(ctx, path, saltenv)
    return addresses.read(str(found)).decode("utf-8", "replace") if found else False


@function
def cache_file(
    ctx: Context,
    path: str,
    saltenv: str | None = None,
    source_hash: str | None = None,
    verify_ssl: bool = True,
    use_etag: bool = False,
) -> str | bool:
    """Where a file can be read on this machine, or False.

    Example:
        ```console
        $ saltern call cp.cache_file salt://web/motd
        local:
            /srv/salt/web/motd
        ```
    """
    if addresses.is_web(path):
        return _fetched(ctx, path, source_hash or "", verify_ssl, use_etag)
    return addresses.on_disk(ctx, path, saltenv) or False


def _fetched(ctx: Context, url: str, source_hash: str, verify_ssl: bool, use_etag: bool) -> str:
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
    """Where these files can be read on this machine: a list of them, or their names with commas between.

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
    """Where the files below a directory of the tree can be read on this machine.

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
    """A glob, or ``E@`` and a regular expression."""
    if pattern.startswith("E@"):
        return re.search(pattern[2:], name) is not None
    return fnmatchcase(name, pattern) or fnmatchcase(os.path.basename(name), pattern)


@function
def cache_master(ctx: Context, saltenv: str | None = None) -> list[str | bool]:
    """Where every file of the tree can be read on this machine.

    Example:
        ```console
        $ saltern call cp.cache_master
        ```
    """
    return cache_files(ctx, [f"salt://{name}" for name in list_master(ctx, saltenv)], saltenv)


@function
def is_cached(ctx: Context, path: str, saltenv: str | None = None) -> str:
    """Where the copy of a file is, or nothing.

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
    """The digest of a file and how it was made, or nothing.

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
    """The mode of a file of the tree, or nothing.

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
    """The names of every SLS of the environment.

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
def get_file(
    ctx: Context,
    /,
    path: str,
    dest: str,
    saltenv: str | None = None,
    makedirs: bool = False,
    template: str | None = None,
    gzip: object = None,
    **values: object,
) -> str | bool:
    """Copy a file to ``dest``; a directory there keeps the file's name.

    Example:
        ```console
        $ saltern call cp.get_file salt://web/motd /etc/motd
        local:
            /etc/motd
        ```
    """
    found = cache_file(ctx, path, saltenv)
    if not found:
        return ""
    data = addresses.read(str(found))
    if template:
        data = _rendered(ctx, data, path, template, saltenv, values)
    return _put(data, dest, os.path.basename(path.partition("?")[0]), makedirs)


def _rendered(
    ctx: Context, data: bytes, path: str, engine: str, saltenv: str | None, values: Mapping[str, object]
) -> bytes:
    text = data.decode("utf-8", "replace")
    place = path.removeprefix("salt://")
    return ctx.templates.text(text, engine=engine, env=saltenv or ctx.env, path=place, values=values).encode()


def _put(data: bytes, dest: str, name: str, makedirs: bool) -> str | bool:
    if dest.endswith("/") or os.path.isdir(dest):
        dest = os.path.join(dest, name)
    above = os.path.dirname(dest)
    if above and not os.path.isdir(above):
        if not makedirs:
            return False
        os.makedirs(above, exist_ok=True)
    _write(dest, data)
    return dest


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


@function
def get_template(
    ctx: Context,
    /,
    path: str,
    dest: str,
    template: str = "jinja",
    saltenv: str | None = None,
    makedirs: bool = False,
    **values: object,
) -> str | bool:
    """Render a file to ``dest``.

    Example:
        ```console
        $ saltern call cp.get_template salt://web/motd /etc/motd
        local:
            /etc/motd
        ```
    """
    return get_file(ctx, path, dest, saltenv, makedirs, template, None, **values)


@function
def get_url(
    ctx: Context,
    path: str,
    dest: str | None = "",
    saltenv: str | None = None,
    makedirs: bool = False,
    source_hash: str | None = None,
    verify_ssl: bool = True,
    use_etag: bool = False,
) -> str | bool:
    """Fetch a file. ``dest`` None gives its text, an empty one keeps it and says where.

    Example:
        ```console
        $ saltern call cp.get_url http://localhost:8000/health /srv/app/health
        local:
            /srv/app/health
        ```
    """
    if dest is None:
        return get_file_str(ctx, path, saltenv)
    if dest == "":
        return cache_file(ctx, path, saltenv, source_hash, verify_ssl, use_etag)
    return get_file(ctx, path, dest, saltenv, makedirs)


@function
def get_dir(
    ctx: Context,
    path: str,
    dest: str,
    saltenv: str | None = None,
    template: str | None = None,
    gzip: object = None,
) -> list[str | bool]:
    """Copy a directory of the tree, with all below it, into ``dest``.

    Example:
        ```console
        $ saltern call cp.get_dir salt://web/files /var/www
        local:
            - /var/www/files/about.html
            - /var/www/files/index.html
        ```
    """
    top = path.removeprefix("salt://").strip("/")
    above = os.path.dirname(top)
    return [
        get_file(
            ctx,
            f"salt://{name}",
            os.path.join(dest, os.path.relpath(name, above) if above else name),
            saltenv,
            True,
            template,
        )
        for name in list_master(ctx, saltenv, f"{top}/")
    ]


@function
def list_master_symlinks(ctx: Context, saltenv: str | None = None, prefix: str = "") -> dict[str, str]:
    """The links among the files of the environment, and where they lead.

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
