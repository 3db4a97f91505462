"""Every requisite of the language, one row each.

To add a requisite, add a row. The parser, the planner, the runtime, the ``_in`` forms
and the reference page are all read from this table. The order of the rows is the order
in which a chunk's requisites are pulled before it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from enum import Enum

from msgspec import Struct

from saltern.language.delayed import WORDS as DELAYED_WORDS
from saltern.language.result import Outcome


class Vote(Enum):
    """The vote of one finished dependency on the chunk that waits for it."""

    GO = "go"  # run
    SIGNAL = "signal"  # run, then let the module react
    HOLD = "hold"  # do not run; this is not an error
    FAIL = "fail"  # do not run; this is an error


class When(Enum):
    """When the answer of a dependency is needed."""

    BEFORE = "before"  # it runs before the owner
    REHEARSED = "rehearsed"  # it is rehearsed in test mode before the owner, and runs after it
    AFTER = "after"  # no order; the owner reacts at the end of the run
    COMPILE = "compile"  # nothing at run time: arguments are copied while compiling


WORST_FIRST = (Outcome.FAILED, Outcome.WOULD_CHANGE, Outcome.OK)


class Standing(Struct, frozen=True):
    """The data of a finished chunk for requisites: its answer and everything that it spawned."""

    outcome: Outcome
    changed: bool = False


def succeeded(target: Standing) -> Vote:
    return Vote.FAIL if target.outcome is Outcome.FAILED else Vote.GO


def signalled(target: Standing) -> Vote:
    if target.outcome is Outcome.FAILED:
        return Vote.FAIL
    return Vote.SIGNAL if target.changed else Vote.GO


def changed(target: Standing) -> Vote:
    return Vote.GO if target.changed and target.outcome is not Outcome.FAILED else Vote.HOLD


def failed(target: Standing) -> Vote:
    return Vote.GO if target.outcome is Outcome.FAILED else Vote.HOLD


def would_change(target: Standing) -> Vote:
    if target.outcome is Outcome.FAILED:
        return Vote.FAIL
    return Vote.GO if target.changed or target.outcome is Outcome.WOULD_CHANGE else Vote.HOLD


GO, SIGNAL, HOLD, FAIL = Vote.GO, Vote.SIGNAL, Vote.HOLD, Vote.FAIL


class RequisiteKind(Struct, frozen=True, kw_only=True):
    """One row.

    ``vote`` returns the vote of a target; ``first`` lists the votes from strongest to weakest, and the
    strongest one cast decides. Rows of one ``group`` vote together. ``held`` is the comment of an owner that
    did not run, which is not a failure.
    """

    name: str
    doc: str
    vote: Callable[[Standing], Vote] = succeeded
    first: tuple[Vote, ...] = (FAIL, GO)
    group: str = ""
    held: str = ""
    when: When = When.BEFORE
    has_in: bool = True

    @property
    def asks_for_change(self) -> bool:
        """True if it depends on the changes of its target, and not only on its outcome."""
        return self.vote not in (succeeded, failed)

    def decide(self, cast: Set[Vote]) -> Vote:
        """The strongest vote. Without targets: HOLD for a kind that waits for an event, else GO."""
        for vote in self.first:
            if vote in cast:
                return vote
        return Vote.HOLD if Vote.HOLD in self.first else Vote.GO


_NOT_CHANGED = "not run because nothing named in onchanges changed"
_NOT_FAILED = "not run because nothing named in onfail failed"

REQUISITES: dict[str, RequisiteKind] = {
    kind.name: kind
    for kind in (
        RequisiteKind(
            name="require",
            doc="Runs after its targets, and only if none of them failed.",
        ),
        RequisiteKind(
            name="require_any",
            doc="Runs after its targets, and only if at least one of them did not fail.",
            first=(GO, FAIL),
            has_in=False,
        ),
        RequisiteKind(
            name="watch",
            doc="Like `require`; when a target changed, the module also reacts (a service restarts).",
            vote=signalled,
            first=(FAIL, SIGNAL, GO),
        ),
        RequisiteKind(
            name="watch_any",
            doc="Like `require_any`; when a target changed, the module also reacts.",
            vote=signalled,
            first=(SIGNAL, GO, FAIL),
            has_in=False,
        ),
        RequisiteKind(
            name="prereq",
            doc="Runs before its targets, and only if one of them is about to change.",
            vote=would_change,
            first=(FAIL, GO, HOLD),
            held="No changes detected",
            when=When.REHEARSED,
        ),
        RequisiteKind(
            name="onfail",
            doc="Runs only if at least one target failed.",
            vote=failed,
            first=(GO, HOLD),
            group="onfail",
            held=_NOT_FAILED,
        ),
        RequisiteKind(
            name="onfail_any",
            doc="The same as `onfail`.",
            vote=failed,
            first=(GO, HOLD),
            group="onfail",
            held=_NOT_FAILED,
            has_in=False,
        ),
        RequisiteKind(
            name="onfail_all",
            doc="Runs only if every target failed.",
            vote=failed,
            first=(HOLD, GO),
            held=_NOT_FAILED,
            has_in=False,
        ),
        RequisiteKind(
            name="onchanges",
            doc="Runs only if at least one target changed something and did not fail.",
            vote=changed,
            first=(GO, HOLD),
            group="onchanges",
            held=_NOT_CHANGED,
        ),
        RequisiteKind(
            name="onchanges_any",
            doc="The same as `onchanges`.",
            vote=changed,
            first=(GO, HOLD),
            group="onchanges",
            held=_NOT_CHANGED,
            has_in=False,
        ),
        RequisiteKind(
            name="listen",
            doc="No order; when a target changed, the module reacts at the end of the run.",
            when=When.AFTER,
        ),
        RequisiteKind(
            name="use",
            doc="Copies the plain arguments of its targets that the owner does not set itself.",
            when=When.COMPILE,
        ),
    )
}

IN_FORMS: dict[str, RequisiteKind] = {f"{kind.name}_in": kind for kind in REQUISITES.values() if kind.has_in}
REQUISITE_WORDS: frozenset[str] = frozenset((*REQUISITES, *IN_FORMS))

# Lists that are joined if an argument is given twice, or by an ``extend``.
ADDING: frozenset[str] = REQUISITE_WORDS | frozenset(DELAYED_WORDS)

# The requisites that a chunk waits for, in the order in which they are pulled.
ORDERING: tuple[RequisiteKind, ...] = tuple(
    kind for kind in REQUISITES.values() if kind.when in (When.BEFORE, When.REHEARSED)
)

# A chunk without a watch function cannot react: its ``watch`` is a plain ``require``.
WITHOUT_REACTION: dict[str, str] = {"watch": "require", "watch_any": "require_any"}
