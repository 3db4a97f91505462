"""``git``: clone repositories, update them, and switch revisions."""

from __future__ import annotations

import os

from saltern.modules.api.argv import vector
from saltern.modules.api.commands import list_of_texts
from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, function, make_docstring
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute
from saltern.modules.functions.git.query import here, options
from saltern.modules.lib.git.command import Git, login


def _simple(verb: str, call: str, answer: str) -> Function[..., str]:
    @function(name=verb)
    def run(
        ctx: Context, /, cwd: str, rev: str = "", opts: str = "", user: str | None = None, **_: object
    ) -> str:
        return here(ctx, cwd, user).out(verb, *options(opts), *([rev] if rev else []))

    said = f"Run ``git {verb}`` in a repository. Returns its output."
    run.doc = make_docstring(said, f"git.{verb} /srv/checkout {call}", answer)
    return run


checkout = _simple("checkout", "trial", "branch 'trial' set up to track 'origin/trial'.")
reset = _simple("reset", "opts='--hard v1.0'", "HEAD is now at 847ac53 First settings")
merge = _simple("merge", "v1.0", "Already up to date.")
describe = _simple("describe", "opts=--tags", "v1.0-1-gcf4aee2")


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
    """Fetch from a remote. Returns the output of git.

    Example:
        ```console
        $ saltern call git.fetch /srv/checkout
        local:
        ```
    """
    git = Git(ctx, absolute(cwd), user=user, login=login(identity))
    specs = refspecs.split(",") if isinstance(refspecs, str) else list_of_texts(refspecs)
    how = ["--force"] if force else []
    return git.out(*vector(["fetch", *how, *options(opts)], *([remote] if remote else []), *specs))


@function
def pull(
    ctx: Context, /, cwd: str, opts: str = "", user: str | None = None, identity: object = None, **_: object
) -> str:
    """Fetch and merge. Returns the output of git.

    Example:
        ```console
        $ saltern call git.pull /srv/checkout
        local:
            Already up to date.
        ```
    """
    git = Git(ctx, absolute(cwd), user=user, login=login(identity))
    return git.out("pull", *options(opts))


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
    """Clone ``url`` to ``cwd``, or to ``name`` in it.

    Example:
        ```console
        $ saltern call git.clone /srv/copy file:///srv/git/dotfiles.git
        local:
            True
        ```
    """
    if not url:
        raise BadArgument("'url' is missing; give the URL of the remote repository")
    target = os.path.join(absolute(cwd), name) if name else absolute(cwd)
    git = Git(ctx, user=user, login=login(identity, https_user, https_pass))
    git.out("clone", "--quiet", *options(opts), "--", url, target)
    return True


@function
def init(
    ctx: Context, /, cwd: str, bare: bool = False, user: str | None = None, opts: str = "", **_: object
) -> str:
    """Create a repository. Returns the output of git.

    Example:
        ```console
        $ saltern call git.init /srv/new
        local:
            Initialized empty Git repository in /srv/new/.git/
        ```
    """
    how = ["--bare"] if bare else []
    return Git(ctx, user=user).out("init", *how, *options(opts), "--", absolute(cwd))
