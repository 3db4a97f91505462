"""``cp``: copy files of the tree and of servers, and render them."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.cp.cache import cache_file
from saltern.modules.functions.cp.query import list_master
from saltern.modules.lib import addresses


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
    """Copy a file to ``dest``; if that is a directory, the file keeps its name.

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
        data = _render(ctx, data, path, template, saltenv, values)
    return _put(data, dest, os.path.basename(path.partition("?")[0]), makedirs)


def _render(
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
    """Fetch a file. If ``dest`` is None, return its text; if it is empty, cache the file and return its path.

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
    """Copy a directory of the tree, with everything below it, into ``dest``.

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
