"""``git.present``: a local repository."""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.files.facts import absolute
from saltern.modules.lib.git.clone import names_in
from saltern.modules.lib.git.command import Git
from saltern.modules.lib.git.copy import is_repository
from saltern.system import files

MEANINGLESS = frozenset({"password", "output_encoding"})


@state
def present(
    ctx: Context,
    /,
    name: str,
    *,
    force: bool = False,
    bare: bool = True,
    template: str | None = None,
    separate_git_dir: str | None = None,
    shared: str | None = None,
    user: str | None = None,
    **rest: Unused,
) -> Result:
    """Make sure that a git repository exists; create it if it is missing.

    Args:
        name: the directory of the repository.
        force: remove the contents of the directory if it is not a repository. A repository of the other
            kind (see ``bare``) is never removed.
        bare: False creates a repository with a working tree.
        template: a directory whose contents are copied into the new repository.
        separate_git_dir: the path of the repository itself, if not in the working tree.
        shared: who may write to it, such as ``group`` or ``0660``.
        user: the user who runs git and owns the repository.

    Example:
        ```yaml
        /srv/git/site.git:
          git.present:
            - user: git
        ```
    """
    ctx.facts = {"path": name}
    ctx.foreseen = {"new": name}
    path = absolute(name).rstrip("/") or "/"
    if bare and separate_git_dir:
        raise Refused("'separate_git_dir' needs 'bare: False'")
    there = is_repository(path)
    if there and not separate_git_dir and _is_bare(path) is not bare:
        kinds = ("with a working tree", "without a working tree (bare)")
        raise Refused(f"Target '{path}' is a repository {kinds[not bare]} already; give bare: {not bare}")
    held = [] if there else names_in(path)
    if held and not force:
        raise Refused(f"Target '{path}' is not empty and not a repository; set 'force' to True to remove it")
    changes: dict[str, object] = {} if there else {"new": path}
    if held:
        changes["forced init"] = True
    if changes and not ctx.test:
        for one in held:
            files.remove(os.path.join(path, one))
        _init(Git(ctx, user=user), path, bare, template, separate_git_dir, shared)
    data = {"path": path, "bare": _is_bare(path) if is_repository(path) else bare}
    return result_of(
        ctx,
        changes,
        Words(
            f"Repository already exists at {path}",
            f"Repository would be initialized at {path}",
            f"Repository initialized at {path}",
        ),
        data,
        unused_warnings(rest, MEANINGLESS),
    )


def _init(
    git: Git, path: str, bare: bool, template: str | None, separate: str | None, shared: str | None
) -> None:
    words = ["--bare"] if bare else []
    words += [f"--template={template}"] if template else []
    words += [f"--separate-git-dir={separate}"] if separate else []
    words += [f"--shared={shared}"] if shared else []
    what = f"cannot create a repository at {path}"
    if git.is_exposed(path) and not separate:
        files.make_directories(path)
        git.at(path).out("init", "--quiet", *words, what=what)
        return
    git.out("init", "--quiet", *words, "--", path, what=what)


def _is_bare(path: str) -> bool:
    """True for a repository without a working tree. Git itself does not say it of one of another user."""
    return not os.path.lexists(os.path.join(path, ".git"))
