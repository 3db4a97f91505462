"""The refs of a remote repository, and the meaning of a revision."""

from __future__ import annotations

import re

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.git.command import Git, lines, shown_url

SHA = re.compile(r"[0-9a-fA-F]{7,40}")
WHOLE = 40


class Remote(Struct, frozen=True, kw_only=True):
    """The refs of a remote. ``head`` is the name of its default branch, empty if it has none."""

    url: str
    refs: dict[str, str]
    head: str = ""

    @property
    def tags(self) -> dict[str, str]:
        """Tags and their objects (not the commits of annotated ones)."""
        return {
            name.removeprefix("refs/tags/"): sha
            for name, sha in self.refs.items()
            if name.startswith("refs/tags/") and not name.endswith("^{}")
        }


class Revision(Struct, frozen=True, kw_only=True):
    """A revision of the remote. ``kind`` is branch, tag, sha, or head."""

    name: str
    kind: str
    sha: str
    branch: str = ""  # the branch of the remote whose tip it is


def ask(git: Git, url: str) -> Remote:
    """The refs of the remote now. Raises if it cannot be reached."""
    reported = git.out(
        "ls-remote", "--symref", "--", url, what=f"cannot read the remote repository {shown_url(url)}"
    )
    refs: dict[str, str] = {}
    head = ""
    for line in lines(reported):
        left, _, name = line.partition("\t")
        if left.startswith("ref: "):
            head = left[5:].removeprefix("refs/heads/") if name == "HEAD" else head
        else:
            refs[name] = left
    return Remote(url=url, refs=refs, head=head if f"refs/heads/{head}" in refs else "")


def resolve(remote: Remote, rev: str, *, url: str) -> Revision:
    """The meaning of ``rev`` in the remote: the default branch, a branch, a tag, or a commit."""
    if not rev or rev.startswith("-") or any(mark in rev for mark in " \t\n~^:?*[\\"):
        raise Refused(f"{rev!r} cannot be a revision")
    refs = remote.refs
    if rev == "HEAD":
        if "HEAD" not in refs:
            raise Refused(f"the remote repository {shown_url(url)} has no HEAD; give rev")
        return Revision(name=rev, kind="head", sha=refs["HEAD"], branch=remote.head)
    if sha := refs.get(f"refs/heads/{rev}"):
        return Revision(name=rev, kind="branch", sha=sha, branch=rev)
    if sha := refs.get(f"refs/tags/{rev}^{{}}") or refs.get(f"refs/tags/{rev}"):
        return Revision(name=rev, kind="tag", sha=sha)
    if SHA.fullmatch(rev):
        whole = {sha for sha in refs.values() if sha.startswith(rev.lower())}
        return Revision(name=rev, kind="sha", sha=whole.pop() if len(whole) == 1 else rev.lower())
    raise Refused(f"No revision matching {rev!r} exists in the remote repository {shown_url(url)}")
