"""``file.cached`` and ``file.not_cached``: files from the web, kept on this machine."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.states.file import sources
from saltern.modules.states.file.answers import Refusal, changed, digest, facts, guarded, unchanged
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
    """Fetch a file from the web into the cache, for later states. Other sources are only looked for.

    Args:
        name: the URL, ``salt://`` or path.
        source_hash, source_hash_name, skip_verify: as for ``file.managed``.
        use_etag, source_hash_sig, signed_by_any, signed_by_all, keyring, gnupghome, sig_backend:
            accepted for Salt's sake; a signature that is asked for is refused.

    Example:
        ```yaml
        http://localhost:8000/tool-1.2.tar.gz:
          file.cached:
            - source_hash: http://localhost:8000/tool-1.2.tar.gz.sha256
        ```
    """

    def work() -> Result:
        if any((source_hash_sig, signed_by_any, signed_by_all)):
            raise Refusal("signatures of sources are not checked here; give source_hash instead")
        how = sources.Fetch(
            source_hash=source_hash, source_hash_name=source_hash_name or "", skip_verify=skip_verify
        )
        if not name.startswith(WEB):
            found = sources.find(ctx, name, how)
            known: dict[str, object] = {"url": name, "size": len(found.data), "sha256": digest(found.data)}
            return unchanged(f"File {name} is present on this machine", known)
        return _from_web(ctx, name, how)

    return guarded(name, work)


def _from_web(ctx: Context, url: str, how: sources.Fetch) -> Result:
    path = sources.cache_path(ctx, url)
    old = files.read(path)
    if ctx.test and old is None and (how.source_hash or how.skip_verify):
        return changed(ctx, {"new": path}, "", f"{url} would be fetched", {"url": url, "path": path})
    found = sources.find(ctx, url, how)
    if found.data == old:
        known = facts(ctx, path, files.look(path), old) | {"url": url}
        return unchanged(f"{url} is kept at {path}", known)
    known = facts(ctx, path, files.look(path), found.data) | {"url": url}
    changes: dict[str, object] = (
        {"new": path} if old is None else {"hash": {"old": digest(old), "new": digest(found.data)}}
    )
    return changed(ctx, changes, f"{url} is kept at {path}", f"{url} would be fetched", known)


@state
def not_cached(ctx: Context, name: str) -> Result:
    """Remove what ``file.cached`` fetched.

    Args:
        name: the URL.

    Example:
        ```yaml
        http://localhost:8000/tool-1.2.tar.gz:
          file.not_cached: []
        ```
    """

    def work() -> Result:
        path = sources.cache_path(ctx, name)
        found = files.look(path)
        if found is None:
            return unchanged(f"nothing is kept of {name}", {"url": name, "path": path})
        if not ctx.test:
            files.remove(path)
        return changed(
            ctx,
            {"deleted": [path]},
            f"{path} was deleted",
            f"{path} would be deleted",
            {"url": name, "path": path},
        )

    return guarded(name, work)
