"""Events of Puppet → steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saltern.language.result import Outcome, SubResult
from saltern.modules.lib.engines.marked_lines import Event, text
from saltern.modules.lib.engines.steps import MOST_SHOWN, Steps

STATE = "puppet"
LOUD = ("err", "alert", "emerg", "crit")
KNOWN = ("resource", "file", "line", "path", "corrective")
DIFF = "\n--- "  # the beginning of a diff in Puppet's log


class Resources:
    """The resources of one run. Planned resources that are never reported were not reached."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._planned: dict[str, None] = {}
        self._begun: dict[str, None] = {}
        self.completed = False
        self.handlers = {
            "plan": self._plan,
            "begin": self._begin,
            "resource": self._resource,
            "end": self._end,
        }

    def _plan(self, event: Event) -> None:
        self._planned = dict.fromkeys(map(str, event.get("resources") or ()))

    def _begin(self, event: Event) -> None:
        self._begun[str(event.get("resource"))] = None

    def _resource(self, event: Event) -> None:
        ref = str(event.get("resource"))
        self._planned.pop(ref, None)
        self._begun.pop(ref, None)
        self._steps.add(_step(event))

    def _end(self, event: Event) -> None:
        self.completed = event.get("completed") is True

    def over(self) -> None:
        """Report the resources that Puppet had not reported when it ended."""
        for ref in self._planned:
            begun = ref in self._begun
            reported = "it had begun when Puppet ended; how far it got is unknown"
            comment = reported if begun else "not reached: Puppet ended before"
            self._steps.add(
                _make_step({"resource": ref}, Outcome.FAILED, "failed", comment=comment, ran=begun)
            )
        self._planned, self._begun = {}, {}


def _step(event: Event) -> SubResult:
    events = event.get("events") or []
    if event.get("skipped"):
        return _skipped_step(event)
    done = _changes(event, events, "success")
    if event.get("failed") or event.get("restart_failed"):
        return _make_step(event, Outcome.FAILED, "failed", comment=_failure(event, events), changes=done)
    if done:
        return _make_step(event, Outcome.OK, "changed", comment=_messages(events, "success"), changes=done)
    if would := _changes(event, events, "noop"):
        comment = _messages(events, "noop")
        return _make_step(event, Outcome.WOULD_CHANGE, "would_change", comment=comment, changes=would)
    return _make_step(event, Outcome.OK, "ok", comment=_messages(events, "audit") or "in sync")


def _skipped_step(event: Event) -> SubResult:
    """The step of a skipped resource: a success if tags or a schedule skip it, else a failure."""
    if blockers := event.get("blocked_by"):
        comment = f"not reached: {', '.join(map(str, blockers))} failed"
        return _make_step(event, Outcome.FAILED, "not_reached", comment=comment, ran=False)
    if event.get("late"):
        comment = "not reached: the run was interrupted"
        return _make_step(event, Outcome.FAILED, "not_reached", comment=comment, ran=False)
    return _make_step(event, Outcome.OK, "skipped", comment="left out by tags or a schedule", ran=False)


def _make_step(
    event: Event,
    outcome: Outcome,
    word: str,
    *,
    comment: str,
    changes: dict[str, object] | None = None,
    ran: bool = True,
) -> SubResult:
    ref = str(event.get("resource"))
    kind, _, title = ref.removesuffix("]").partition("[")
    seconds = event.get("seconds")
    return SubResult(
        name=title,
        id=ref,
        state=STATE,
        fun=kind.lower(),
        outcome=outcome,
        comment=comment,
        changes=changes or {},
        data={"word": word, **{key: event[key] for key in KNOWN if event.get(key)}},
        warnings=tuple(_logged_messages(event, ("warning",))) if ran else (),
        ran=ran,
        started=float(event.get("started") or 0.0),
        took=float(seconds or 0.0),
        timed=isinstance(seconds, float),
    )


def _changes(event: Event, events: Iterable[dict[str, Any]], status: str) -> dict[str, object]:
    """The changes by property; a refresh has none. Puppet has hidden sensitive values already."""
    found: dict[str, object] = {}
    for one in events:
        if one.get("status") != status:
            continue
        if one.get("property"):
            found[str(one["property"])] = {"old": one.get("old"), "new": one.get("new")}
        else:
            found[str(one.get("name"))] = text(one.get("message"))
    diffs = [line for line in _logged_messages(event, ("notice",)) if line.startswith(DIFF)]
    return {**found, "diff": "".join(diffs).lstrip("\n")} if found and diffs else found


def _messages(events: Iterable[dict[str, Any]], status: str) -> str:
    shown = []
    for one in events:
        if one.get("status") == status:
            start = f"{one['property']}: " if one.get("property") else ""
            shown.append(f"{start}{text(one.get('message'))}")
    return "\n".join(shown)


def _failure(event: Event, events: Iterable[dict[str, Any]]) -> str:
    """Puppet's errors, and the output of a command, which Puppet logs before it fails."""
    errors = [*_logged_messages(event, LOUD)] or [_messages(events, "failure") or "failed"]
    printed = "\n".join(line for line in _logged_messages(event, ("notice",)) if not line.startswith(DIFF))
    return "\n".join([*dict.fromkeys(errors), printed[-MOST_SHOWN:]]).rstrip()


def _logged_messages(event: Event, levels: Iterable[str]) -> list[str]:
    return [text(log.get("message")) for log in event.get("logs") or () if log.get("level") in levels]
