"""What the states of PostgreSQL share: reading an object before and after, facts, and removal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.lib.databases import sight
from saltern.modules.lib.databases.postgres.client import NoDatabase, NotThere
from saltern.modules.lib.databases.sight import Seen


class HasFacts(Protocol):
    """An object of a server, such as a role or a database."""

    def facts(self) -> Changes: ...


class Sight(sight.Sight[Seen]):
    """What was read from a PostgreSQL server. ``gone`` is for states that only remove something from a
    database.
    """

    __slots__ = ()

    def __init__(self, ctx: Context, look: Callable[[], Seen], empty: Seen, *, gone: bool = False) -> None:
        super().__init__(ctx, look, empty, absent=NotThere, fine=(NoDatabase,) if gone else ())


def facts_of(name: str, have: HasFacts | None) -> Changes:
    """The facts about an object, or that it does not exist."""
    return have.facts() if have else {"name": name, "exists": False}


def words(what: str, exists: bool) -> Words:
    """The comments for an object that must exist."""
    done = "updated" if exists else "created"
    return Words(f"{what} is already present", f"{what} would be {done}", f"{what} was {done}")


def remove_seen(
    ctx: Context,
    name: str,
    seen: Sight[Seen],
    drop: Callable[[], object],
    *,
    what: str,
    facts: Callable[[Seen], Changes],
) -> Result:
    """Remove an object."""
    return bring(
        ctx,
        lambda: {name: "Absent"} if seen.again() else {},
        lambda _: drop(),
        facts=lambda: facts(seen.last),
        words=Words(f"{what} is not present", f"{what} would be removed", f"{what} was removed"),
        warnings=seen.warnings,
    )
