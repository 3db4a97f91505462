"""Files by their address: ``salt://``, a path, or a URL."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument

WEB = ("http", "https", "ftp")


def on_disk(ctx: Context, source: str, env: str | None = None) -> str | None:
    """The path of a file given as ``salt://…`` (also ``?saltenv=``) or as a path; None if it does not
    exist.
    """
    if source.startswith("salt://"):
        path, _, query = source.removeprefix("salt://").partition("?saltenv=")
        return ctx.files.find(path, query or env or ctx.env)
    path = source.removeprefix("file://")
    return path if os.path.isabs(path) and os.path.isfile(path) else None


def content(ctx: Context, source: str, env: str | None = None) -> bytes | None:
    """The bytes of ``salt://…``, of a local file, or of a URL; None if there is no such file here."""
    if is_web(source):
        return download(source)
    path = on_disk(ctx, source, env)
    return None if path is None else read(path)


def is_web(source: str) -> bool:
    return source.partition("://")[0].lower() in WEB


def download(url: str, *, limit: float = 60) -> bytes:
    from saltern.language.mask import mask
    from saltern.modules.lib.web import WebError, fetch

    try:
        data = fetch(url, limit=limit).data
    except WebError as problem:
        raise BadArgument(f"cannot fetch {problem}") from None
    if data is None:
        raise BadArgument(f"cannot fetch {mask(url)}: there is no such file")
    return data


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
