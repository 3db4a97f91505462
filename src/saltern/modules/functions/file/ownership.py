"""``file``: owner, group and mode of a file, and IDs of users and groups."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os
import stat

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import expand_home, explain_errors
from saltern.modules.lib.files import owners
from saltern.modules.lib.files.names import names_of
from saltern.system import files


def stat_of(path: str, follow: bool = True) -> os.stat_result:
    with explain_errors(path):
        found = files.look(expand_home(path), follow=follow)
        if found is not None:
            return found
    raise BadArgument(f"{path}does not exist")


@function
def get_mode(ctx: Context, path: str, follow_symlinks: bool = True) -> str:
    """The mode of a file, such as ``0644``.

    Example:
        ```console
        $ saltern call file.get_mode /srv/app/list.txt
        local:
            0644
        ```
    """
    return f"{stat.S_IMODE(stat_of(path, follow_symlinks).st_mode):04o}"


@function
def get_uid(ctx: Context, path: str, follow_symlinks: bool = True) -> int:
    """The number of the user who owns a file.

    Example:
        ```console
        $ saltern call file.get_uid /srv/app/list.txt
        local:
            0
        ```
    """
    return stat_of(path, follow_symlinks).st_uid


@function
def get_gid(ctx: Context, path: str, follow_symlinks: bool = True) -> int:
    """The number of the group that owns a file.

    Example:
        ```console
        $ saltern call file.get_gid /srv/app/list.txt
        local:
            0
        ```
    """
    return stat_of(path, follow_symlinks).st_gid


@function
def get_user(ctx: Context, path: str, follow_symlinks: bool = True) -> str:
    """The user who owns a file.

    Example:
        ```console
        $ saltern call file.get_user /srv/app/list.txt
        local:
            root
        ```
    """
    return names_of(ctx).user(stat_of(path, follow_symlinks).st_uid)


@function
def get_group(ctx: Context, path: str, follow_symlinks: bool = True) -> str:
    """The group that owns a file.

    Example:
        ```console
        $ saltern call file.get_group /srv/app/list.txt
        local:
            root
        ```
    """
    return names_of(ctx).group(stat_of(path, follow_symlinks).st_gid)


@function
def uid_to_user(ctx: Context, uid: int | str) -> str | int:
    """The name of a user; the number itself if no user has it; empty if the argument is not a number.

    Example:
        ```console
        $ saltern call file.uid_to_user 2001
        local:
            ada
        ```
    """
    if not str(uid).isdecimal():
        return str(uid) if owners.user_id(str(uid)) is not None else ""
    name = names_of(ctx).user(int(uid))
    return int(uid) if name == str(uid) else name


@function
def gid_to_group(ctx: Context, gid: int | str) -> str | int:
    """The name of a group; the number itself if no group has it; empty if the argument is not a number.

    Example:
        ```console
        $ saltern call file.gid_to_group 2000
        local:
            staffers
        ```
    """
    if not str(gid).isdecimal():
        return str(gid) if owners.group_id(str(gid)) is not None else ""
    name = names_of(ctx).group(int(gid))
    return int(gid) if name == str(gid) else name


@function
def user_to_uid(ctx: Context, user: str) -> int | str:
    """The number of a user; empty if there is none.

    Example:
        ```console
        $ saltern call file.user_to_uid ada
        local:
            2001
        ```
    """
    found = owners.user_id(str(user))
    return "" if found is None else found


@function
def group_to_gid(ctx: Context, group: str) -> int | str:
    """The number of a group; empty if there is none.

    Example:
        ```console
        $ saltern call file.group_to_gid staffers
        local:
            2000
        ```
    """
    found = owners.group_id(str(group))
    return "" if found is None else found
