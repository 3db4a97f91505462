"""``file.cached`` and ``file.not_cached``: files from the web in the cache of this machine."""

from __future__ import annotations

from saltern.language.mask import mask
from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.lib.files import sources, web_cache
from saltern.modules.lib.files.facts import digest, facts
from saltern.modules.lib.files.signatures import read_signing
from saltern.system import files

WEB = ("http://", "https://", "ftp://")


@state
def cached(
    ctx: Context,
    name: str,
    *,
    source_hash: str = "",
    source_hash_name: str | None = None,
    skip_verify: bool = False,
    use_etag: bool = False,
    source_hash_sig: object = None,
    signed_by_any: object = None,
    signed_by_all: object = None,
    keyring: object = None,
    gnupghome: object = None,
    sig_backend: str = "gpg",
) -> Result:
    """Fetch a file from the web into the cache, for later states. For other sources, only check that they
    exist.

    Args:
        name: the URL, ``salt://`` or path.
        source_hash, source_hash_name, skip_verify: as for ``file.managed``.
        use_etag: compare the cached copy with the server by its ETag; no hash is needed then.
        source_hash_sig, signed_by_any, signed_by_all, keyring, gnupghome, sig_backend: signatures, as
            for ``file.managed``.

    Example:
        ```yaml
        http://localhost:8000/tool-1.2.tar.gz:
          file.cached:
            - source_hash: http://localhost:8000/tool-1.2.tar.gz.sha256
        ```
    """
    ctx.facts = {"path": mask(name)}
    how = sources.Fetch(
        source_hash=source_hash,
        source_hash_name=source_hash_name or "",
        skip_verify=skip_verify,
        use_etag=use_etag,
        signing=read_signing(
            None, source_hash_sig, signed_by_any, signed_by_all, keyring, gnupghome, sig_backend
        ),
    )
    if not name.startswith(WEB):
        found = sources.find(ctx, name, how)
        known: dict[str, object] = {"url": name, "size": len(found.data), "sha256": digest(found.data)}
        return result_of(ctx, {}, f"File {name} is present on this machine", known)
    return _from_web(ctx, name, how)


def _from_web(ctx: Context, address: str, how: sources.Fetch) -> Result:
    path, url = sources.cache_path(ctx, address), mask(address)
    old = files.read(path)
    if ctx.test and old is None and (how.source_hash or how.skip_verify or how.use_etag):
        return result_of(
            ctx, {"new": path}, Words(would=f"{url} would be fetched", done=""), {"url": url, "path": path}
        )
    found = sources.find(ctx, address, how)
    if found.data == old:
        known = facts(ctx, path, files.look(path), old) | {"url": url}
        return result_of(ctx, {}, f"{url} is cached at {path}", known)
    known = facts(ctx, path, files.look(path), found.data) | {"url": url}
    changes: dict[str, object] = (
        {"new": path} if old is None else {"hash": {"old": digest(old), "new": digest(found.data)}}
    )
    return result_of(
        ctx, changes, Words(would=f"{url} would be fetched", done=f"{url} is cached at {path}"), known
    )


@state
def not_cached(ctx: Context, name: str) -> Result:
    """Remove a file that ``file.cached`` fetched.

    Args:
        name: the URL.

    Example:
        ```yaml
        http://localhost:8000/tool-1.2.tar.gz:
          file.not_cached: []
        ```
    """
    ctx.facts = {"path": mask(name)}
    path = sources.cache_path(ctx, name)
    found = files.look(path)
    if found is None:
        return result_of(ctx, {}, f"{mask(name)} is not in the cache", {"url": mask(name), "path": path})
    if not ctx.test:
        web_cache.forget(ctx, name)
    return result_of(
        ctx,
        {"deleted": [path]},
        Words(would=f"{path} would be deleted", done=f"{path} was deleted"),
        {"url": mask(name), "path": path},
    )
