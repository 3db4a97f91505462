"""Users, groups and shadow entries as values, read from the system or from the local files only."""

from __future__ import annotations

import os

from msgspec import Struct

from saltern.modules.api.context import Context

GECOS = ("fullname", "roomnumber", "workphone", "homephone", "other")
NEVER = -1  # an empty number in /etc/shadow
DEFAULTS = "/etc/default/useradd"
LOGIN_DEFS = "/etc/login.defs"


class Account(Struct, frozen=True, kw_only=True):
    name: str
    uid: int
    gid: int
    gecos: str
    home: str
    shell: str

    @property
    def words(self) -> dict[str, str]:
        """The full name, room and telephone numbers by their keys."""
        return dict(zip(GECOS, [*self.gecos.split(",", 4), *[""] * len(GECOS)], strict=False))


class Group(Struct, frozen=True, kw_only=True):
    name: str
    gid: int
    members: tuple[str, ...] = ()


class Shadow(Struct, frozen=True, kw_only=True):
    """An entry of /etc/shadow. ``passwd`` is a secret, which is only compared."""

    passwd: str
    date: int = NEVER
    mindays: int = NEVER
    maxdays: int = NEVER
    warndays: int = NEVER
    inactdays: int = NEVER
    expire: int = NEVER

    @property
    def locked(self) -> bool:
        return self.passwd.startswith("!")


def account(ctx: Context, name: str, *, local: bool = False) -> Account | None:
    """The user, or None. ``local`` reads only /etc/passwd, not a directory service."""
    if local:
        row = next((row for row in rows(ctx, "/etc/passwd", 7) if row[0] == name), None)
        return _account(row) if row else None
    import pwd

    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(
        name=entry.pw_name,
        uid=entry.pw_uid,
        gid=entry.pw_gid,
        gecos=entry.pw_gecos,
        home=entry.pw_dir,
        shell=entry.pw_shell,
    )


def _account(row: list[str]) -> Account:
    return Account(
        name=row[0], uid=int(row[2]), gid=int(row[3]), gecos=row[4], home=row[5], shell=row[6].strip()
    )


def group(ctx: Context, name: str, *, local: bool = False) -> Group | None:
    if local:
        return next((one for one in local_groups(ctx) if one.name == name), None)
    import grp

    try:
        entry = grp.getgrnam(name)
    except KeyError:
        return None
    return Group(name=entry.gr_name, gid=entry.gr_gid, members=tuple(entry.gr_mem))


def group_of_gid(gid: int) -> str:
    """The name of a group, or the number if no group has it."""
    import grp

    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def local_groups(ctx: Context) -> list[Group]:
    return [
        Group(name=row[0], gid=int(row[2]), members=tuple(filter(None, row[3].strip().split(","))))
        for row in rows(ctx, "/etc/group", 4)
    ]


def groups_of(ctx: Context, user: Account, *, local: bool = False) -> list[str]:
    """All groups of a user, including the primary one; sorted."""
    if local:
        return sorted(
            one.name for one in local_groups(ctx) if one.gid == user.gid or user.name in one.members
        )
    known = local_groups(ctx)
    gids = set(os.getgrouplist(user.name, user.gid))
    return sorted(set().union(*(_names(known, user, gid) for gid in gids)))


def _names(known: list[Group], user: Account, gid: int) -> set[str]:
    """The groups of a user that have a number. Two groups may share a number, so memberships decide."""
    same = [one for one in known if one.gid == gid]
    if len(same) < 2:
        return {group_of_gid(gid)}
    found = {one.name for one in same if gid == user.gid or user.name in one.members}
    return found or {group_of_gid(gid)}


def names_of_gid(ctx: Context, gid: int) -> set[str]:
    """All groups that have a number."""
    return {group_of_gid(gid), *(one.name for one in local_groups(ctx) if one.gid == gid)}


def shadow(ctx: Context, name: str) -> Shadow | None:
    """The entry of /etc/shadow; None if there is none, or it may not be read."""
    try:
        row = next((row for row in rows(ctx, "/etc/shadow", 9) if row[0] == name), None)
    except PermissionError:
        return None
    if row is None:
        return None
    numbers = [int(text) if text.lstrip("-").isdigit() else NEVER for text in row[2:8]]
    return Shadow(
        passwd=row[1],
        date=numbers[0],
        mindays=numbers[1],
        maxdays=numbers[2],
        warndays=numbers[3],
        inactdays=numbers[4],
        expire=numbers[5],
    )


def rows(ctx: Context, path: str, width: int) -> list[list[str]]:
    lines = (ctx.host.read(path) or "").splitlines()
    return [row for row in (line.split(":") for line in lines) if len(row) >= width]


def defaults(ctx: Context) -> dict[str, str]:
    """The defaults of ``useradd``: ``HOME``, ``SHELL``, ``GROUP``, ``USERGROUPS_ENAB`` …"""
    found = {"HOME": "/home", "SHELL": "/bin/sh", "GROUP": "100", "USERGROUPS_ENAB": "yes"}
    for path, separator in ((LOGIN_DEFS, None), (DEFAULTS, "=")):
        for line in (ctx.host.read(path) or "").splitlines():
            parts = line.strip().split(separator, 1)
            if len(parts) == 2 and not parts[0].startswith("#"):
                found[parts[0].strip()] = parts[1].strip()
    return found
