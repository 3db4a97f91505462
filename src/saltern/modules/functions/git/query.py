"""``git``: query repositories."""

from __future__ import annotations

from saltern.language.mask import mask
from saltern.modules.api.argv import vector
from saltern.modules.api.commands import words
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute
from saltern.modules.lib.git.command import Git, lines, login
from saltern.modules.lib.git.copy import is_repository


def here(ctx: Context, cwd: str, user: str | None = None) -> Git:
    path = absolute(cwd)
    git = Git(ctx, path, user=user)
    if not is_repository(path) and git.ran("rev-parse", "--git-dir").code:
        raise BadArgument(f"{cwd} is not a git repository")
    return git


def options(opts: str) -> list[str]:
    return words(opts) if opts else []


@function
def version(ctx: Context, versioninfo: bool = False) -> object:
    """The version of git; with ``versioninfo`` as a list of numbers.

    Example:
        ```console
        $ saltern call git.version
        local:
            2.…
        ```
    """
    text = Git(ctx).out("version").removeprefix("git version ").split(" ")[0]
    return [int(part) if part.isdecimal() else part for part in text.split(".")] if versioninfo else text


@function
def revision(
    ctx: Context, /, cwd: str, rev: str = "HEAD", short: bool = False, user: str | None = None, **_: object
) -> str:
    """The commit of a revision.

    Example:
        ```console
        $ saltern call git.revision /srv/checkout v1.0 short=true
        local:
            847ac53
        ```
    """
    how = ["--short"] if short else []
    return here(ctx, cwd, user).out("rev-parse", *how, "--verify", f"{rev}^{{commit}}")


@function
def rev_parse(
    ctx: Context, /, cwd: str, rev: str | None = None, opts: str = "", user: str | None = None, **_: object
) -> str:
    """The output of ``git rev-parse``.

    Example:
        ```console
        $ saltern call git.rev_parse /srv/checkout HEAD opts=--abbrev-ref
        local:
            main
        ```
    """
    return here(ctx, cwd, user).out("rev-parse", *options(opts), *([rev] if rev else []))


@function
def current_branch(ctx: Context, /, cwd: str, user: str | None = None, **_: object) -> str:
    """The branch that is checked out; empty if there is none.

    Example:
        ```console
        $ saltern call git.current_branch /srv/checkout
        local:
            main
        ```
    """
    return here(ctx, cwd, user).maybe("symbolic-ref", "--quiet", "--short", "HEAD")


@function
def list_branches(
    ctx: Context, /, cwd: str, remote: bool = False, user: str | None = None, **_: object
) -> list[str]:
    """The branches of a repository, or the remote-tracking ones.

    Example:
        ```console
        $ saltern call git.list_branches /srv/checkout
        local:
            - main
        ```
    """
    where = "refs/remotes" if remote else "refs/heads"
    return list(lines(here(ctx, cwd, user).out("for-each-ref", "--format=%(refname:short)", where)))


@function
def list_tags(ctx: Context, /, cwd: str, user: str | None = None, **_: object) -> list[str]:
    """The tags of a repository.

    Example:
        ```console
        $ saltern call git.list_tags /srv/checkout
        local:
            - v1.0
        ```
    """
    return list(lines(here(ctx, cwd, user).out("tag", "--list")))


@function
def remotes(
    ctx: Context, /, cwd: str, user: str | None = None, redact_auth: bool = True, **_: object
) -> dict[str, dict[str, str]]:
    """The remotes of a repository and their URLs, without passwords.

    Example:
        ```console
        $ saltern call git.remotes /srv/checkout
        local:
            ----------
            origin:
                ----------
                fetch:
                    file:///srv/git/dotfiles.git
                push:
                    file:///srv/git/dotfiles.git
        ```
    """
    found: dict[str, dict[str, str]] = {}
    for line in lines(here(ctx, cwd, user).out("remote", "-v")):
        name, rest = line.split("\t", 1)
        url, kind = rest.rsplit(" ", 1)
        found.setdefault(name, {})[kind.strip("()")] = mask(url) if redact_auth else url
    return found


@function
def remote_get(
    ctx: Context,
    /,
    cwd: str,
    remote: str = "origin",
    user: str | None = None,
    redact_auth: bool = True,
    **_: object,
) -> dict[str, str]:
    """The URLs of one remote.

    Example:
        ```console
        $ saltern call git.remote_get /srv/checkout
        local:
            ----------
            fetch:
                file:///srv/git/dotfiles.git
            push:
                file:///srv/git/dotfiles.git
        ```
    """
    found = remotes(ctx, cwd, user, redact_auth)
    if remote not in found:
        raise BadArgument(f"Remote '{remote}' not present in git checkout located at {cwd}")
    return found[remote]


@function
def remote_set(
    ctx: Context, /, cwd: str, url: str, remote: str = "origin", user: str | None = None, **_: object
) -> dict[str, str]:
    """Set the URL of a remote; a missing remote is added.

    Example:
        ```console
        $ saltern call git.remote_set /srv/checkout https://example.org/dotfiles.git
        local:
            ----------
            fetch:
                https://example.org/dotfiles.git
            push:
                https://example.org/dotfiles.git
        ```
    """
    git = here(ctx, cwd, user)
    verb = "set-url" if remote in remotes(ctx, cwd, user) else "add"
    git.out(*vector(["remote", verb], remote, url))
    return remote_get(ctx, cwd, remote, user)


@function
def ls_remote(
    ctx: Context,
    /,
    cwd: str | None = None,
    remote: str = "origin",
    ref: str | None = None,
    opts: str = "",
    user: str | None = None,
    identity: object = None,
    https_user: str | None = None,
    https_pass: str | None = None,
    **_: object,
) -> dict[str, str]:
    """The commit of every ref of a remote.

    Example:
        ```console
        $ saltern call git.ls_remote remote=file:///srv/git/dotfiles.git ref=main
        local:
            ----------
            refs/heads/main:
                cf4aee23aff2a43f6f5a6c30dbea530aac93b6c9
        ```
    """
    git = Git(ctx, cwd, user=user, login=login(identity, https_user, https_pass))
    rows = git.out("ls-remote", *options(opts), "--", remote, *([ref] if ref else []))
    return {name: sha for sha, name in (line.split("\t", 1) for line in lines(rows))}


@function
def status(ctx: Context, /, cwd: str, user: str | None = None, **_: object) -> dict[str, list[str]]:
    """The changed files of a working copy, by git's letter for the change.

    Example:
        ```console
        $ saltern call git.status /srv/checkout
        local:
            ----------
        ```
    """
    kinds = {"M": "modified", "A": "new", "D": "deleted", "??": "untracked"}
    found: dict[str, list[str]] = {}
    for line in lines(here(ctx, cwd, user).out("status", "--porcelain")):
        letter = line[:2].strip()
        found.setdefault(kinds.get(letter, kinds.get(letter[:1], letter)), []).append(line[3:])
    return found


@function
def is_worktree(ctx: Context, /, cwd: str, user: str | None = None, **_: object) -> bool:
    """True if the directory is an additional working tree of a repository elsewhere.

    Example:
        ```console
        $ saltern call git.is_worktree /srv/checkout
        local:
            False
        ```
    """
    git = Git(ctx, absolute(cwd), user=user)
    own, main = git.maybe("rev-parse", "--git-dir"), git.maybe("rev-parse", "--git-common-dir")
    return bool(own) and own != main
