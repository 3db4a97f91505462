"""``user``: who is known to this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from saltern.modules.api import function
from saltern.modules.context import Context

if TYPE_CHECKING:
    from pwd import struct_passwd

# ruff: noqa: ARG001 - signatures are Salt's

GECOS = ("fullname", "roomnumber", "workphone", "homephone", "other")


@function
def info(ctx: Context, name: str) -> dict[str, object]:
    """What the machine knows of a user; empty if it knows none."""
    import pwd

    try:
        return _told(pwd.getpwnam(str(name)))
    except KeyError:
        return {}


def _told(entry: struct_passwd) -> dict[str, object]:
    comment = dict(zip(GECOS, [*entry.pw_gecos.split(",", 4), *[""] * len(GECOS)], strict=False))
    return {
        "gid": entry.pw_gid,
        "groups": _groups(entry.pw_name, entry.pw_gid),
        "home": entry.pw_dir,
        "name": entry.pw_name,
        "passwd": entry.pw_passwd,
        "shell": entry.pw_shell,
        "uid": entry.pw_uid,
        **comment,
    }


def _groups(name: str, gid: int) -> list[str]:
    import grp

    found = []
    for one in os.getgrouplist(name, gid):
        try:
            found.append(grp.getgrgid(one).gr_name)
        except KeyError:
            continue  # a number nobody has named
    return sorted(found)


@function
def list_groups(ctx: Context, name: str) -> list[str]:
    """The groups of a user."""
    groups = info(ctx, name).get("groups")
    return list(groups) if isinstance(groups, list) else []


@function
def list_users(ctx: Context) -> list[str]:
    """The names of all users, sorted."""
    import pwd

    return sorted(entry.pw_name for entry in pwd.getpwall())


@function
def getent(ctx: Context, refresh: bool = False) -> list[dict[str, object]]:
    """Everything known of all users."""
    import pwd

    return [_told(entry) for entry in pwd.getpwall()]


@function
def primary_group(ctx: Context, name: str) -> str:
    """The name of a user's own group, or nothing."""
    import grp
    import pwd

    try:
        return grp.getgrgid(pwd.getpwnam(name).pw_gid).gr_name
    except KeyError:
        return ""
