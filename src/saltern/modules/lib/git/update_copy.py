"""Update a working copy from its remote: determine the steps first, then run them."""

from __future__ import annotations

from fnmatch import fnmatchcase

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.git.clone import Clone, get_commit, update_submodules
from saltern.modules.lib.git.command import Git, shown_url
from saltern.modules.lib.git.copy import (
    Copy,
    commit_of,
    fast_forward,
    rehearsal,
    stale_submodules,
    tags_of,
)
from saltern.modules.lib.git.remote import Remote, Revision

MOST_NAMED = 10


class DesiredCopy(Struct, frozen=True, kw_only=True):
    """The arguments of the user, without those of the clone itself."""

    clone: Clone
    branch: str
    update_head: bool
    force_checkout: bool
    force_fetch: bool
    force_reset: bool | str
    fetch_tags: bool
    sync_tags: bool
    refspec_branch: str
    refspec_tag: str


class Steps(Struct, frozen=True, kw_only=True):
    """The steps to update an existing working copy, determined before anything is done."""

    changes: dict[str, object]
    sha: str
    new_url: bool = False
    switch: bool = False
    create: bool = False
    move: bool = False
    reset: bool = False
    new_tags: tuple[str, ...] = ()
    old_tags: tuple[str, ...] = ()
    submodules: bool = False


# -- what there is to do -----------------------------------------------------------------------


def steps_for(git: Git, want: DesiredCopy, copy: Copy, remote: Remote, revision: Revision) -> Steps:
    path = copy.path
    switch = bool(want.branch) and want.branch != copy.branch
    base = commit_of(git, path, f"refs/heads/{want.branch}") if switch else copy.revision
    create = switch and not base
    move = base != revision.sha and (want.update_head or not base)
    reset = want.force_reset is True or (want.force_reset == "remote-changes" and move)
    _check_dirty(want, copy, switch=switch, move=move, reset=reset)
    changes = _url_change(want, copy)
    if switch:
        changes["local branch"] = {"old": copy.branch or None, "new": want.branch}
    end = revision.sha if move else base or copy.revision
    if end != copy.revision:
        changes["revision"] = {"old": copy.revision or None, "new": end}
    lost = move and not _forward(git, copy, remote, base, revision.sha)
    if lost and not reset:
        raise Refused(
            f"Repository {path} cannot be updated from {base[:12]} to {revision.sha[:12]} without losing "
            "local commits, since this is not a fast-forward; set 'force_reset' to True to discard them"
        )
    if lost or (copy.dirty and reset):
        changes["forced update"] = True
    new, old = _tags(git, want, remote, path, changes)
    stale = want.clone.submodules and not changes and stale_submodules(git, path)
    if stale:
        changes["submodules"] = stale
    return Steps(
        changes=changes,
        sha=revision.sha,
        new_url=copy.url != want.clone.url,
        switch=switch,
        create=create,
        move=move,
        reset=reset and (lost or bool(copy.dirty)),
        new_tags=new,
        old_tags=old,
        submodules=want.clone.submodules,
    )


def _check_dirty(want: DesiredCopy, copy: Copy, *, switch: bool, move: bool, reset: bool) -> None:
    """Raise if local changes would be lost without permission."""
    if not copy.dirty:
        return
    held = ", ".join(copy.dirty[:MOST_NAMED])
    if switch and not (want.force_checkout or reset):
        raise Refused(
            f"Repository {copy.path} has uncommitted changes ({held}); set 'force_checkout' to True to lose "
            f"them when switching to the branch {want.branch!r}"
        )
    if move and not reset and not (switch and want.force_checkout):
        raise Refused(
            f"Repository {copy.path} would be updated, but has uncommitted changes ({held}); set "
            "'force_reset' to True to discard them"
        )


def _url_change(want: DesiredCopy, copy: Copy) -> dict[str, object]:
    if copy.url == want.clone.url:
        return {}
    old = shown_url(copy.url) if copy.url else None
    return {f"remotes/{want.clone.remote}": {"old": old, "new": shown_url(want.clone.url)}}


def _forward(git: Git, copy: Copy, remote: Remote, base: str, sha: str) -> bool:
    if not base or base == sha:
        return True
    with rehearsal(git, copy.path, remote, sha) as there:
        return fast_forward(there, base, sha)


def _tags(
    git: Git, want: DesiredCopy, remote: Remote, path: str, changes: dict[str, object]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tags to get and to remove, also recorded in ``changes``. A shallow copy ignores tags."""
    if not want.fetch_tags or want.clone.depth:
        return (), ()
    here, there = tags_of(git, path), remote.tags
    wanted = {name: sha for name, sha in there.items() if fnmatchcase(name, want.refspec_tag)}
    new = sorted(name for name in wanted if name not in here)
    moved = sorted(name for name, sha in wanted.items() if here.get(name, sha) != sha)
    old = sorted(name for name in here if name not in there) if want.sync_tags else []
    moved = moved if want.force_fetch else []
    named = (("new_tags", new), ("updated_tags", moved), ("deleted_tags", old))
    changes.update({word: names for word, names in named if names})
    return (*new, *moved), tuple(old)


def bare_steps(git: Git, want: DesiredCopy, copy: Copy, remote: Remote, revision: Revision) -> Steps:
    """The steps for a bare repository, whose branches follow the remote."""
    reported = git.at(copy.path).out("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
    here = {name: sha for sha, _, name in (line.partition(" ") for line in reported.splitlines())}
    fits = f"refs/heads/{want.refspec_branch}"
    there = {name: sha for name, sha in remote.refs.items() if fnmatchcase(name, fits)}
    changes = _url_change(want, copy)
    moved = sorted(name for name, sha in there.items() if here.get(name) != sha)
    gone = sorted(here.keys() - there.keys()) if want.clone.mirror else []
    for name in (*moved, *gone):
        short = name.removeprefix("refs/heads/")
        changes[f"branch {short}"] = {"old": here.get(name), "new": there.get(name)}
    new, old = _tags(git, want, remote, copy.path, changes)
    url = copy.url != want.clone.url
    return Steps(
        changes=changes, sha=revision.sha, new_url=url, move=bool(moved or gone), new_tags=new, old_tags=old
    )


# -- doing it ----------------------------------------------------------------------------------


def _set_url(here: Git, want: DesiredCopy) -> None:
    if here.maybe("config", "--get", f"remote.{want.clone.remote}.url"):
        here.out("remote", "set-url", want.clone.remote, want.clone.url)
    else:
        here.out("remote", "add", want.clone.remote, want.clone.url)


def _fetch(here: Git, want: DesiredCopy, specs: list[str]) -> None:
    words = [f"--depth={want.clone.depth}"] if want.clone.depth else []
    reported = "\n".join(specs) + "\n"
    here.out(
        *("fetch", "--quiet", "--no-tags", *words, "--stdin", want.clone.remote),
        stdin=reported,
        what=f"cannot fetch from {shown_url(want.clone.url)}",
    )


def _tag_specs(steps: Steps) -> list[str]:
    return [f"+refs/tags/{name}:refs/tags/{name}" for name in steps.new_tags]


def do(git: Git, want: DesiredCopy, steps: Steps, revision: Revision) -> None:
    here = git.at(want.clone.path)
    if steps.new_url:
        _set_url(here, want)
    branches = revision.branch if want.clone.depth and revision.branch else want.refspec_branch
    fetched = f"+refs/heads/{branches}:refs/remotes/{want.clone.remote}/{branches}"
    if steps.move or steps.new_tags or steps.new_url:
        _fetch(here, want, [fetched, *_tag_specs(steps)])
    if steps.move:
        get_commit(here, want.clone.remote, steps.sha, want.clone.depth)
    if steps.switch:
        force = ["--force"] if want.force_checkout or steps.reset else []
        made = ["-b", want.branch, steps.sha] if steps.create else [want.branch]
        here.out("checkout", "--quiet", *force, *made, what=f"cannot switch to the branch {want.branch!r}")
        if steps.create and revision.branch:
            here.ran("branch", "--quiet", f"--set-upstream-to={want.clone.remote}/{revision.branch}")
    if steps.reset:
        here.out("reset", "--quiet", "--hard", steps.sha if steps.move else "HEAD")
    elif steps.move and want.clone.depth and not steps.create:
        here.out("reset", "--quiet", "--keep", steps.sha)  # a shallow copy does not have the history
    elif steps.move and not steps.create:
        here.out("merge", "--quiet", "--ff-only", steps.sha, what=f"cannot update {want.clone.path}")
    _drop_tags(here, steps)
    if steps.submodules:
        update_submodules(here)


def _drop_tags(here: Git, steps: Steps) -> None:
    if steps.old_tags:
        reported = "".join(f"delete refs/tags/{name}\n" for name in steps.old_tags)
        here.out("update-ref", "--stdin", stdin=reported)


def do_bare(git: Git, want: DesiredCopy, steps: Steps, _: Revision) -> None:
    here = git.at(want.clone.path)
    if steps.new_url:
        _set_url(here, want)
    branches = f"+refs/heads/{want.refspec_branch}:refs/heads/{want.refspec_branch}"
    _fetch(here, want, [branches, *_tag_specs(steps)])
    for change in steps.changes:
        gone = steps.changes[change]
        if change.startswith("branch ") and isinstance(gone, dict) and gone["new"] is None:
            here.out("update-ref", "-d", f"refs/heads/{change.removeprefix('branch ')}")
    _drop_tags(here, steps)
