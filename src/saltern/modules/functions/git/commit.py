"""``git``: change a repository. Each function returns the output of git."""

from __future__ import annotations

import os

from saltern.modules.api.commands import list_of_texts
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute
from saltern.modules.functions.git.query import here, options
from saltern.modules.lib.git.command import Git, login

# ``**_`` accepts password, ignore_retcode, output_encoding and git_opts of Salt, which have no effect here.


def _paths(filename: object) -> list[str]:
    found = list_of_texts(filename)
    if not found:
        raise BadArgument("filename needs at least one file")
    return found


@function
def add(
    ctx: Context, /, cwd: str, filename: object, opts: str = "", user: str | None = None, **_: object
) -> str:
    """Add files to the index.

    Args:
        cwd: the working copy.
        filename: the file, or a list of them.
        opts: further options of ``git add``.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.add /srv/checkout . opts=--verbose
        ```
    """
    return here(ctx, cwd, user).out("add", "--verbose", *options(opts), "--", *_paths(filename))


@function
def rm(
    ctx: Context, /, cwd: str, filename: object, opts: str = "", user: str | None = None, **_: object
) -> str:
    """Remove files, also from the index.

    Args:
        cwd: the working copy.
        filename: the file, or a list of them.
        opts: further options of ``git rm``.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.rm /srv/checkout vimrc
        local:
            rm 'vimrc'
        ```
    """
    return here(ctx, cwd, user).out("rm", *options(opts), "--", *_paths(filename))


@function
def commit(
    ctx: Context,
    /,
    cwd: str,
    message: str,
    opts: str = "",
    user: str | None = None,
    filename: object = None,
    **_: object,
) -> str:
    """Commit the index.

    Args:
        cwd: the working copy.
        message: the message of the commit.
        opts: further options of ``git commit``.
        user: the user to run git as.
        filename: commit this file, or a list of them, whether added or not.

    Example:
        ```console
        $ saltern call git.commit /srv/checkout 'Nothing yet' opts=--allow-empty
        ```
    """
    files = ["--", *list_of_texts(filename)] if filename else []
    return here(ctx, cwd, user).out("commit", "-m", str(message), *options(opts), *files)


@function
def branch(
    ctx: Context, /, cwd: str, name: str | None = None, opts: str = "", user: str | None = None, **_: object
) -> bool:
    """Create, move or delete a branch.

    Args:
        cwd: the repository.
        name: the branch.
        opts: what to do with it: options of ``git branch``.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.branch /srv/checkout next
        local:
            True
        ```
    """
    here(ctx, cwd, user).out("branch", *options(opts), *([name] if name else []))
    return True


@function
def tag(
    ctx: Context,
    /,
    cwd: str,
    name: str,
    ref: str = "HEAD",
    message: str | None = None,
    opts: str = "",
    user: str | None = None,
    **_: object,
) -> str:
    """Create a tag, or delete one (``opts=-d``).

    Args:
        cwd: the repository.
        name: the tag.
        ref: the commit to tag.
        message: the message, for an annotated tag.
        opts: further options of ``git tag``.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.tag /srv/checkout v1.1 message='A better one'
        ```
    """
    given = [one for one in options(opts) if one not in ("-a", "--annotate")]
    if any(one == "-m" or one.startswith("--message") for one in given):
        raise BadArgument("the message of a tag is given in 'message', not in opts")
    said = ["-a", "-m", message] if message is not None else []
    goal = [] if {"-d", "--delete"} & set(given) else [ref]
    return here(ctx, cwd, user).out("tag", *said, *given, name, *goal)


@function
def push(
    ctx: Context,
    /,
    cwd: str,
    remote: str | None = None,
    ref: str | None = None,
    opts: str = "",
    user: str | None = None,
    identity: object = None,
    **_: object,
) -> str:
    """Push commits to a remote.

    Args:
        cwd: the repository.
        remote: the remote, or its URL.
        ref: what to push, such as ``main`` or ``main:next``.
        opts: further options of ``git push``.
        user: the user to run git as.
        identity: the private key for ssh.

    Example:
        ```console
        $ saltern call git.push /srv/checkout origin main
        ```
    """
    if not remote or not ref:
        raise BadArgument("git.push needs a remote and a ref")
    git = Git(ctx, absolute(cwd), user=user, login=login(identity))
    ran = git.ran("push", "--porcelain", *options(opts), "--", remote, ref)
    return ran.out.rstrip() if ran.code == 0 else git.out("push", *options(opts), "--", remote, ref)


@function
def rebase(
    ctx: Context, /, cwd: str, rev: str = "master", opts: str = "", user: str | None = None, **_: object
) -> str:
    """Rebase the current branch onto another one.

    Args:
        cwd: the working copy.
        rev: the branch or commit to rebase onto.
        opts: further options of ``git rebase``.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.rebase /srv/checkout v1.0
        ```
    """
    given = options(opts)
    if {"-i", "--interactive"} & set(given):
        raise BadArgument("git.rebase cannot ask questions; leave --interactive out")
    return here(ctx, cwd, user).out("rebase", *given, *str(rev).split())


@function
def stash(
    ctx: Context, /, cwd: str, action: str = "save", opts: str = "", user: str | None = None, **_: object
) -> str:
    """Stash local changes, or restore them.

    Args:
        cwd: the working copy.
        action: ``save``, ``apply``, ``pop``, ``list``, ``drop`` or ``clear``.
        opts: further options, such as a message.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.stash /srv/checkout list
        ```
    """
    if action not in ("save", "push", "apply", "pop", "list", "show", "drop", "clear", "branch", "create"):
        raise BadArgument(f"git stash cannot {action!r}")
    return here(ctx, cwd, user).out("stash", action, *options(opts))


@function
def submodule(
    ctx: Context,
    /,
    cwd: str,
    command: str,
    opts: str = "",
    user: str | None = None,
    identity: object = None,
    **_: object,
) -> str:
    """Run a command on the submodules of a repository.

    Args:
        cwd: the working copy.
        command: ``add``, ``init``, ``update``, ``sync``, ``status``, ``deinit`` …
        opts: further options, such as ``--init`` for ``update``.
        user: the user to run git as.
        identity: the private key for ssh.

    Example:
        ```console
        $ saltern call git.submodule /srv/checkout update opts=--init
        ```
    """
    if not command.replace("-", "").isalpha() or command.startswith("-"):
        raise BadArgument(f"git submodule has no command {command!r}")
    git = Git(ctx, absolute(cwd), user=user, login=login(identity))
    return git.out("submodule", command, *options(opts))


@function
def discard_local_changes(
    ctx: Context, /, cwd: str, path: str = ".", user: str | None = None, **_: object
) -> str:
    """Discard changes in a working copy that are not in the index.

    Args:
        cwd: the working copy.
        path: only below this path.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.discard_local_changes /srv/checkout vimrc
        ```
    """
    return here(ctx, cwd, user).out("checkout", "--", path)


@function
def symbolic_ref(
    ctx: Context,
    /,
    cwd: str,
    ref: str,
    value: str | None = None,
    opts: str = "",
    user: str | None = None,
    **_: object,
) -> str:
    """The target of a symbolic ref; with ``value``, set it.

    Args:
        cwd: the repository.
        ref: the symbolic ref.
        value: its new target.
        opts: further options of ``git symbolic-ref``.
        user: the user to run git as.

    Example:
        ```console
        $ saltern call git.symbolic_ref /srv/checkout HEAD
        local:
            refs/heads/main
        ```
    """
    given = options(opts)
    if value is not None and {"-d", "--delete"} & set(given):
        raise BadArgument("a symbolic ref that is deleted cannot be given a value")
    return here(ctx, cwd, user).out("symbolic-ref", *given, ref, *([value] if value else []))


@function
def archive(
    ctx: Context,
    /,
    cwd: str,
    output: str,
    rev: str = "HEAD",
    prefix: str | None = None,
    user: str | None = None,
    **kwargs: object,
) -> bool:
    """Create an archive of the files of a commit.

    Args:
        cwd: the repository.
        output: the file to write.
        rev: the commit.
        prefix: the prefix of every name; the name of the directory if not given.
        user: the user to run git as.
        kwargs: ``format``, such as ``tar.gz`` or ``zip``; otherwise taken from the name of the file.

    Example:
        ```console
        $ saltern call git.archive /srv/checkout /tmp/dotfiles.tar.gz v1.0
        local:
            True
        ```
    """
    before = f"{os.path.basename(absolute(cwd))}/" if prefix is None else prefix
    form = [f"--format={kwargs['format']}"] if kwargs.get("format") else []
    where = absolute(output)
    here(ctx, cwd, user).out("archive", f"--prefix={before}", *form, f"--output={where}", rev)
    return True
