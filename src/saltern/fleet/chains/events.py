"""The events of a run, and the commands that follow. Every event has its time: nothing here reads a clock."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from saltern.chains.statuses import Leg
from saltern.fleet.chains.model import Boot, StepState, Verb

# An operator's answer to a leg that waits, or has not ended well.
Word = Literal["resume", "retry", "skip", "done", "release"]


class Event(Struct, frozen=True, kw_only=True):
    now: float


class Begin(Event, frozen=True, kw_only=True):
    """The time of the run has come. ``missing``: its systems that are not connected."""

    missing: tuple[str, ...] = ()


class Tick(Event, frozen=True, kw_only=True):
    """Time has passed."""


class Reported(Event, frozen=True, kw_only=True):
    """The whole leg, as its system sees it. A report with a lower ``seq`` than an earlier one is outdated,
    so reports may be lost, repeated and reordered. ``order`` is the highest order that the system knows: a
    controller restored from a backup learns of those that it has lost. ``applied`` is the highest order that
    had changed the leg when it was read; None: the agent does not report it. For a system that goes down,
    ``down_in`` is how many seconds that may take, and ``back_in`` in how many more it must be back; 0: as
    long as it usually takes.
    """

    leg: str
    seq: int
    status: Leg
    steps: tuple[StepState, ...]
    waits_for: str = ""
    quarantined: bool = False
    order: int = 0
    applied: int | None = None
    down_in: float = 0
    back_in: float = 0
    boot: str = ""
    build: str = ""
    boots: tuple[Boot, ...] = ()


class Refused(Event, frozen=True, kw_only=True):
    """A system refused its leg, and has done nothing of it."""

    leg: str
    why: str
    status: Leg = Leg.FAILED


class CheckSent(Event, frozen=True, kw_only=True):
    """A job was sent to check the health of the systems of a wave."""

    wave: int
    job: str


class Checked(Event, frozen=True, kw_only=True):
    """The result of a health check: the unhealthy systems, each with the reason, of all that were checked."""

    wave: int
    failed: dict[str, str]
    of: int


class Away(Event, frozen=True, kw_only=True):
    """A system does not take its order, or is no longer connected. Ignored before it was sent an order."""

    leg: str


class Windows(Event, frozen=True, kw_only=True):
    """The legs that no window allows to work now, and why. All others may, ``until`` their window ends; a leg
    without an entry has no end."""

    shut: dict[str, str]
    until: dict[str, float] = {}


class Back(Event, frozen=True, kw_only=True):
    """A system is connected again."""

    leg: str


class Pause(Event, frozen=True, kw_only=True):
    """An operator pauses legs; without names, the run."""

    legs: tuple[str, ...] = ()


class Resume(Event, frozen=True, kw_only=True):
    """An operator resumes legs; without names, the run. A halted run is resumed only by an operator who has
    seen the failures: a repeated order to resume a paused run must not excuse them.
    """

    legs: tuple[str, ...] = ()
    despite_failures: bool = False


class Cancel(Event, frozen=True, kw_only=True):
    """An operator ends legs; without names, the run."""

    legs: tuple[str, ...] = ()


class OperatorAnswer(Event, frozen=True, kw_only=True):
    """An operator answers a leg that paused itself after a failure, or that has not ended well. A leg that is
    started again has until ``deadline``, if that is later than the deadline of the run.
    """

    leg: str
    word: Word
    step: str = ""
    deadline: float = 0


class GivenUp(Event, frozen=True, kw_only=True):
    """An operator no longer waits for systems that are away."""

    legs: tuple[str, ...]
    why: str = ""


class Gone(Event, frozen=True, kw_only=True):
    """Systems left the fleet: they were removed, or their keys were revoked. By leg."""

    why: dict[str, str]


class Restored(Event, frozen=True, kw_only=True):
    """A system was restored to an earlier state: it does not know what it has done since."""

    leg: str


class Opened(Event, frozen=True, kw_only=True):
    """A gate was approved."""

    gate: str


class Closed(Event, frozen=True, kw_only=True):
    """A gate was rejected or has expired: what waits for it does not begin."""

    gate: str
    why: str


class Send(Struct, frozen=True, kw_only=True):
    """An order to a system; the highest number counts. Each contains the whole plan, so that none depends on
    another one. ``until``: the last step to do; empty: all of them. ``lease``: seconds in which steps may
    begin; 0: it has no end.
    """

    leg: str
    number: int
    verb: Verb | Word
    step: str = ""
    until: str = ""
    lease: float = 0


class Note(Struct, frozen=True, kw_only=True):
    """For the record: a status that was corrected, a run that was halted."""

    about: str
    before: str
    after: str
    why: str


Command = Send | Note
