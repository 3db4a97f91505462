"""The state of a run: all that its journal says, as ``fold`` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

Body = dict[str, Any]
PAUSED = {"reboot": "rebooting", "update": "updating"}  # a kind of barrier → the status of its run
INTERRUPTED = ("interrupted", "terminated")  # by a user; by a signal, as at a shutdown


class ScopeState(Struct):
    """One scope: the run itself, or a frame. Keys are indexes in its plan, or run numbers of callers."""

    plan: Body = field(default_factory=dict)
    frame: Body | None = None
    started: dict[int, Body] = field(default_factory=dict)
    done: dict[int, Body] = field(default_factory=dict)
    rehearsed: dict[int, tuple[object, bool]] = field(default_factory=dict)
    frames: dict[tuple[int, int], str] = field(default_factory=dict)  # (caller, target) → path
    stand_ins: dict[tuple[int, int], Body] = field(default_factory=dict)
    listened: dict[int, Body] = field(default_factory=dict)
    ended: bool = False


class RunState(Struct):
    """The state of a run from its journal."""

    head: Body = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    scopes: dict[str, ScopeState] = field(default_factory=dict)
    steps: dict[int, list[Body]] = field(default_factory=dict)  # parent's number → its sub states
    tried: dict[int, list[Body]] = field(default_factory=dict)  # the same, of earlier attempts
    lost: dict[int, list[Body]] = field(default_factory=dict)  # the same, of calls that broke
    barriers: list[Body] = field(default_factory=list)  # each with its ``outcome``
    end: Body | None = None
    boot: dict[str, str] = field(default_factory=dict)  # of the last process
    unsure: bool = False  # power was lost, perhaps with the records of the last calls
    fresh: set[int] = field(default_factory=set)  # indexes outside of frames that have changed something
    suspect: set[int] = field(default_factory=set)  # the same, in a boot that ended without a shutdown
    resumed: int = 0
    records: int = 0
    number: int = 0  # the next

    @property
    def has_plan(self) -> bool:
        return "" in self.scopes and bool(self.scopes[""].plan)

    def scope(self, path: str) -> ScopeState:
        return self.scopes.setdefault(path, ScopeState())

    @property
    def in_doubt(self) -> list[tuple[str, int]]:
        """States that were started and whose end is unknown."""
        return [
            (path, index)
            for path, scope in self.scopes.items()
            for index in scope.started
            if index not in scope.done and ~index not in scope.listened
        ]

    @property
    def open_barriers(self) -> list[Body]:
        """Barriers that were requested and are not known to be crossed."""
        return [body for body in self.barriers if not body["outcome"]]

    def barrier(self, scope: str, index: int) -> Body | None:
        """The last barrier that a state requested."""
        found = [body for body in self.barriers if (body["scope"], body["place"]) == (scope, index)]
        return {**found[-1], "times": len(found)} if found else None

    @property
    def is_over(self) -> bool:
        """True if the run has ended and cannot be resumed."""
        return self.end is not None and self.end["stopped"] not in INTERRUPTED

    @property
    def status(self) -> str:
        """The status from the journal; whether it is ``running`` depends on its process."""
        ahead = [body for body in self.open_barriers if not body["off"]]
        if ahead and not self.is_over:
            return PAUSED[ahead[0]["kind"]]
        if self.end is None:
            return "broken" if self.has_plan else "unbegun"
        if self.end["stopped"] in INTERRUPTED:
            return "interrupted"
        return "failed" if self.end["failed"] else "succeeded"


def asked_for(request: Mapping[str, object]) -> str:
    """A request in a few words, as it was made."""
    sls = request.get("sls") or [request.get("template") or "highstate"]
    words = [*map(str, sls if isinstance(sls, list | tuple) else [sls])]
    for key, word in (("saltenv", "of"), ("id", "only"), ("exclude", "without")):
        if given := request.get(key):
            words += [word, *map(str, given if isinstance(given, list) else [given])]
    return " ".join(words)
