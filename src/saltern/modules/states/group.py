"""``group``: the groups of this machine."""

from __future__ import annotations

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts import group_tools, records
from saltern.modules.lib.accounts.user_tools import checked_name


class DesiredGroup(Struct, frozen=True, kw_only=True):
    gid: int | None = None
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    members: tuple[str, ...] | None = None


@state
def present(
    ctx: Context,
    name: str,
    *,
    gid: int | None = None,
    system: bool = False,
    addusers: list[str] | None = None,
    delusers: list[str] | None = None,
    members: list[str] | None = None,
    non_unique: bool = False,
    local: bool = False,
) -> Result:
    """Make sure that a group exists, with this number and these members.

    Args:
        name: the name of the group.
        gid: its number; the next free one if not given.
        system: create a system group, with a number from that range.
        addusers: users who must be members, in addition to the existing ones.
        delusers: users who must not be members.
        members: exactly these members and no others. Not together with ``addusers`` or ``delusers``.
        non_unique: allow a ``gid`` that another group has.
        local: look only in /etc/group, not in a directory service.

    Example:
        ```yaml
        deployers:
          group.present:
            - gid: 2100
            - addusers: [ada, deploy]
        ```
    """
    checked_name(name, "group")
    want = _desired_group(gid, addusers, delusers, members)
    have = records.group(ctx, name, local=local)
    if not non_unique and (have is None or have.gid != gid):
        _number_is_free(ctx, name, gid)

    def act(changes: Changes) -> None:
        if have is None:
            group_tools.add(ctx, name, gid=gid, system=system, non_unique=non_unique)
        elif gid is not None and "gid" in changes:
            group_tools.set_gid(ctx, name, gid, non_unique=non_unique)
        _set_members(ctx, name, changes)

    done = ("updated", "created")[have is None]
    return bring(
        ctx,
        lambda: _differs(ctx, name, want, local=local),
        act,
        facts=lambda: group_tools.facts(ctx, name, local=local),
        words=Words(
            f"Group {name} is present and up to date",
            f"Group {name} would be {done}",
            f"Group {name} was {done}",
        ),
    )


def _desired_group(
    gid: int | None, add: list[str] | None, remove: list[str] | None, members: list[str] | None
) -> DesiredGroup:
    if members is not None and (add or remove):
        raise Refused("members excludes addusers and delusers: it names all members")
    both = sorted(set(add or ()) & set(remove or ()))
    if both:
        raise Refused(f"{', '.join(both)}: both in addusers and in delusers")
    for user in (*(add or ()), *(remove or ()), *(members or ())):
        checked_name(user)
    return DesiredGroup(
        gid=gid,
        add=tuple(add or ()),
        remove=tuple(remove or ()),
        members=None if members is None else tuple(members),
    )


def _number_is_free(ctx: Context, name: str, gid: int | None) -> None:
    owner = next((one.name for one in records.local_groups(ctx) if one.gid == gid), name)
    if owner != name:
        raise Refused(f"the gid {gid} belongs to the group {owner!r}; choose another, or set non_unique")


def _differs(ctx: Context, name: str, want: DesiredGroup, *, local: bool) -> Changes:
    have = records.group(ctx, name, local=local)
    changes: Changes = {} if have else {"name": name}
    if want.gid is not None and (have is None or have.gid != want.gid):
        changes["gid"] = want.gid
    now = set(have.members) if have else set()
    if want.members is not None and set(want.members) != now:
        changes["members"] = sorted(set(want.members))
    if missing := [user for user in want.add if user not in now]:
        changes["addusers"] = missing
    if extra := [user for user in want.remove if user in now]:
        changes["delusers"] = extra
    return changes


def _set_members(ctx: Context, name: str, changes: Changes) -> None:
    members, add, remove = (changes.get(key) for key in ("members", "addusers", "delusers"))
    if isinstance(members, list):
        group_tools.set_members(ctx, name, members)
    for user in add if isinstance(add, list) else ():
        group_tools.add_user(ctx, name, user)
    for user in remove if isinstance(remove, list) else ():
        group_tools.remove_user(ctx, name, user)


@state(removes=True)
def absent(ctx: Context, name: str, *, local: bool = False) -> Result:
    """Remove a group.

    Args:
        name: the name of the group. It must not be the primary group of a user.
        local: look only in /etc/group, not in a directory service.

    Example:
        ```yaml
        oldgroup:
          group.absent: []
        ```
    """
    checked_name(name, "group")
    return bring(
        ctx,
        lambda: {name: ""} if records.group(ctx, name, local=local) else {},
        lambda _: group_tools.remove(ctx, name),
        facts=lambda: group_tools.facts(ctx, name, local=local),
        words=Words(
            f"Group {name} is not present", f"Group {name} would be removed", f"Group {name} was removed"
        ),
    )
