"""Names of user and group ids, each looked up once in a run."""

from __future__ import annotations

from saltern.modules.api.context import Context


class Names:
    """Remembers what it has looked up."""

    def __init__(self) -> None:
        self._users: dict[int, str] = {}
        self._groups: dict[int, str] = {}

    def user(self, uid: int) -> str:
        """The name, or the number where no user has it."""
        if uid not in self._users:
            import pwd

            try:
                self._users[uid] = pwd.getpwuid(uid).pw_name
            except KeyError:
                return str(uid)
        return self._users[uid]

    def group(self, gid: int) -> str:
        if gid not in self._groups:
            import grp

            try:
                self._groups[gid] = grp.getgrgid(gid).gr_name
            except KeyError:
                return str(gid)
        return self._groups[gid]


def names_of(ctx: Context) -> Names:
    found = ctx.run.context.get("file.names")
    if not isinstance(found, Names):
        found = ctx.run.context["file.names"] = Names()
    return found
