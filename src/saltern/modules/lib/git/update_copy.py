"""What a working copy needs to follow its remote, found out first and done then."""

from __future__ import annotations

from fnmatch import fnmatchcase

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.git.clone import Clone, get_commit, update_submodules
from saltern.modules.lib.git.command import Git, shown
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


class Wish(Struct, frozen=True, kw_only=True):
    """What the user asked for, the clone itself aside."""

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
    """What has to be done to a working copy that is here, found out before anything is done."""

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


def steps_for(git: Git, wish: Wish, copy: Copy, remote: Remote, revision: Revision) -> Steps:
    path = copy.path
    switch = bool(wish.branch) and wish.branch != copy.branch
    base = commit_of(git, path, f"refs/heads/{wish.branch}") if switch else copy.revision
    create = switch and not base
    move = base != revision.sha and (wish.update_head or not base)
    reset = wish.force_reset is True or (wish.force_reset == "remote-changes" and move)
    _check_dirty(wish, copy, switch=switch, move=move, reset=reset)
    changes = _url_change(wish, copy)
    if switch:
        changes["local branch"] = {"old": copy.branch or None, "new": wish.branch}
    end = revision.sha if move else base or copy.revision
    if end != copy.revision:
        changes["revision"] = {"old": copy.revision or None, "new": end}
    lost = move and not _forward(git, copy, remote, base, revision.sha)
    if lost and not reset:
        raise Refused(
            f"Repository {path} cannot be updated from {base[:12]} to {revision.sha[:12]} without losing "
            "local commits, since this is no fast-forward; set 'force_reset' to True to lose them"
        )
    if lost or (copy.dirty and reset):
        changes["forced update"] = True
    new, old = _tags(git, wish, remote, path, changes)
    stale = wish.clone.submodules and not changes and stale_submodules(git, path)
    if stale:
        changes["submodules"] = stale
    return Steps(
        changes=changes,
        sha=revision.sha,
        new_url=copy.url != wish.clone.url,
        switch=switch,
        create=create,
        move=move,
        reset=reset and (lost or bool(copy.dirty)),
        new_tags=new,
        old_tags=old,
        submodules=wish.clone.submodules,
    )


def _check_dirty(wish: Wish, copy: Copy, *, switch: bool, move: bool, reset: bool) -> None:
    """Local changes are lost only on demand."""
    if not copy.dirty:
        return
    held = ", ".join(copy.dirty[:MOST_NAMED])
    if switch and not (wish.force_checkout or reset):
        raise Refused(
            f"Repository {copy.path} has uncommitted changes ({held}); set 'force_checkout' to True to lose "
            f"them when switching to the branch {wish.branch!r}"
        )
    if move and not reset and not (switch and wish.force_checkout):
        raise Refused(
            f"Repository {copy.path} would be updated, but has uncommitted changes ({held}); set "
            "'force_reset' to True to lose them"
        )


def _url_change(wish: Wish, copy: Copy) -> dict[str, object]:
    if copy.url == wish.clone.url:
        return {}
    old = shown(copy.url) if copy.url else None
    return {f"remotes/{wish.clone.remote}": {"old": old, "new": shown(wish.clone.url)}}


def _forward(git: Git, copy: Copy, remote: Remote, base: str, sha: str) -> bool:
    if not base or base == sha:
        return True
    with rehearsal(git, copy.path, remote, sha) as there:
        return fast_forward(there, base, sha)


def _tags(
    git: Git, wish: Wish, remote: Remote, path: str, changes: dict[str, object]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tags to get and tags to remove, written into ``changes``. A shallow copy has no tags to keep up."""
    if not wish.fetch_tags or wish.clone.depth:
        return (), ()
    here, there = tags_of(git, path), remote.tags
    wanted = {name: sha for name, sha in there.items() if fnmatchcase(name, wish.refspec_tag)}
    new = sorted(name for name in wanted if name not in here)
    moved = sorted(name for name, sha in wanted.items() if here.get(name, sha) != sha)
    old = sorted(name for name in here if name not in there) if wish.sync_tags else []
    moved = moved if wish.force_fetch else []
    named = (("new_tags", new), ("updated_tags", moved), ("deleted_tags", old))
    changes.update({word: names for word, names in named if names})
    return (*new, *moved), tuple(old)


def bare_steps(git: Git, wish: Wish, copy: Copy, remote: Remote, revision: Revision) -> Steps:
    """Branches of a bare repository follow the remote as they are."""
    reported = git.at(copy.path).out("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
    here = {name: sha for sha, _, name in (line.partition(" ") for line in reported.splitlines())}
    fits = f"refs/heads/{wish.refspec_branch}"
    there = {name: sha for name, sha in remote.refs.items() if fnmatchcase(name, fits)}
    changes = _url_change(wish, copy)
    moved = sorted(name for name, sha in there.items() if here.get(name) != sha)
    gone = sorted(here.keys() - there.keys()) if wish.clone.mirror else []
    for name in (*moved, *gone):
        short = name.removeprefix("refs/heads/")
        changes[f"branch {short}"] = {"old": here.get(name), "new": there.get(name)}
    new, old = _tags(git, wish, remote, copy.path, changes)
    url = copy.url != wish.clone.url
    return Steps(
        changes=changes, sha=revision.sha, new_url=url, move=bool(moved or gone), new_tags=new, old_tags=old
    )


# -- doing it ----------------------------------------------------------------------------------


def _set_url(here: Git, wish: Wish) -> None:
    if here.maybe("config", "--get", f"remote.{wish.clone.remote}.url"):
        here.out("remote", "set-url", wish.clone.remote, wish.clone.url)
    else:
        here.out("remote", "add", wish.clone.remote, wish.clone.url)


def _fetch(here: Git, wish: Wish, specs: list[str]) -> None:
    words = [f"--depth={wish.clone.depth}"] if wish.clone.depth else []
    reported = "\n".join(specs) + "\n"
    here.out(
        *("fetch", "--quiet", "--no-tags", *words, "--stdin", wish.clone.remote),
        stdin=reported,
        what=f"cannot fetch from {shown(wish.clone.url)}",
    )


def _tag_specs(steps: Steps) -> list[str]:
    return [f"+refs/tags/{name}:refs/tags/{name}" for name in steps.new_tags]


def do(git: Git, wish: Wish, steps: Steps, revision: Revision) -> None:
    here = git.at(wish.clone.path)
    if steps.new_url:
        _set_url(here, wish)
    branches = revision.branch if wish.clone.depth and revision.branch else wish.refspec_branch
    fetched = f"+refs/heads/{branches}:refs/remotes/{wish.clone.remote}/{branches}"
    if steps.move or steps.new_tags or steps.new_url:
        _fetch(here, wish, [fetched, *_tag_specs(steps)])
    if steps.move:
        get_commit(here, wish.clone.remote, steps.sha, wish.clone.depth)
    if steps.switch:
        force = ["--force"] if wish.force_checkout or steps.reset else []
        made = ["-b", wish.branch, steps.sha] if steps.create else [wish.branch]
        here.out("checkout", "--quiet", *force, *made, what=f"cannot switch to the branch {wish.branch!r}")
    if steps.reset:
        here.out("reset", "--quiet", "--hard", steps.sha if steps.move else "HEAD")
    elif steps.move and wish.clone.depth and not steps.create:
        here.out("reset", "--quiet", "--keep", steps.sha)  # a shallow copy does not know what it follows
    elif steps.move and not steps.create:
        here.out("merge", "--quiet", "--ff-only", steps.sha, what=f"cannot update {wish.clone.path}")
    _drop_tags(here, steps)
    if steps.submodules:
        update_submodules(here)


def _drop_tags(here: Git, steps: Steps) -> None:
    if steps.old_tags:
        reported = "".join(f"delete refs/tags/{name}\n" for name in steps.old_tags)
        here.out("update-ref", "--stdin", stdin=reported)


def do_bare(git: Git, wish: Wish, steps: Steps, _: Revision) -> None:
    here = git.at(wish.clone.path)
    if steps.new_url:
        _set_url(here, wish)
    branches = f"+refs/heads/{wish.refspec_branch}:refs/heads/{wish.refspec_branch}"
    _fetch(here, wish, [branches, *_tag_specs(steps)])
    for change in steps.changes:
        gone = steps.changes[change]
        if change.startswith("branch ") and isinstance(gone, dict) and gone["new"] is None:
            here.out("update-ref", "-d", f"refs/heads/{change.removeprefix('branch ')}")
    _drop_tags(here, steps)
