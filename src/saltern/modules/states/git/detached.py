"""``git.detached``: a working copy at one revision, without a branch."""

from __future__ import annotations

from typing import Unpack

from msgspec.structs import replace

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.groups import rest_of
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.git.clone import (
    Clone,
    check_room,
    clone_new,
    get_commit,
    target_path,
    update_submodules,
    whole,
)
from saltern.modules.lib.git.command import Git, LoginArguments, git_with, shown_url
from saltern.modules.lib.git.copy import Copy, commit_of, is_repository, look, stale_submodules
from saltern.modules.lib.git.remote import SHA, Remote, Revision, ask, resolve

MEANINGLESS = frozenset({"password", "output_encoding"})


@state
def detached(
    ctx: Context,
    /,
    name: str,
    *,
    rev: str,
    target: str | None = None,
    remote: str = "origin",
    force_clone: bool = False,
    force_checkout: bool = False,
    fetch_remote: bool = True,
    hard_reset: bool = False,
    submodules: bool = False,
    **access: Unpack[LoginArguments],
) -> Result:
    """Make sure that the HEAD of a working copy is detached at a revision.

    Args:
        name: the address of the remote repository.
        rev: a commit, a tag, or a branch of the remote.
        target: the directory of the working copy.
        remote: the name of the remote in the working copy.
        force_clone: remove the contents of the directory if it is not a repository.
        force_checkout: switch to the revision and lose local changes.
        fetch_remote: False does not contact the remote if the revision is available locally.
        hard_reset: always discard local changes.
        submodules: fetch and update submodules, too.

    Example:
        ```yaml
        file:///srv/git/dotfiles.git:
          git.detached:
            - target: /srv/dotfiles
            - rev: v1.0
        ```
    """
    ctx.facts = {"path": target or "", "url": shown_url(name)}
    ctx.foreseen = {"new": f"{shown_url(name)} => {target}"}
    path = target_path(target)
    git = git_with(ctx, access)
    how = Clone(url=name, path=path, remote=remote, submodules=submodules, force=force_clone)
    warnings = unused_warnings(rest_of(access, LoginArguments), MEANINGLESS)
    if not is_repository(path):
        return _new(ctx, git, how, rev, warnings)
    forces = (force_checkout, hard_reset)
    return _here(ctx, git, how, rev, fetch=fetch_remote, forces=forces, warnings=warnings)


def _new(ctx: Context, git: Git, how: Clone, rev: str, warnings: tuple[str, ...]) -> Result:
    forced = check_room(how.path, force=how.force)
    found = ask(git, how.url)
    revision = resolve(found, rev, url=how.url)
    sha = whole(git, "", found, revision)
    changes, data = clone_new(git, how, revision, sha, forced=forced)
    source = shown_url(how.url)
    would, done = f"{source} would be cloned to {how.path}", f"{source} cloned to {how.path}"
    return result_of(ctx, changes, Words(would=would, done=done), data, warnings)


def _here(
    ctx: Context,
    git: Git,
    how: Clone,
    rev: str,
    *,
    fetch: bool,
    forces: tuple[bool, bool],
    warnings: tuple[str, ...],
) -> Result:
    force_checkout, hard_reset = forces
    copy = look(git, how.path, how.remote)
    sha = _commit_of(git, how, rev, fetch=fetch)
    changes: dict[str, object] = {}
    if copy.url != how.url:
        new = shown_url(how.url)
        changes[f"remotes/{how.remote}"] = {"old": shown_url(copy.url) if copy.url else None, "new": new}
    if copy.revision != sha:
        changes["revision"] = {"old": copy.revision or None, "new": sha}
    elif copy.branch:
        changes["branch"] = {"old": copy.branch, "new": None}
    if copy.dirty and hard_reset:
        changes["forced update"] = True
    elif copy.dirty and "revision" in changes and not force_checkout:
        raise Refused(
            f"Repository {how.path} has uncommitted changes ({', '.join(copy.dirty[:10])}); set "
            "'force_checkout' to True to discard them"
        )
    if how.submodules and not changes and (stale := stale_submodules(git, how.path)):
        changes["submodules"] = stale
    if changes and not ctx.test:
        _do(git, how, copy, sha, changes, force=force_checkout or hard_reset)
        copy = look(git, how.path, how.remote)
    return result_of(
        ctx,
        changes,
        Words(
            f"Repository {how.path} is at {sha}",
            f"HEAD of {how.path} would be detached at {sha}",
            f"HEAD of {how.path} detached at {sha}",
        ),
        {**copy.facts(), "url": shown_url(how.url)},
        warnings,
    )


def _commit_of(git: Git, how: Clone, rev: str, *, fetch: bool) -> str:
    """The commit of a revision. A full hash that is available locally needs no remote."""
    here = commit_of(git, how.path, rev) if not rev.startswith("-") else ""
    if here and (not fetch or SHA.fullmatch(rev)):
        return here
    if not fetch and (known := commit_of(git, how.path, f"refs/remotes/{how.remote}/{rev}")):
        return known
    if not fetch:
        raise Refused(f"the revision {rev!r} is not in {how.path}, and fetch_remote is False")
    found: Remote = ask(git, how.url)
    revision: Revision = resolve(found, rev, url=how.url)
    return whole(git, how.path, found, replace(revision))


def _do(git: Git, how: Clone, copy: Copy, sha: str, changes: dict[str, object], *, force: bool) -> None:
    here = git.at(how.path)
    if copy.url != how.url:
        verb = "set-url" if copy.url else "add"
        here.out("remote", verb, how.remote, how.url)
    if here.ran("cat-file", "-e", f"{sha}^{{commit}}").code:
        here.out("fetch", "--quiet", "--tags", how.remote, what=f"cannot fetch from {shown_url(how.url)}")
        get_commit(here, how.remote, sha)
    words = ["--force"] if force else []
    if "forced update" in changes:
        here.out("reset", "--quiet", "--hard", "HEAD")
    here.out("checkout", "--quiet", *words, "--detach", sha)
    if how.submodules:
        update_submodules(here)
