"""``user``: the users of this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, function, make_docstring
from saltern.modules.api.programs import tool
from saltern.modules.lib.accounts import user_tools
from saltern.modules.lib.accounts.desired_user import DesiredUser
from saltern.modules.lib.accounts.records import GECOS

if TYPE_CHECKING:
    from pwd import struct_passwd

# ruff: noqa: ARG001 - signatures are Salt's


@function
def info(ctx: Context, name: str) -> dict[str, object]:
    """The data of a user; empty if it does not exist.

    Example:
        ```console
        $ saltern call user.info ada
        local:
            ----------
            fullname:
                Ada Lovelace
            gid:
                2001
            groups:
                - ada
        …
        ```
    """
    import pwd

    try:
        return _as_dict(pwd.getpwnam(str(name)))
    except KeyError:
        return {}


def _as_dict(entry: struct_passwd) -> dict[str, object]:
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
            continue  # a number without a name
    return sorted(found)


@function
def list_groups(ctx: Context, name: str) -> list[str]:
    """The groups of a user.

    Example:
        ```console
        $ saltern call user.list_groups ada
        local:
            - ada
            - staffers
        ```
    """
    groups = info(ctx, name).get("groups")
    return list(groups) if isinstance(groups, list) else []


@function
def list_users(ctx: Context) -> list[str]:
    """The names of all users, sorted.

    Example:
        ```console
        $ saltern call user.list_users
        ```
    """
    import pwd

    return sorted(entry.pw_name for entry in pwd.getpwall())


@function
def getent(ctx: Context, refresh: bool = False) -> list[dict[str, object]]:
    """The data of all users.

    Example:
        ```console
        $ saltern call user.getent
        ```
    """
    import pwd

    return [_as_dict(entry) for entry in pwd.getpwall()]


@function
def primary_group(ctx: Context, name: str) -> str:
    """The name of a user's primary group; empty if there is none.

    Example:
        ```console
        $ saltern call user.primary_group ada
        local:
            ada
        ```
    """
    import grp
    import pwd

    try:
        return grp.getgrgid(pwd.getpwnam(name).pw_gid).gr_name
    except KeyError:
        return ""


# -- changing ----------------------------------------------------------------------------------------


@function
def add(
    ctx: Context,
    name: str,
    uid: int | None = None,
    gid: object = None,
    groups: object = None,
    home: str | None = None,
    shell: str | None = None,
    unique: bool = True,
    system: bool = False,
    fullname: str = "",
    roomnumber: str = "",
    workphone: str = "",
    homephone: str = "",
    other: str = "",
    createhome: bool = True,
    loginclass: str | None = None,
    nologinit: bool = False,
    root: str | None = None,
    usergroup: bool | None = None,
    local: bool = False,
) -> bool:
    """Create a user.

    Example:
        ```console
        $ saltern call user.add carol uid=2100 shell=/bin/bash
        local:
            True
        ```
    """
    words = dict(zip(GECOS, (fullname, roomnumber, workphone, homephone, other), strict=True))
    given: dict[str, object] = {"uid": uid, "gid": gid, "home": home, "shell": shell}
    fields = {key: value for key, value in given.items() if value is not None} | dict(words)
    want = DesiredUser(
        name=user_tools.checked_name(str(name)),
        fields=fields,
        groups=_names(groups),
        createhome=createhome,
        usergroup=usergroup,
        system=system,
        unique=unique,
        nologinit=nologinit,
    )
    user_tools.add(ctx, want)
    return True


def _names(groups: object) -> tuple[str, ...]:
    if not groups:
        return ()
    given = groups.split(",") if isinstance(groups, str) else groups
    return tuple(map(str, given)) if isinstance(given, list | tuple) else ()


@function
def delete(
    ctx: Context,
    name: str,
    remove: bool = False,
    force: bool = False,
    root: str | None = None,
    local: bool = False,
) -> bool:
    """Remove a user; with ``remove``, also the home directory.

    Example:
        ```console
        $ saltern call user.delete olduser remove=true
        local:
            True
        ```
    """
    user_tools.remove(ctx, user_tools.checked_name(str(name)), purge=remove, force=force)
    return True


def _modified(ctx: Context, name: str, *argv: str) -> bool:
    tool(ctx, "usermod", *argv, user_tools.checked_name(str(name)))
    return True


@function
def chuid(ctx: Context, name: str, uid: int, root: str | None = None) -> bool:
    """Change the number of a user.

    Example:
        ```console
        $ saltern call user.chuid ada 2200
        local:
            True
        ```
    """
    return _modified(ctx, name, "-u", str(uid))


@function
def chgid(ctx: Context, name: str, gid: object, root: str | None = None) -> bool:
    """Change the primary group of a user.

    Example:
        ```console
        $ saltern call user.chgid ada 2000
        local:
            True
        ```
    """
    return _modified(ctx, name, "-g", str(gid))


@function
def chshell(ctx: Context, name: str, shell: str, root: str | None = None) -> bool:
    """Change the login shell of a user.

    Example:
        ```console
        $ saltern call user.chshell ada /bin/sh
        local:
            True
        ```
    """
    return _modified(ctx, name, "-s", shell)


@function
def chhome(ctx: Context, name: str, home: str, persist: bool = False, root: str | None = None) -> bool:
    """Change the home directory of a user; ``persist`` moves its contents.

    Example:
        ```console
        $ saltern call user.chhome ada /srv/ada persist=true
        local:
            True
        ```
    """
    return _modified(ctx, name, "-d", home, *(["-m"] if persist else []))


@function
def chgroups(ctx: Context, name: str, groups: object, append: bool = False, root: str | None = None) -> bool:
    """Add a user to these groups, and remove it from all others unless ``append`` is set.

    Example:
        ```console
        $ saltern call user.chgroups deploy staffers append=true
        local:
            True
        ```
    """
    return _modified(ctx, name, *(["-a"] if append else []), "-G", ",".join(_names(groups)))


@function
def chfullname(ctx: Context, name: str, fullname: str, root: str | None = None) -> bool:
    """Change the full name of a user.

    Example:
        ```console
        $ saltern call user.chfullname ada 'Ada King'
        local:
            True
        ```
    """
    have = info(ctx, name)
    return _modified(ctx, name, "-c", user_tools.gecos(have | {"fullname": fullname}))


@function
def rename(ctx: Context, name: str, new_name: str, root: str | None = None) -> bool:
    """Change the login name of a user.

    Example:
        ```console
        $ saltern call user.rename olduser newuser
        local:
            True
        ```
    """
    return _modified(ctx, name, "-l", user_tools.checked_name(str(new_name)))


def _word(field: str, what: str) -> Function[..., bool]:
    """Create a function that changes one part of the comment field of a user."""

    def body(ctx: Context, name: str, value: str, root: str | None = None) -> bool:
        have = info(ctx, name)
        return _modified(ctx, name, "-c", user_tools.gecos({**have, field: value}))

    body.__doc__ = make_docstring(f"Change the {what} of a user.", f"user.ch{field} ada anything")
    return Function(body, f"ch{field}")


chroomnumber = _word("roomnumber", "room number")
chworkphone = _word("workphone", "phone number at work")
chhomephone = _word("homephone", "phone number at home")
chother = _word("other", "other remarks")
