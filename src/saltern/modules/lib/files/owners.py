"""Users and groups of files: names to IDs, IDs to names, and the wanted attributes of a path."""

from __future__ import annotations

import os
import stat

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.system.files import Attributes


def user_id(name: str) -> int | None:
    """The ID of a user, looked up each time: an earlier state may have changed it.

    A number that is not a user's name is an ID. None if there is no such user.
    """
    import pwd

    try:
        return pwd.getpwnam(name).pw_uid
    except (KeyError, ValueError):
        return int(name) if name.isdecimal() else None


def group_id(name: str) -> int | None:
    import grp

    try:
        return grp.getgrnam(name).gr_gid
    except (KeyError, ValueError):
        return int(name) if name.isdecimal() else None


def main_group(user: str | None) -> str | None:
    """The group that a user, by name or number, begins with; of a user that is not there (yet), none."""
    import grp
    import pwd

    uid = user_id(user) if user else None
    try:
        return None if uid is None else grp.getgrgid(pwd.getpwuid(uid).pw_gid).gr_name
    except KeyError:
        return None


def attributes_of(user: str | None, group: str | None, mode: str | None) -> Attributes:
    """The wanted attributes, as numbers. Raises ``Refused`` for a user or group that does not exist (yet)."""
    uid = user_id(user) if user else None
    gid = group_id(group) if group else None
    if user and uid is None:
        raise Refused(f"User {user} is not available", later=True)
    if group and gid is None:
        raise Refused(f"Group {group} is not available", later=True)
    return Attributes(int(mode, 8) if mode else None, uid, gid)


def asked_attributes(
    ctx: Context, user: str | None, group: str | None, mode: str | None, notes: list[str]
) -> Attributes:
    """Like ``attributes_of``; but in test mode a user that does not exist yet is only noted, once."""
    try:
        return attributes_of(user, group, mode)
    except Refused as missing:
        if not (missing.later and ctx.test):
            raise
        if str(missing) not in notes:
            notes.append(str(missing))
        return Attributes(
            int(mode, 8) if mode else None, -1, -1
        )  # no user has this number: it differs from all


def attribute_changes(
    found: os.stat_result | None,
    wanted: Attributes,
    *,
    user: str | None,
    group: str | None,
    mode: str | None,
) -> dict[str, object]:
    """The differences of user, group and mode in Salt's form; for a new file, all wanted attributes."""
    changes: dict[str, object] = {}
    if user and (found is None or found.st_uid != wanted.uid):
        changes["user"] = user
    if group and (found is None or found.st_gid != wanted.gid):
        changes["group"] = group
    if mode and (found is None or stat.S_IMODE(found.st_mode) != wanted.mode):
        changes["mode"] = mode
    return changes
