"""Functions of ``selinux`` for the labels of files."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import check_known
from saltern.modules.lib.selinux import contexts
from saltern.modules.lib.selinux.contexts import FILE_TYPES
from saltern.system.process import Ran

Done = dict[str, object]


def done_from(ran: Ran) -> Done:
    """The result of a program, in the form of ``cmd.run_all``."""
    return {"pid": ran.pid, "retcode": ran.code, "stdout": ran.out.strip(), "stderr": ran.err.strip()}


@function
def filetype_id_to_string(
    ctx: Context,  # noqa: ARG001 - Salt's signature
    filetype: str = "a",
) -> str:
    """The name of a kind of files in semanage.

    Args:
        filetype: its letter.

    Example:
        ```console
        $ saltern call selinux.filetype_id_to_string d
        ```
    """
    check_known(filetype, FILE_TYPES, "filetype")
    return FILE_TYPES[filetype]


@function
def fcontext_get_policy(
    ctx: Context,
    name: str,
    filetype: str | None = None,
    sel_type: str | None = None,
    sel_user: str | None = None,
    sel_level: str | None = None,
) -> dict[str, str] | None:
    """The policy for the labels of the files of a path; None if there is no entry for exactly this path.

    Args:
        name: the path; it may contain patterns.
        filetype: the kind of files, as in the state; ``a`` for all.
        sel_type: only if it is this type.
        sel_user: only if it is this user.
        sel_level: only if it is this level.

    Example:
        ```console
        $ saltern call selinux.fcontext_get_policy '/var/www(/.*)?'
        ```
    """
    want = contexts.desired_context(name, filetype, sel_type, sel_user, sel_level)
    found = contexts.find(ctx, want)
    return found if found and want.wanted.items() <= found.items() else None


@function
def fcontext_add_policy(
    ctx: Context,
    name: str,
    filetype: str | None = None,
    sel_type: str | None = None,
    sel_user: str | None = None,
    sel_level: str | None = None,
) -> Done:
    """Set the policy for the labels of the files of a path.

    Args:
        name: the path; it may contain patterns.
        filetype: the kind of files, as in the state; ``a`` for all.
        sel_type: the type.
        sel_user: the user.
        sel_level: the level.

    Example:
        ```console
        $ saltern call selinux.fcontext_add_policy '/srv/shop(/.*)?' sel_type=httpd_sys_content_t
        ```
    """
    want = contexts.desired_context(name, filetype or "a", sel_type, sel_user, sel_level)
    action = "modify" if contexts.find(ctx, want) else "add"
    return done_from(contexts.run(ctx, action, want))


@function
def fcontext_delete_policy(
    ctx: Context,
    name: str,
    filetype: str | None = None,
    sel_type: str | None = None,
    sel_user: str | None = None,
    sel_level: str | None = None,
) -> Done:
    """Remove the local policy for the labels of the files of a path.

    Args:
        name: the path; it may contain patterns.
        filetype: the kind of files, as in the state; ``a`` for all.
        sel_type: has no effect.
        sel_user: has no effect.
        sel_level: has no effect.

    Example:
        ```console
        $ saltern call selinux.fcontext_delete_policy '/srv/shop(/.*)?'
        ```
    """
    want = contexts.desired_context(name, filetype or "a", sel_type, sel_user, sel_level)
    return done_from(contexts.run(ctx, "delete", want))


@function
def fcontext_policy_is_applied(ctx: Context, name: str, recursive: bool = False) -> str:
    """The files whose labels differ from the policy, as restorecon reports them; empty if there are none.

    Args:
        name: the path; it may contain patterns.
        recursive: also label everything below it.

    Example:
        ```console
        $ saltern call selinux.fcontext_policy_is_applied /srv recursive=true
        ```
    """
    path = contexts.path_of(ctx, name)
    return contexts.restore(ctx, path, recursive=recursive, only_look=True).out.strip()


@function
def fcontext_apply_policy(ctx: Context, name: str, recursive: bool = False) -> Done:
    """Label files as the policy says. Returns the changes under ``changes``.

    Args:
        name: the path; it may contain patterns.
        recursive: also label everything below it.

    Example:
        ```console
        $ saltern call selinux.fcontext_apply_policy /srv recursive=true
        ```
    """
    path = contexts.path_of(ctx, name)
    changes = contexts.wrong_labels(ctx, path, recursive=recursive)
    return {**done_from(contexts.restore(ctx, path, recursive=recursive)), "changes": changes}
