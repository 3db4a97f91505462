"""Which branch or tag of a remote of ``gitfs_remotes`` is part of which environment. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from msgspec.structs import replace

from saltern.sources.git.gitfs import KINDS, GitfsRemote, mountpoint
from saltern.sources.git.refspecs import Refs
from saltern.sources.git.remote import COMMIT, Remote, is_reference

ANY = "__env__"
BASE = "base"


def environments(one: GitfsRemote, refs: Refs, others: Iterable[str]) -> dict[str, Remote]:
    """The root that each environment gets from this remote; ``others`` are environments in any case."""
    short = _short_names(one, refs)
    names = dict.fromkeys((BASE, *others, *one.envs, *(short if one.mapped and not one.all_envs else ())))
    found: dict[str, Remote] = {}
    for env in (*names, ANY):
        ref = _reference(env, one, short)
        if ref and _is_allowed(env, one):
            found[env] = _root(one.remote, ref, one.envs.get(env, {}))
    return found


def wanted_refs(one: GitfsRemote, refs: Refs) -> list[str]:
    """The full names of the references that any environment may need."""
    short = _short_names(one, refs)
    needed = named_refs(one)
    every = one.mapped and not one.all_envs
    return [
        full
        for name, full in short.items()
        if name in needed or (every and _is_allowed(_own(name, one), one))
    ]


def named_refs(one: GitfsRemote) -> set[str]:
    """Branches and tags that the settings name."""
    refs = {one.base, one.all_envs, one.fallback, *(words.get("ref", env) for env, words in one.envs.items())}
    return {ref for ref in refs if ref}


def _own(name: str, one: GitfsRemote) -> str:
    """The environment for a branch or tag of this name."""
    return BASE if name == one.base else name


def _short_names(one: GitfsRemote, refs: Refs) -> dict[str, str]:
    """Full names by short ones. Branches win over tags; names that no setting can have are left out."""
    prefixes = [KINDS[kind] for kind in ("tag", "branch") if kind in one.kinds]
    pairs = [
        (full.removeprefix(begin), full)
        for begin in prefixes
        for full in refs.commits
        if full.startswith(begin)
    ]
    return {name: full for name, full in pairs if is_reference(name)}


def _reference(env: str, one: GitfsRemote, short: Mapping[str, str]) -> str:
    """The branch, tag or commit of an environment, else the fallback; empty if the remote has neither."""
    is_fallback_safe = env != ANY or not (one.allowed or one.refused)
    found = _wanted_ref(env, one)
    if found and _exists(found, one, short):
        return found
    return one.fallback if is_fallback_safe and one.fallback in short else ""


def _wanted_ref(env: str, one: GitfsRemote) -> str:
    own = one.envs.get(env, {}).get("ref", "")
    if one.all_envs:
        return one.all_envs
    if env == BASE:
        return own or one.base
    if env == ANY:
        return ""
    return own or (env if one.mapped and not _is_taken(env, one) else "")


def _is_taken(name: str, one: GitfsRemote) -> bool:
    """True if a branch or tag belongs to an environment with another name."""
    return name == one.base or any(words.get("ref") == name for words in one.envs.values())


def _exists(ref: str, one: GitfsRemote, short: Mapping[str, str]) -> bool:
    return ref in short or ("sha" in one.kinds and COMMIT.fullmatch(ref) is not None)


def _root(remote: Remote, ref: str, words: Mapping[str, str]) -> Remote:
    folder = words["root"].strip("/") if "root" in words else remote.folder
    mount = mountpoint(words["mountpoint"]) if "mountpoint" in words else remote.mountpoint
    return replace(remote, ref=ref, folder=folder, mountpoint=mount)


def _is_allowed(env: str, one: GitfsRemote) -> bool:
    if env == ANY:
        return True
    listed = not one.allowed or any(_fits(env, pattern) for pattern in one.allowed)
    return listed and not any(_fits(env, pattern) for pattern in one.refused)


def _fits(env: str, pattern: str) -> bool:
    """True if the environment matches a name, a shell pattern or a regular expression, as in Salt."""
    if env == pattern or fnmatchcase(env, pattern):
        return True
    try:
        return re.fullmatch(pattern, env) is not None
    except re.error:
        return False
