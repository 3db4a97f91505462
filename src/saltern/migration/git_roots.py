"""Salt's git remotes as roots of a controller: ``gitfs_remotes`` → ``git+https://…@REF``. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

Values = Mapping[str, object]
BACKENDS = frozenset({"git", "gitfs"})
IN_ADDRESS = {"root": "subdirectory", "mountpoint": "mountpoint"}
"""Settings of a remote that are part of the address of a root."""
ADVICE = "set what you need there: docs/guides/git-sources.md"


def roots_of(master: Values) -> dict[str, list[str]]:
    """The file roots, and the git remotes for the environments that they name."""
    given = master.get("file_roots") or {"base": ["/srv/salt"]}
    roots = {str(env): list(some) for env, some in given.items()} if isinstance(given, dict) else {}
    for address, settings in _remotes(master):
        for environment, own in _environments(settings):
            root = _root(address, {**_common(master), **settings, **own})
            roots.setdefault(environment, []).append(root)
    return roots


def left_settings(master: Values) -> Iterator[tuple[str, str]]:
    """Settings of remotes that roots do not support: the setting, and what to do."""
    for address, settings in _remotes(master):
        known = {*IN_ADDRESS, "base", "saltenv", "name"}
        if names := sorted(set(settings) - known):
            yield f"{', '.join(names)} of the git remote {address}", f"in controller.yaml: {ADVICE}"
    if any(True for _ in _remotes(master)):
        what = "branches and tags of git remotes that are environments of their own"
        yield what, "name each environment with its root, …@BRANCH, in file_roots of controller.yaml"


def _remotes(master: Values) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each remote with its own settings; none if git is not among the backends."""
    backends = master.get("fileserver_backend") or ["roots"]
    remotes = master.get("gitfs_remotes")
    if not isinstance(backends, list) or not BACKENDS & set(map(str, backends)):
        return
    for remote in remotes if isinstance(remotes, list) else []:
        if not isinstance(remote, dict):
            yield str(remote), {}
            continue
        for address, settings in remote.items():
            yield str(address), _merge_settings(settings)


def _merge_settings(settings: object) -> dict[str, Any]:
    """One mapping of a list of mappings."""
    parts = settings if isinstance(settings, list) else [settings]
    return {str(name): value for one in parts if isinstance(one, dict) for name, value in one.items()}


def _common(master: Values) -> dict[str, Any]:
    """The values that ``gitfs_…`` sets for all remotes."""
    found = {name: master.get(f"gitfs_{name}") for name in (*IN_ADDRESS, "base")}
    return {"base": "master", **{name: value for name, value in found.items() if value}}


def _environments(settings: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """``base``, and the environments that a remote maps to references of its own."""
    yield "base", {}
    for one in settings.get("saltenv") or ():
        for name, own in one.items() if isinstance(one, dict) else ():
            found = _merge_settings(own)
            yield str(name), {**found, "base": found.get("ref", name)}


def _root(address: str, settings: Mapping[str, Any]) -> str:
    """The address of a root: the remote, its reference, its directory and its mount point."""
    parts = [
        f"{ours}={quote(str(settings[theirs]), safe='/:')}"
        for theirs, ours in IN_ADDRESS.items()
        if settings.get(theirs)
    ]
    return f"{_git_address(address)}@{settings['base']}" + (f"#{'&'.join(parts)}" if parts else "")


def _git_address(address: str) -> str:
    """The address of a root for Salt's address of a remote."""
    if "://" in address:
        return f"git+{address}"
    if address.startswith("/"):
        return f"git+file://{address}"
    host, _, path = address.partition(":")
    return f"git+ssh://{host}/{path}"
