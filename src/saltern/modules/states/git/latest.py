"""``git.latest``: keep a working copy up to date with a remote."""

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
from saltern.modules.lib.git.clone import Clone, check_room, clone_new, target_path, whole
from saltern.modules.lib.git.command import Git, LoginArguments, git_with, shown_url
from saltern.modules.lib.git.copy import is_repository, look
from saltern.modules.lib.git.remote import Remote, Revision, ask, resolve
from saltern.modules.lib.git.update_copy import DesiredCopy, bare_steps, do, do_bare, steps_for

MEANINGLESS = frozenset({"password", "output_encoding", "onlyif", "unless"})


@state
def latest(
    ctx: Context,
    /,
    name: str,
    *,
    target: str | None = None,
    rev: str = "HEAD",
    branch: str | None = None,
    update_head: bool = True,
    force_checkout: bool = False,
    force_clone: bool = False,
    force_fetch: bool = False,
    force_reset: object = False,
    submodules: bool = False,
    bare: bool = False,
    mirror: bool = False,
    remote: str = "origin",
    fetch_tags: bool = True,
    sync_tags: bool = True,
    depth: int | None = None,
    refspec_branch: str = "*",
    refspec_tag: str = "*",
    **access: Unpack[LoginArguments],
) -> Result:
    """Clone a repository, or update an existing working copy from its remote.

    Local commits and changes are discarded only if ``force_reset`` allows it.

    Args:
        name: the address of the remote repository.
        target: the directory of the working copy.
        rev: a branch, a tag or a commit of the remote; ``HEAD`` is its default branch.
        branch: the local branch to update; the current branch if not given.
        update_head: False does not move the HEAD of an existing working copy.
        force_checkout: switch branches and lose local changes.
        force_clone: remove the contents of the directory if it is not a repository.
        force_fetch: replace local tags that differ in the remote.
        force_reset: discard local commits and changes that are in the way, and local changes in any
            case; ``remote-changes`` does so only if the remote has new commits.
        submodules: fetch and update submodules, too.
        bare, mirror: a repository without files; a mirror has all refs of the remote.
        remote: the name of the remote in the working copy.
        fetch_tags: get all tags.
        sync_tags: remove local tags that the remote does not have.
        depth: get only this many commits.
        refspec_branch, refspec_tag: a pattern of the branches and tags to get.

    Example:
        ```yaml
        file:///srv/git/dotfiles.git:
          git.latest:
            - target: /srv/dotfiles
            - rev: main
            - user: root
        ```
    """
    path = target or ""

    ctx.facts = {"path": path, "url": shown_url(name)}
    ctx.foreseen = {"new": f"{shown_url(name)} => {path}"}
    where = target_path(target)
    if force_reset not in (True, False, "remote-changes"):
        raise Refused(f"force_reset needs true, false or 'remote-changes', got {force_reset!r}")
    if depth is not None and depth < 1:
        raise Refused("depth must be 1 or more")
    if (bare or mirror) and (branch or submodules):
        raise Refused("a bare repository has neither a local branch to choose nor submodules")
    git = git_with(ctx, access)
    want = DesiredCopy(
        clone=Clone(
            url=name,
            path=where,
            remote=remote,
            bare=bare or mirror,
            mirror=mirror,
            depth=depth,
            submodules=submodules,
            force=force_clone,
        ),
        branch=branch or "",
        update_head=update_head,
        force_checkout=force_checkout,
        force_fetch=force_fetch,
        force_reset=force_reset,
        fetch_tags=fetch_tags,
        sync_tags=sync_tags,
        refspec_branch=refspec_branch,
        refspec_tag=refspec_tag,
    )
    found = ask(git, name)
    revision = resolve(found, rev, url=name)
    here = is_repository(where)
    revision = replace(revision, sha=whole(git, where if here else "", found, revision))
    act = _update if here else _clone
    return act(ctx, git, want, found, revision, unused_warnings(rest_of(access, LoginArguments), MEANINGLESS))


def _clone(
    ctx: Context,
    git: Git,
    want: DesiredCopy,
    remote: Remote,
    revision: Revision,
    warnings: tuple[str, ...],
) -> Result:
    how = replace(want.clone, branch=want.branch or revision.branch or remote.head)
    forced = check_room(how.path, force=how.force)
    changes, data = clone_new(git, how, revision, revision.sha, forced=forced)
    source = shown_url(how.url)
    would = f"Repository {source} would be cloned to {how.path}"
    done = f"{source} cloned to {how.path}"
    return result_of(ctx, changes, Words(would=would, done=done), data, warnings)


def _update(
    ctx: Context,
    git: Git,
    want: DesiredCopy,
    remote: Remote,
    revision: Revision,
    warnings: tuple[str, ...],
) -> Result:
    path = want.clone.path
    copy = look(git, path, want.clone.remote)
    if copy.bare != want.clone.bare:
        kinds = ("a working copy", "a bare repository")
        raise Refused(f"Target '{path}' is {kinds[copy.bare]}, but {kinds[want.clone.bare]} is wanted")
    steps = (bare_steps if copy.bare else steps_for)(git, want, copy, remote, revision)
    if steps.changes and not ctx.test:
        (do_bare if copy.bare else do)(git, want, steps, revision)
        copy = look(git, path, want.clone.remote)
        if steps.move and not copy.bare and copy.revision != steps.sha:
            raise Refused(f"git moved {path} to {copy.revision}, not to {steps.sha}")
    data = {**copy.facts(), "url": shown_url(want.clone.url)}
    right = f"Repository {path} is up-to-date"
    if copy.dirty:
        right += ", but with uncommitted changes"
    would = f"Repository {path} would be updated"
    done = f"Repository {path} updated"
    return result_of(ctx, steps.changes, Words(right, would, done), data, warnings)
