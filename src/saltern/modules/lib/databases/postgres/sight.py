"""What the states of PostgreSQL share: one look before, one after, and what a thing that is gone says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.lib.databases.postgres.client import NoDatabase, NotThere

Seen = TypeVar("Seen")


class Sight(Generic[Seen]):
    """What was seen last. ``again`` looks anew, but for its first call, since the first look is fresh.

    In test mode the server or the database may be one that an earlier state would bring: then nothing
    was seen, and a warning says so. ``gone`` is for states that need a database only to empty it.
    """

    __slots__ = ("_fresh", "_look", "last", "warnings")

    def __init__(self, ctx: Context, look: Callable[[], Seen], empty: Seen, *, gone: bool = False) -> None:
        self._look = look
        self._fresh = True
        self.warnings: tuple[str, ...] = ()
        self.last = empty
        try:
            self.last = look()
        except NotThere as problem:
            if gone and isinstance(problem, NoDatabase):
                return
            if not ctx.test:
                raise
            self.warnings = (f"{problem}; predicted as if nothing were there yet",)

    def again(self) -> Seen:
        if not self._fresh:
            self.last = self._look()
        self._fresh = False
        return self.last


def words(what: str, exists: bool) -> Words:
    """The comments of a thing that is to be there."""
    done = "updated" if exists else "created"
    return Words(f"{what} is already present", f"{what} would be {done}", f"{what} was {done}")


def removed(
    ctx: Context,
    name: str,
    sight: Sight[Seen],
    drop: Callable[[], object],
    *,
    what: str,
    facts: Callable[[Seen], Changes],
) -> Result:
    """Bring about that a thing is not there any more."""
    return bring(
        ctx,
        lambda: {name: "Absent"} if sight.again() else {},
        lambda _: drop(),
        facts=lambda: facts(sight.last),
        words=Words(f"{what} is not present", f"{what} would be removed", f"{what} was removed"),
        warnings=sight.warnings,
    )
