"""A cache for files from the web that lasts between runs, below ``extrn_files``."""

from __future__ import annotations

import os
import re

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import digest
from saltern.modules.lib.web import Reply, WebError, fetch, split_login
from saltern.system import files

LONGEST = 200
PRIVATE = files.Attributes(mode=0o600)


def cache_path(ctx: Context, url: str, env: str | None = None) -> str:
    """The path of a cached download: by environment, host and path, as in Salt."""
    from urllib.parse import urlsplit

    from saltern.config.settings import cache_directory

    parts = urlsplit(split_login(url)[0])
    host = re.sub(r"[^\w.-]", "", parts.netloc.rpartition("@")[2]).strip(".") or "nohost"
    steps = [step for step in parts.path.split("/") if step not in ("", ".", "..")] or ["index"]
    name = "/".join(steps) + (f"-{parts.query}" if parts.query else "")
    cache = str(ctx.opts.get("cachedir") or cache_directory(ctx.settings))
    top = os.path.join(cache, "extrn_files", env or ctx.env, host)
    path = os.path.join(top, name)
    if "\0" in name or ".." in name.split("/") or max(map(len, name.split("/"))) > LONGEST or _blocked(path):
        path = os.path.join(top, digest(url.encode()))
    return path


def _blocked(path: str) -> bool:
    """True if a cached file is where this one needs a directory, or the other way round."""
    above = os.path.dirname(path)
    while len(above) > 1 and not os.path.isdir(above):
        if os.path.lexists(above):
            return True
        above = os.path.dirname(above)
    return os.path.isdir(path)


def read_kept(path: str) -> bytes | None:
    try:
        return files.read(path)
    except OSError:
        return None


def ask(ctx: Context, url: str, *, verify_ssl: bool, use_etag: bool) -> Reply:
    """The reply of the server; with ``use_etag`` the cached copy, if the server confirms that it is
    current.
    """
    path = cache_path(ctx, url)
    old = read_kept(path) if use_etag else None
    tag = (read_kept(f"{path}.etag") or b"").decode("utf-8", "replace").strip() if old is not None else ""
    try:
        reply = fetch(url, verify=verify_ssl, etag=tag)
    except WebError as problem:
        raise Refused(str(problem)) from None
    return Reply(old, tag, unchanged=True) if reply.unchanged else reply


def keep(ctx: Context, url: str, data: bytes, etag: str = "") -> str:
    path = cache_path(ctx, url)
    files.make_directories(os.path.dirname(path), files.Attributes(mode=0o700))
    if read_kept(path) != data:
        files.write(path, data, PRIVATE)
    if etag:
        files.write(f"{path}.etag", etag.encode(), PRIVATE)
    else:
        files.remove(f"{path}.etag")
    return path


def forget(ctx: Context, url: str) -> None:
    path = cache_path(ctx, url)
    for one in (path, f"{path}.etag"):
        files.remove(one)
