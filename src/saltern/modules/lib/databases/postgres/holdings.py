"""The wanted privileges that a role has."""

from __future__ import annotations

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.lib.databases.postgres.client import Login
from saltern.modules.lib.databases.postgres.privileges import EVERY, GROUP, Grants, Wanted, lists, members


class Holding(Struct, frozen=True, kw_only=True):
    """``complete`` if the role has all wanted privileges, ``some`` if it has any of them.

    ``privileges`` are all its privileges on the objects; ``member`` is for groups.
    """

    complete: bool = True
    some: bool = False
    privileges: list[str] = []
    member: bool = False


def look(ctx: Context, who: Login, want: Wanted) -> Holding:
    if want.type == GROUP:
        return _membership(members(ctx, who, want.object), want)
    return _read_holding(lists(ctx, who, want), want)


def _membership(found: dict[str, bool], want: Wanted) -> Holding:
    inside = want.role in found
    enough = found.get(want.role, False) if want.grant_option else inside
    return Holding(complete=enough, some=inside, member=inside)


def _read_holding(found: list[Grants], want: Wanted) -> Holding:
    each = [one.of(want.role) for one in found]
    return Holding(
        complete=all(_enough(one, held, want) for one, held in zip(found, each, strict=True)),
        some=any(_asked_privileges(one, want) & held.keys() for one, held in zip(found, each, strict=True)),
        privileges=sorted(set.intersection(*(set(held) for held in each))) if each else [],
    )


def _asked_privileges(one: Grants, want: Wanted) -> set[str]:
    return set(one.every if EVERY in want.privileges else want.privileges)


def _enough(one: Grants, held: dict[str, bool], want: Wanted) -> bool:
    """True if the privilege is sufficient; an owner may do everything and grant it, whatever the list
    says.
    """
    if one.owner == want.role:
        return True
    return all(
        held.get(word, False) if want.grant_option else word in held for word in _asked_privileges(one, want)
    )
