"""``git``: compare commits."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.git.query import here, options
from saltern.modules.lib.git.command import Git, lines, login


@function
def diff(
    ctx: Context,
    /,
    cwd: str,
    item1: str | None = None,
    item2: str | None = None,
    opts: str = "",
    user: str | None = None,
    no_index: bool = False,
    cached: bool = False,
    paths: object = None,
    **_: object,
) -> str:
    """The differences between two commits, a commit and the files, or (``no_index``) two files.

    Args:
        cwd: the working copy.
        item1: a commit; with ``no_index``, a file.
        item2: another one.
        opts: further options of ``git diff``.
        user: the user to run git as.
        no_index: compare two files, tracked or not.
        cached: compare with the index.
        paths: only these paths.

    Example:
        ```console
        $ saltern call git.diff /srv/checkout v1.0 HEAD opts=--stat
        ```
    """
    items = [one for one in (item1, item2) if one]
    if no_index:
        if len(items) != 2 or cached:
            raise BadArgument("no_index compares two files: item1 and item2")
        ran = Git(ctx, cwd, user=user).ran("diff", "--no-index", *options(opts), "--", *items)
        return ran.out.rstrip() if ran.code in (0, 1) else ran.err.strip()
    how = ["--cached"] if cached else []
    some = paths if isinstance(paths, list | tuple) else [paths] if paths else []
    return here(ctx, cwd, user).out("diff", *how, *options(opts), *items, "--", *map(str, some))


@function
def merge_base(
    ctx: Context,
    /,
    cwd: str,
    refs: object = None,
    octopus: bool = False,
    is_ancestor: bool = False,
    independent: bool = False,
    fork_point: str | None = None,
    opts: str = "",
    user: str | None = None,
    **kwargs: object,
) -> object:
    """The common ancestor of commits.

    Args:
        cwd: the repository.
        refs: the commits; a list, or text with commas.
        octopus: the common ancestor of all of them.
        is_ancestor: return only whether the first is an ancestor of the second.
        independent: the commits that cannot be reached from the others.
        fork_point: the commit where a branch (of ``refs``) left this one.
        opts: further options of ``git merge-base``.
        user: the user to run git as.
        kwargs: ``all``: all common ancestors.

    Example:
        ```console
        $ saltern call git.merge_base /srv/checkout refs=v1.0,HEAD is_ancestor=True
        local:
            True
        ```
    """
    given = refs.split(",") if isinstance(refs, str) else list(refs) if isinstance(refs, list | tuple) else []
    commits = [str(one).strip() for one in given]
    modes = {"--octopus": octopus, "--is-ancestor": is_ancestor, "--independent": independent}
    chosen = [name for name, on in modes.items() if on] + (
        [f"--fork-point={fork_point}"] if fork_point else []
    )
    if len(chosen) > 1:
        raise BadArgument("only one of octopus, is_ancestor, independent and fork_point can be given")
    git = here(ctx, cwd, user)
    if is_ancestor:
        if len(commits) != 2:
            raise BadArgument("is_ancestor needs two commits in refs")
        return git.ran("merge-base", "--is-ancestor", *commits).code == 0
    if fork_point:
        return git.out("merge-base", "--fork-point", fork_point, *(commits[:1] or ["HEAD"]))
    every = ["--all"] if kwargs.get("all") else []
    found = git.out("merge-base", *chosen, *every, *options(opts), *commits)
    return list(lines(found)) if every or independent else found


@function
def merge_tree(
    ctx: Context,
    /,
    cwd: str,
    ref1: str,
    ref2: str,
    base: str | None = None,
    user: str | None = None,
    **_: object,
) -> str:
    """The changes that a merge of two commits would make.

    Args:
        cwd: the repository.
        ref1: a commit.
        ref2: another one.
        base: their common ancestor; determined if not given.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.merge_tree /srv/checkout v1.0 HEAD
        ```
    """
    git = here(ctx, cwd, user)
    return git.out("merge-tree", base or git.out("merge-base", ref1, ref2), ref1, ref2)


@function
def remote_refs(
    ctx: Context,
    /,
    url: str,
    heads: bool = False,
    tags: bool = False,
    user: str | None = None,
    identity: object = None,
    https_user: str | None = None,
    https_pass: str | None = None,
    **kwargs: object,
) -> dict[str, str]:
    """The commit of every ref of a remote repository.

    Args:
        url: its URL.
        heads: only branches.
        tags: only tags.
        user: the user to run git as.
        identity: the private key for ssh.
        https_user: the name for https.
        https_pass: the password for https.
        kwargs: ``filter``: only refs that match this pattern.

    Example:
        ```console
        $ saltern call git.remote_refs file:///srv/git/dotfiles.git tags=True
        ```
    """
    git = Git(ctx, user=user, login=login(identity, https_user, https_pass))
    how = [flag for flag, on in (("--heads", heads), ("--tags", tags)) if on]
    which = [str(kwargs["filter"])] if kwargs.get("filter") else []
    reported = git.out("ls-remote", *how, "--", url, *which)
    return {name: sha for sha, name in (line.split("\t", 1) for line in lines(reported))}
