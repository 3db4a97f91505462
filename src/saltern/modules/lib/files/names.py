"""Names of user and group IDs, each looked up once per run."""

from __future__ import annotations

from collections.abc import Callable

from saltern.modules.api.context import Context


class Names:
    """A cache of names."""

    def __init__(self) -> None:
        self._users: dict[int, str] = {}
        self._groups: dict[int, str] = {}

    def user(self, uid: int) -> str:
        """The name, or the number if no user has it."""
        return _name(self._users, uid, _user_name)

    def group(self, gid: int) -> str:
        return _name(self._groups, gid, _group_name)


def _name(known: dict[int, str], id_: int, look_up: Callable[[int], str]) -> str:
    if id_ not in known:
        try:
            known[id_] = look_up(id_)
        except KeyError:
            return str(id_)
    return known[id_]


def _user_name(uid: int) -> str:
    import pwd

    return pwd.getpwuid(uid).pw_name


def _group_name(gid: int) -> str:
    import grp

    return grp.getgrgid(gid).gr_name


def names_of(ctx: Context) -> Names:
    found = ctx.run.context.get("file.names")
    if not isinstance(found, Names):
        found = ctx.run.context["file.names"] = Names()
    return found
