"""``git``: additional working trees of a repository."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute
from saltern.modules.functions.git.query import here, is_worktree, options
from saltern.modules.lib.git.command import lines


@function
def list_worktrees(
    ctx: Context, /, cwd: str, stale: bool = False, user: str | None = None, **kwargs: object
) -> dict[str, dict[str, object]]:
    """The additional working trees of a repository.

    Args:
        cwd: the repository.
        stale: only those whose directory is gone.
        user: the user to run git as.
        kwargs: ``all``: also those whose directory is gone.

    Example:
        ```console
        $ saltern call git.list_worktrees /srv/checkout
        ```
    """
    found: dict[str, dict[str, object]] = {}
    blocks = here(ctx, cwd, user).out("worktree", "list", "--porcelain").split("\n\n")
    for block in blocks[1:]:  # the first is the repository itself
        fields = dict((line + " ").split(" ", 1) for line in lines(block))
        path = fields["worktree"].strip()
        gone = not os.path.isdir(path)
        if kwargs.get("all") or gone == stale:
            branch = fields.get("branch", "").strip().removeprefix("refs/heads/")
            found[path] = {
                "HEAD": fields.get("HEAD", "").strip(),
                "branch": branch or None,
                "detached": not branch,
                "stale": gone,
            }
    return found


@function
def worktree_add(
    ctx: Context,
    /,
    cwd: str,
    worktree_path: str,
    ref: str | None = None,
    reset_branch: bool = False,
    force: bool = False,
    detach: bool = False,
    opts: str = "",
    user: str | None = None,
    **kwargs: object,
) -> str:
    """Create an additional working tree. Returns the output of git.

    Args:
        cwd: the repository.
        worktree_path: its path.
        ref: the revision to check out.
        reset_branch: reset an existing branch with that name.
        force: create it even if the branch is checked out elsewhere.
        detach: detach its HEAD, without a branch.
        opts: further options of ``git worktree add``.
        user: the user to run git as.
        kwargs: ``branch``: its branch; the last part of the path if not given.

    Example:
        ```console
        $ saltern call git.worktree_add /srv/checkout /srv/next
        ```
    """
    branch = kwargs.get("branch")
    if branch and detach:
        raise BadArgument("only one of branch and detach can be given")
    name = str(branch or os.path.basename(worktree_path.rstrip("/")))
    how = ["--detach"] if detach else ["-B" if reset_branch else "-b", name, *(["--force"] if force else [])]
    words = [*how, *options(opts), "--", absolute(worktree_path), *([ref] if ref else [])]
    return here(ctx, cwd, user).out("worktree", "add", *words)


@function
def worktree_prune(
    ctx: Context,
    /,
    cwd: str,
    dry_run: bool = False,
    verbose: bool = True,
    expire: str | None = None,
    opts: str = "",
    user: str | None = None,
    **_: object,
) -> str:
    """Remove the records of working trees whose directory is gone. Returns their names.

    Args:
        cwd: the repository.
        dry_run: only list them.
        verbose: list them.
        expire: only those that are older than this.
        opts: further options of ``git worktree prune``.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.worktree_prune /srv/checkout
        ```
    """
    flags = [flag for flag, on in (("--dry-run", dry_run), ("--verbose", verbose)) if on]
    since = ["--expire", expire] if expire else []
    ran = here(ctx, cwd, user).ran("worktree", "prune", *flags, *since, *options(opts))
    return (ran.out or ran.err).strip()


@function
def worktree_rm(ctx: Context, /, cwd: str, user: str | None = None, **_: object) -> bool:
    """Remove an additional working tree.

    Args:
        cwd: its directory.
        user: the user to run git as.

    Example:
        ```console
        $ git -C /srv/checkout worktree add -q /srv/next
        $ saltern call git.worktree_rm /srv/next
        local:
            True
        ```
    """
    path = absolute(cwd)
    if not os.path.isdir(path):
        raise BadArgument(f"{path} does not exist")
    if not is_worktree(ctx, path, user):
        raise BadArgument(f"{path} is not a git worktree")
    ctx.host.remove(path)
    return True
