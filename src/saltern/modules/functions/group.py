"""``group``: the groups of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.accounts import group_tools
from saltern.modules.lib.accounts.user_tools import checked_name

if TYPE_CHECKING:
    from grp import struct_group

# ruff: noqa: ARG001 - signatures are Salt's


def _as_dict(entry: struct_group) -> dict[str, object]:
    return {
        "name": entry.gr_name,
        "passwd": entry.gr_passwd,
        "gid": entry.gr_gid,
        "members": list(entry.gr_mem),
    }


@function
def info(ctx: Context, name: str, root: str | None = None) -> dict[str, object]:
    """The data of a group; empty if it does not exist.

    Example:
        ```console
        $ saltern call group.info staffers
        local:
            ----------
            gid:
                2000
            members:
                - ada
            name:
                staffers
            passwd:
                x
        ```
    """
    import grp

    try:
        return _as_dict(grp.getgrnam(str(name)))
    except KeyError:
        return {}


@function
def getent(ctx: Context, refresh: bool = False, root: str | None = None) -> list[dict[str, object]]:
    """All groups.

    Example:
        ```console
        $ saltern call group.getent
        ```
    """
    import grp

    return [_as_dict(entry) for entry in grp.getgrall()]


@function
def add(
    ctx: Context,
    name: str,
    gid: int | None = None,
    system: bool = False,
    root: str | None = None,
    non_unique: bool = False,
    local: bool = False,
) -> bool:
    """Create a group.

    Example:
        ```console
        $ saltern call group.add deployers gid=2100
        local:
            True
        ```
    """
    group_tools.add(ctx, checked_name(str(name), "group"), gid=gid, system=system, non_unique=non_unique)
    return True


@function
def delete(ctx: Context, name: str, root: str | None = None, local: bool = False) -> bool:
    """Remove a group.

    Example:
        ```console
        $ saltern call group.delete oldgroup
        local:
            True
        ```
    """
    group_tools.remove(ctx, checked_name(str(name), "group"))
    return True


@function
def chgid(ctx: Context, name: str, gid: int, root: str | None = None, non_unique: bool = False) -> bool:
    """Change the number of a group.

    Example:
        ```console
        $ saltern call group.chgid staffers 2200
        local:
            True
        ```
    """
    group_tools.set_gid(ctx, checked_name(str(name), "group"), gid, non_unique=non_unique)
    return True


@function
def adduser(ctx: Context, name: str, username: str, root: str | None = None) -> bool:
    """Add a user to a group.

    Example:
        ```console
        $ saltern call group.adduser staffers deploy
        local:
            True
        ```
    """
    group_tools.add_user(ctx, checked_name(str(name), "group"), checked_name(str(username)))
    return True


@function
def deluser(ctx: Context, name: str, username: str, root: str | None = None) -> bool:
    """Remove a user from a group.

    Example:
        ```console
        $ saltern call group.deluser staffers ada
        local:
            True
        ```
    """
    if username in group_tools.members(ctx, name):
        group_tools.remove_user(ctx, checked_name(str(name), "group"), checked_name(str(username)))
    return True


@function
def members(ctx: Context, name: str, members_list: object, root: str | None = None) -> bool:
    """Set the members of a group: a list, or a text with commas.

    Example:
        ```console
        $ saltern call group.members staffers ada,deploy
        local:
            True
        ```
    """
    given = members_list.split(",") if isinstance(members_list, str) else members_list
    names = [checked_name(str(one)) for one in given if one] if isinstance(given, list | tuple) else []
    group_tools.set_members(ctx, checked_name(str(name), "group"), names)
    return True
