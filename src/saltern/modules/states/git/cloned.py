"""``git.cloned``: clone a repository once."""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.groups import rest_of
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.git.clone import Clone, check_room, clone, target_path
from saltern.modules.lib.git.command import Git, LoginArguments, git_with, lines, shown_url
from saltern.modules.lib.git.copy import commit_of, is_repository, look
from saltern.modules.lib.git.remote import ask, resolve

MEANINGLESS = frozenset({"password", "output_encoding"})


@state
def cloned(
    ctx: Context,
    /,
    name: str,
    *,
    target: str | None = None,
    branch: str | None = None,
    **access: Unpack[LoginArguments],
) -> Result:
    """Clone a repository if the target does not exist; never update it.

    Args:
        name: the address of the remote repository.
        target: the directory of the working copy.
        branch: the branch to check out.

    Example:
        ```yaml
        file:///srv/git/dotfiles.git:
          git.cloned:
            - target: /home/ada/.dotfiles
            - user: ada
        ```
    """
    ctx.facts = {"path": target or "", "url": shown_url(name)}
    ctx.foreseen = {"new": f"{shown_url(name)} => {target}"}
    path = target_path(target)
    git = git_with(ctx, access)
    act = _here if is_repository(path) else _new
    return act(
        ctx, git, name, path, branch or "", unused_warnings(rest_of(access, LoginArguments), MEANINGLESS)
    )


def _new(ctx: Context, git: Git, url: str, path: str, branch: str, warnings: tuple[str, ...]) -> Result:
    check_room(path, force=False)
    remote = ask(git, url)
    revision = resolve(remote, branch or "HEAD", url=url) if branch or remote.refs else None
    data: dict[str, object] = {"path": path, "revision": None, "branch": None, "url": shown_url(url)}
    if not ctx.test:
        wanted = branch or (revision.branch if revision else "")
        clone(git, Clone(url=url, path=path, branch=wanted), revision, revision.sha if revision else "")
        data |= look(git, path, "origin").facts()
    changes = {"new": f"{shown_url(url)} => {path}"}
    words = f"{shown_url(url)} would be cloned to {path}", f"{shown_url(url)} cloned to {path}"
    return result_of(ctx, changes, Words(would=words[0], done=words[1]), data, warnings)


def _here(ctx: Context, git: Git, url: str, path: str, branch: str, warnings: tuple[str, ...]) -> Result:
    here = git.at(path)
    urls = lines(here.maybe("config", "--get-regexp", r"^remote\..*\.url$"))
    if url not in [line.partition(" ")[2] for line in urls]:
        raise Refused(f"{path} is a repository already, but no remote of it is {shown_url(url)}")
    copy = look(git, path, "origin")
    changes: dict[str, object] = {}
    if branch and branch != copy.branch:
        changes["branch"] = {"old": copy.branch or None, "new": branch}
        if copy.dirty:
            raise Refused(f"{path} has uncommitted changes; commit them before switching to {branch!r}")
        if not _known(git, path, branch) and f"refs/heads/{branch}" not in ask(git, url).refs:
            raise Refused(f"no branch is called {branch!r} in {shown_url(url)}")
        if not ctx.test:
            _switch(git, path, branch)
            copy = look(git, path, "origin")
    data = {**copy.facts(), "url": shown_url(url)}
    return result_of(
        ctx,
        changes,
        Words(
            f"Repository already exists at {path}",
            f"Branch would be changed to '{branch}'",
            f"Branch changed to '{branch}'",
        ),
        data,
        warnings,
    )


def _known(git: Git, path: str, branch: str) -> bool:
    places = (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}")
    return any(commit_of(git, path, place) for place in places)


def _switch(git: Git, path: str, branch: str) -> None:
    here = git.at(path)
    if not _known(git, path, branch):
        here.out(
            *("fetch", "--quiet", "origin", f"+refs/heads/{branch}:refs/remotes/origin/{branch}"),
            what=f"no branch is called {branch!r}",
        )
    here.out("checkout", "--quiet", branch, what=f"cannot switch to the branch {branch!r}")
