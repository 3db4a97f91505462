"""``salt.utils.user``."""

from __future__ import annotations

import os

from saltern.system.own_user import own_user


def get_user() -> str:
    return own_user()


def get_specific_user() -> str:
    user, asked = get_user(), os.environ.get("SUDO_USER")
    return f"sudo_{asked}" if user == "root" and asked else user


def get_uid(user: str | None = None) -> int | None:
    import pwd

    if user is None:
        return os.geteuid()
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def get_gid(group: str | None = None) -> int | None:
    import grp

    if group is None:
        return os.getegid()
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        return None


def get_default_group(user: str) -> str | None:
    import grp
    import pwd

    try:
        return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    except KeyError:
        return None


def get_group_list(user: str, include_default: bool = True) -> list[str]:
    import grp

    names = {group.gr_name for group in grp.getgrall() if user in group.gr_mem}
    usual = get_default_group(user)
    if usual is not None:
        names = names | {usual} if include_default else names - {usual}
    return sorted(names)


def get_group_dict(user: str, include_default: bool = True) -> dict[str, int | None]:
    return {name: get_gid(name) for name in get_group_list(user, include_default)}


def get_gid_list(user: str, include_default: bool = True) -> list[int]:
    return sorted(gid for gid in get_group_dict(user, include_default).values() if gid is not None)
