"""Fetch roots that are git repositories before anything is read: one commit for a run.

The resulting settings have only directories, and name the commit of each repository in ``source_commits``: a
resumed run, and nested calls of the engine, use the same files.
"""

from __future__ import annotations

import os
from functools import partial

from msgspec.structs import replace

from saltern.config.files import option_place
from saltern.config.settings import COMMITS, Settings, cache_directory, commits_of
from saltern.language.diagnostics import Diagnostic
from saltern.sources.git.gitfs import gitfs_remotes
from saltern.sources.git.roots import GitRoots, Roots

BACKENDS = ("git", "gitfs")


def local_settings(settings: Settings, *, max_age: float | None = None) -> tuple[Settings, list[Diagnostic]]:
    """The settings with directories instead of repositories, and warnings. Raises ``OperationError``."""
    age = settings.git_update_interval if max_age is None else max_age
    place = partial(option_place, settings.files)
    git = GitRoots(os.path.join(cache_directory(settings), "git"), max_age=age, place=place)
    files = git.resolve_remotes(settings.file_roots, "file_roots")
    pillar = git.resolve_remotes(settings.pillar_roots, "pillar_roots")
    if _is_backend(settings):
        found = git.gitfs(gitfs_remotes(settings.extra, place), list(files))
        files = _join_roots(files, found, first=_is_first(settings))
    extra = {name: value for name, value in settings.extra.items() if name != "gitfs_remotes"}
    extra[COMMITS] = {**commits_of(settings.extra), **git.commits}
    return replace(settings, file_roots=files, pillar_roots=pillar, extra=extra), git.warnings


def _backends(settings: Settings) -> list[str]:
    given = settings.extra.get("fileserver_backend")
    return [str(one) for one in given] if isinstance(given, list) else [str(given)] if given else []


def _is_backend(settings: Settings) -> bool:
    named = _backends(settings)
    return bool(settings.extra.get("gitfs_remotes")) and (not named or any(one in named for one in BACKENDS))


def _is_first(settings: Settings) -> bool:
    """True if repositories come before directories."""
    named = _backends(settings)
    return bool(named) and named[0] in BACKENDS


def _join_roots(files: Roots, found: Roots, *, first: bool) -> Roots:
    envs = dict.fromkeys((*files, *found))
    pairs = {env: (files.get(env, []), found.get(env, [])) for env in envs}
    return {env: [*git, *dirs] if first else [*dirs, *git] for env, (dirs, git) in pairs.items()}
