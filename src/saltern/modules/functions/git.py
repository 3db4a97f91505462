"""``git``: ask repositories, and drive git from other states."""

from __future__ import annotations

from saltern.modules.api import Function, function
from saltern.modules.commands import listed, words
from saltern.modules.context import Context
from saltern.modules.functions.file.told import absolute
from saltern.modules.params import BadArgument
from saltern.modules.states._programs import masked
from saltern.modules.states.git.command import Git, lines, login
from saltern.modules.states.git.copy import is_repository


def _here(ctx: Context, cwd: str, user: str | None = None) -> Git:
    path = absolute(cwd)
    git = Git(ctx, path, user=user)
    if not is_repository(path) and git.ran("rev-parse", "--git-dir").code:
        raise BadArgument(f"{cwd} is not a git repository")
    return git


def _options(opts: str) -> list[str]:
    return words(opts) if opts else []


@function
def version(ctx: Context, versioninfo: bool = False) -> object:
    """The version of git; with ``versioninfo`` as a list of numbers."""
    text = Git(ctx).out("version").removeprefix("git version ").split(" ")[0]
    return [int(part) if part.isdecimal() else part for part in text.split(".")] if versioninfo else text


@function
def revision(
    ctx: Context, /, cwd: str, rev: str = "HEAD", short: bool = False, user: str | None = None, **_: object
) -> str:
    """The commit a revision means."""
    how = ["--short"] if short else []
    return _here(ctx, cwd, user).out("rev-parse", *how, "--verify", f"{rev}^{{commit}}")


@function
def rev_parse(
    ctx: Context, /, cwd: str, rev: str | None = None, opts: str = "", user: str | None = None, **_: object
) -> str:
    """What ``git rev-parse`` prints."""
    return _here(ctx, cwd, user).out("rev-parse", *_options(opts), *([rev] if rev else []))


@function
def current_branch(ctx: Context, /, cwd: str, user: str | None = None, **_: object) -> str:
    """The branch that is checked out, or nothing."""
    return _here(ctx, cwd, user).maybe("symbolic-ref", "--quiet", "--short", "HEAD")


@function
def list_branches(
    ctx: Context, /, cwd: str, remote: bool = False, user: str | None = None, **_: object
) -> list[str]:
    """The branches of a repository, or those it knows of its remotes."""
    where = "refs/remotes" if remote else "refs/heads"
    return list(lines(_here(ctx, cwd, user).out("for-each-ref", "--format=%(refname:short)", where)))


@function
def list_tags(ctx: Context, /, cwd: str, user: str | None = None, **_: object) -> list[str]:
    """The tags of a repository."""
    return list(lines(_here(ctx, cwd, user).out("tag", "--list")))


@function
def remotes(
    ctx: Context, /, cwd: str, user: str | None = None, redact_auth: bool = True, **_: object
) -> dict[str, dict[str, str]]:
    """The remotes of a repository and their addresses, passwords left out."""
    found: dict[str, dict[str, str]] = {}
    for line in lines(_here(ctx, cwd, user).out("remote", "-v")):
        name, rest = line.split("\t", 1)
        url, kind = rest.rsplit(" ", 1)
        found.setdefault(name, {})[kind.strip("()")] = masked(url) if redact_auth else url
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
    """The addresses of one remote."""
    found = remotes(ctx, cwd, user, redact_auth)
    if remote not in found:
        raise BadArgument(f"Remote '{remote}' not present in git checkout located at {cwd}")
    return found[remote]


@function
def remote_set(
    ctx: Context, /, cwd: str, url: str, remote: str = "origin", user: str | None = None, **_: object
) -> dict[str, str]:
    """Give a remote this address; the remote is added if there is none of that name."""
    git = _here(ctx, cwd, user)
    verb = "set-url" if remote in remotes(ctx, cwd, user) else "add"
    git.out("remote", verb, remote, url)
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
    """What a remote has: the commit of every ref."""
    git = Git(ctx, cwd, user=user, login=login(identity, https_user, https_pass))
    told = git.out("ls-remote", *_options(opts), "--", remote, *([ref] if ref else []))
    return {name: sha for sha, name in (line.split("\t", 1) for line in lines(told))}


@function
def status(ctx: Context, /, cwd: str, user: str | None = None, **_: object) -> dict[str, list[str]]:
    """The changed files of a working copy, by git's letter for the change."""
    kinds = {"M": "modified", "A": "new", "D": "deleted", "??": "untracked"}
    found: dict[str, list[str]] = {}
    for line in lines(_here(ctx, cwd, user).out("status", "--porcelain")):
        letter = line[:2].strip()
        found.setdefault(kinds.get(letter, kinds.get(letter[:1], letter)), []).append(line[3:])
    return found


@function
def is_worktree(ctx: Context, /, cwd: str, user: str | None = None, **_: object) -> bool:
    """Whether the directory is a further working tree of a repository that lies elsewhere."""
    git = Git(ctx, absolute(cwd), user=user)
    own, main = git.maybe("rev-parse", "--git-dir"), git.maybe("rev-parse", "--git-common-dir")
    return bool(own) and own != main


@function
def config_get(
    ctx: Context,
    /,
    key: str,
    cwd: str | None = None,
    user: str | None = None,
    **kwargs: object,
) -> object:
    """The value of a setting; with ``all`` the list of its values. None if it is not set."""
    scope = ["--global"] if kwargs.get("global") or not cwd else []
    git = Git(ctx, cwd, user=user)
    found = lines(git.maybe("config", *scope, "--get-all", key))
    if not found:
        return None
    return list(found) if kwargs.get("all") else found[-1]


def _simple(verb: str) -> Function[..., str]:
    @function(name=verb)
    def run(
        ctx: Context, /, cwd: str, rev: str = "", opts: str = "", user: str | None = None, **_: object
    ) -> str:
        return _here(ctx, cwd, user).out(verb, *_options(opts), *([rev] if rev else []))

    run.doc = f"Run ``git {verb}`` in a repository; what it prints."
    return run


checkout = _simple("checkout")
reset = _simple("reset")
merge = _simple("merge")
describe = _simple("describe")


@function
def fetch(
    ctx: Context,
    /,
    cwd: str,
    remote: str | None = None,
    force: bool = False,
    refspecs: object = None,
    opts: str = "",
    user: str | None = None,
    identity: object = None,
    **_: object,
) -> str:
    """Fetch from a remote; what git says of it."""
    git = Git(ctx, absolute(cwd), user=user, login=login(identity))
    specs = refspecs.split(",") if isinstance(refspecs, str) else listed(refspecs)
    how = ["--force"] if force else []
    return git.out("fetch", *how, *_options(opts), *([remote] if remote else []), *specs)


@function
def pull(
    ctx: Context, /, cwd: str, opts: str = "", user: str | None = None, identity: object = None, **_: object
) -> str:
    """Fetch and merge; what git says of it."""
    git = Git(ctx, absolute(cwd), user=user, login=login(identity))
    return git.out("pull", *_options(opts))


@function
def clone(
    ctx: Context,
    /,
    cwd: str,
    url: str | None = None,
    name: str | None = None,
    opts: str = "",
    user: str | None = None,
    identity: object = None,
    https_user: str | None = None,
    https_pass: str | None = None,
    **_: object,
) -> bool:
    """Clone ``url`` to ``cwd``, or to ``name`` in it."""
    import os

    if not url:
        raise BadArgument("'url' is missing; give the address of the remote repository")
    target = os.path.join(absolute(cwd), name) if name else absolute(cwd)
    git = Git(ctx, user=user, login=login(identity, https_user, https_pass))
    git.out("clone", "--quiet", *_options(opts), "--", url, target)
    return True


@function
def init(
    ctx: Context, /, cwd: str, bare: bool = False, user: str | None = None, opts: str = "", **_: object
) -> str:
    """Make a repository; what git says of it."""
    how = ["--bare"] if bare else []
    return Git(ctx, user=user).out("init", *how, *_options(opts), "--", absolute(cwd))
