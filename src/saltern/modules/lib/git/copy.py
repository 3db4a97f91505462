"""A working copy: its state, and its relation to the remote."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from saltern.modules.api.programs import owner_for
from saltern.modules.api.refused import Refused
from saltern.modules.lib.git.command import Git, lines
from saltern.modules.lib.git.remote import WHOLE, Remote
from saltern.system.temporary import private_directory


class Copy(Struct, frozen=True, kw_only=True):
    """A repository on this machine, as it is now."""

    path: str
    bare: bool
    revision: str  # of HEAD; empty in a repository without commits
    branch: str  # empty if HEAD is detached
    url: str  # of the remote; empty if there is no such remote
    dirty: tuple[str, ...]  # changed files that are tracked; untracked ones do not count

    def facts(self) -> dict[str, object]:
        return {"path": self.path, "revision": self.revision or None, "branch": self.branch or None}


def is_repository(path: str) -> bool:
    """True for a working copy with ``.git``, and for a bare repository."""
    if os.path.lexists(os.path.join(path, ".git")):
        return True
    return all(os.path.exists(os.path.join(path, name)) for name in ("HEAD", "objects", "refs"))


def look(git: Git, path: str, remote: str) -> Copy:
    here = git.at(path)
    bare = here.out("rev-parse", "--is-bare-repository", what=f"{path} is not a usable repository") == "true"
    dirty = (
        []
        if bare
        else lines(here.maybe("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"))
    )
    return Copy(
        path=path,
        bare=bare,
        revision=here.maybe("rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
        branch=here.maybe("symbolic-ref", "--quiet", "--short", "HEAD"),
        url=here.maybe("config", "--get", f"remote.{remote}.url"),
        dirty=tuple(line[3:] for line in dirty),
    )


def commit_of(git: Git, path: str, ref: str) -> str:
    """The commit of a ref or an abbreviated hash; empty if there is none."""
    return git.at(path).maybe("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")


def has_commit(git: Git, path: str, sha: str) -> bool:
    return len(sha) == WHOLE and not git.at(path).ran("cat-file", "-e", f"{sha}^{{commit}}").code


def tags_of(git: Git, path: str) -> dict[str, str]:
    reported = git.at(path).out("for-each-ref", "--format=%(objectname) %(refname:short)", "refs/tags")
    return {name: sha for sha, _, name in (line.partition(" ") for line in lines(reported))}


@contextmanager
def rehearsal(git: Git, path: str, remote: Remote, sha: str) -> Iterator[Git]:
    """A git that knows a commit that the repository does not have: test mode must leave no trace.

    The objects are fetched into a private directory, and the repository's own are readable beside them.
    """
    if has_commit(git, path, sha):
        yield git.at(path)
        return
    with private_directory("git", owner=owner_for(git.ctx, git.user)) as scratch:
        own = git.at(path).out("rev-parse", "--git-path", "objects")
        kept = os.path.join(path, own)
        there = git.at(path, {"GIT_OBJECT_DIRECTORY": scratch, "GIT_ALTERNATE_OBJECT_DIRECTORIES": kept})
        wanted = "\n".join(name for name in remote.refs if name.startswith("refs/") and "^" not in name)
        quietly = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance")
        there.ran("fetch", *quietly, "--stdin", remote.url, stdin=f"{wanted}\n")
        yield there


def fast_forward(git: Git, old: str, new: str) -> bool:
    """True if the new commit contains the old one."""
    if not old or old == new:
        return True
    ran = git.ran("merge-base", "--is-ancestor", old, new)
    if ran.code not in (0, 1):
        raise Refused(f"cannot compare the revisions {old[:12]} and {new[:12]}: {ran.err.strip()}")
    return ran.code == 0


def stale_submodules(git: Git, path: str) -> list[str]:
    """Submodules that are not fetched, or not at the commit that the repository records."""
    reported = git.at(path).maybe("submodule", "status", "--recursive")
    return [line[1:].split(" ")[1] for line in lines(reported) if line[:1] in "-+U"]
