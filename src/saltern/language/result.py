"""The result of a state function, or the reason why it did not run."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct, field


class Outcome(Enum):
    """The three answers of the Salt language; the value is Salt's own word for it."""

    OK = True
    FAILED = False
    WOULD_CHANGE = None

    # The one of Enum is written in Python, and there are tens of thousands of answers as keys.
    __hash__ = object.__hash__


class SubResult(Struct, frozen=True, kw_only=True):
    """One step of an external engine, or of a state with several steps, below its state.

    ``started`` and ``took`` are in seconds, and known if ``timed``; ``sub`` are the steps of the step;
    ``ran`` False: it was skipped, or never reached.
    """

    name: str
    outcome: Outcome
    id: str = ""
    state: str = ""
    fun: str = ""
    comment: str = ""
    changes: dict[str, object] = field(default_factory=dict)
    data: dict[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    ran: bool = True
    started: float = 0.0
    took: float = 0.0
    timed: bool = False
    sub: tuple[SubResult, ...] = ()


# In ``extra`` of a test run: the state has really run, which may be too early.
LOOKED = "looked"


class Result(Struct, frozen=True, kw_only=True):
    """One answer.

    ``changes`` has Salt's shape: what differs, usually ``{what: {"old":…, "new":…}}``. ``data`` has facts
    that the state reports whether or not something changed, so that a second run has the same data as the
    first. ``quiet``: a watch must not react (Salt's ``skip_watch``). ``called`` is False if the function was
    not called: it does not exist, its arguments are wrong, or a condition prevented the call. ``extra`` are
    further keys of the return in Salt's form. ``sent`` are events, as tag and data, of a state that ran in
    its own process. ``trace`` is the traceback of an exception that the module did not expect, for the log
    and the journal.
    """

    outcome: Outcome
    comment: str = ""
    changes: dict[str, object] = field(default_factory=dict)
    data: dict[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    sub: tuple[SubResult, ...] = ()
    ran: bool = True
    quiet: bool = False
    called: bool = True
    extra: Mapping[str, object] = field(default_factory=dict)
    sent: tuple[tuple[str, dict[str, object]], ...] = ()
    trace: str = ""

    @property
    def changed(self) -> bool:
        return bool(self.changes)


def ok(comment: str = "", *, changes: dict[str, object] | None = None, **data: object) -> Result:
    return Result(outcome=Outcome.OK, comment=comment, changes=changes or {}, data=data)


def failed(comment: str, *, changes: dict[str, object] | None = None, **data: object) -> Result:
    return Result(outcome=Outcome.FAILED, comment=comment, changes=changes or {}, data=data)


def would_change(
    comment: str, changes: dict[str, object] | None = None, data: dict[str, object] | None = None
) -> Result:
    """The result in test mode of a state that would change something."""
    return Result(outcome=Outcome.WOULD_CHANGE, comment=comment, changes=changes or {}, data=data or {})


def not_called(comment: str) -> Result:
    """A failure before the function was called."""
    return Result(outcome=Outcome.FAILED, comment=comment, called=False)


def skipped(comment: str) -> Result:
    """Not run; this is not a failure."""
    return Result(outcome=Outcome.OK, comment=comment, ran=False)


def blocked(comment: str) -> Result:
    """Not run; this is a failure."""
    return Result(outcome=Outcome.FAILED, comment=comment, ran=False)
