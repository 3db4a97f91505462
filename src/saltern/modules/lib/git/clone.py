"""Clone a repository at a revision."""

from __future__ import annotations

import os

from msgspec import Struct
from msgspec.structs import replace

from saltern.modules.api.programs import owner_for
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute
from saltern.modules.lib.git.command import Git, shown_url
from saltern.modules.lib.git.copy import commit_of, look, rehearsal
from saltern.modules.lib.git.remote import WHOLE, Remote, Revision
from saltern.system import files
from saltern.system.foreign import foreign_directory, name_of
from saltern.system.rooted import Rooted, move_content
from saltern.system.temporary import private_directory


class Clone(Struct, frozen=True, kw_only=True):
    """The options of a clone. ``branch`` is the local branch; without one HEAD is detached."""

    url: str
    path: str
    remote: str = "origin"
    branch: str = ""
    bare: bool = False
    mirror: bool = False
    depth: int | None = None
    submodules: bool = False
    force: bool = False


def target_path(target: str | None) -> str:
    if not target:
        raise Refused("'target' is missing; give the directory of the working copy")
    return absolute(target).rstrip("/") or "/"


def clone_new(
    git: Git, how: Clone, revision: Revision, sha: str, *, forced: bool
) -> tuple[dict[str, object], dict[str, object]]:
    """Clone, or in test mode only say so: the changes and the data of the result."""
    source = shown_url(how.url)
    changes: dict[str, object] = {"new": f"{source} => {how.path}", "revision": {"old": None, "new": sha}}
    if forced:
        changes["forced clone"] = True
    data: dict[str, object] = {"path": how.path, "revision": None, "branch": None, "url": source}
    if not git.ctx.test:
        clone(git, how, revision, sha)
        data |= look(git, how.path, how.remote).facts()
    return changes, data


def names_in(path: str) -> list[str]:
    """The names in the directory. Raises if it is not a directory."""
    found = files.look(path, follow=True)
    if found is None:
        return []
    if files.kind_of(found) != "directory":
        raise Refused(f"Target '{path}' exists and is not a directory, but a {files.kind_of(found)}")
    return sorted(os.listdir(path))


def check_room(path: str, *, force: bool) -> bool:
    """True if something has to be removed first. Raises if that is not allowed."""
    held = names_in(path)
    if held and not force:
        raise Refused(
            f"Target '{path}' exists, is not empty and is not a git repository; set 'force_clone' to True "
            "to remove its contents"
        )
    return bool(held)


def whole(git: Git, path: str, remote: Remote, revision: Revision) -> str:
    """The full hash of the commit; an abbreviation is looked up, in the remote if necessary."""
    if len(revision.sha) == WHOLE:
        return revision.sha
    if path and (known := commit_of(git, path, revision.sha)):
        return known
    with private_directory("git", owner=owner_for(git.ctx, git.user)) as scratch:
        git.out("init", "--quiet", "--bare", scratch)
        with rehearsal(git, scratch, remote, "") as there:
            found = there.maybe("rev-parse", "--verify", "--quiet", f"{revision.sha}^{{commit}}")
    if not found:
        raise Refused(
            f"No revision matching {revision.name!r} exists in the remote repository {shown_url(remote.url)}"
        )
    return found


def clone(git: Git, how: Clone, revision: Revision | None, sha: str = "") -> None:
    """Clone the repository. The clone is removed again if the revision is not available."""
    was_there = names_in(how.path)
    for name in was_there:
        files.remove(os.path.join(how.path, name))
    there_before = files.look(how.path) is not None
    try:
        if git.is_exposed(how.path):
            _clone_in_private(git, how, revision, sha)
        else:
            _clone(git, how, revision, sha)
    except Refused:
        if not there_before:
            files.remove(how.path)
        raise


def _clone_in_private(git: Git, how: Clone, revision: Revision | None, sha: str) -> None:
    """Clone where no other user can replace directories; then move everything to its path by file handles."""
    if how.submodules:
        raise Refused(f"submodules need 'user' here: {exposure(how.path)}")
    with private_directory("clone") as scratch:
        place = os.path.join(scratch, "clone")
        _clone(git, replace(how, path=place), revision, sha)
        files.make_directories(how.path)
        with Rooted(place) as source, Rooted(how.path) as target:
            move_content(source, into=target)


def exposure(path: str) -> str:
    """Why root does not run git in a directory."""
    found = foreign_directory(path)
    if found is None:
        return ""
    directory, uid = found
    owner = "all users" if uid < 0 else name_of(uid)
    return f"{directory} can be changed by {owner}, who could redirect root elsewhere; set user: NAME"


def _clone(git: Git, how: Clone, revision: Revision | None, sha: str) -> None:
    if revision is None:  # an empty repository
        git.out("clone", "--quiet", "--", how.url, how.path, what=f"cannot clone {shown_url(how.url)}")
        return
    words = ["clone", "--quiet", "--origin", how.remote]
    words += ["--mirror"] if how.mirror else ["--bare"] if how.bare else ["--no-checkout"]
    if how.depth:
        words += ["--depth", str(how.depth)]
        words += ["--branch", revision.name] if revision.kind in ("branch", "tag") else []
    elif revision.kind == "branch" and how.branch == revision.branch and not how.mirror:
        words += ["--branch", how.branch]  # and no other branch
    git.out(*words, "--", how.url, how.path, what=f"cannot clone {shown_url(how.url)} to {how.path}")
    if how.bare or how.mirror:
        return
    here = git.at(how.path)
    get_commit(here, how.remote, sha, how.depth)
    if how.branch:
        here.out("checkout", "--quiet", "--force", "-B", how.branch, sha)
        if revision.branch:
            here.ran("branch", "--quiet", f"--set-upstream-to={how.remote}/{revision.branch}")
    else:
        here.out("checkout", "--quiet", "--force", "--detach", sha)
    if how.submodules:
        update_submodules(here)


def get_commit(here: Git, remote: str, sha: str, depth: int | None = None) -> None:
    """Fetch a commit by its hash, if no fetched branch or tag contains it."""
    if not here.ran("cat-file", "-e", f"{sha}^{{commit}}").code:
        return
    words = [f"--depth={depth}"] if depth else []
    here.out("fetch", "--quiet", "--no-tags", *words, remote, sha, what=f"cannot fetch the revision {sha}")


def update_submodules(here: Git) -> None:
    if here.path and here.is_exposed(here.path):
        raise Refused(f"submodules need 'user' here: {exposure(here.path)}")
    here.out("submodule", "--quiet", "update", "--init", "--recursive", what="cannot update the submodules")
