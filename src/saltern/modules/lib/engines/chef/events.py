"""Events of Chef → steps."""

from __future__ import annotations

from saltern.language.result import Outcome, SubResult
from saltern.modules.lib.engines.marked_lines import Event, text
from saltern.modules.lib.engines.steps import Steps

STATE = "chef"
KNOWN = ("resource", "action", "cookbook", "recipe", "line", "notified", "notifier", "error", "retries")
DIFF = "--- "  # the beginning of a diff among the updates of a resource


class Resources:
    """The resources of one run, reported when Chef is done with each.

    What was planned and not reported has not been reached.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._planned: dict[str, None] = {}
        self._begun: Event = {}
        self._why_run = False
        self.handlers = {"plan": self._plan, "begin": self._begin, "resource": self._resource}

    def _plan(self, event: Event) -> None:
        self._planned = dict.fromkeys(map(str, event.get("resources") or ()))
        self._why_run = event.get("why_run") is True

    def _begin(self, event: Event) -> None:
        self._begun = event

    def _resource(self, event: Event) -> None:
        self._begun = {}
        self._planned.pop(str(event.get("resource")), None)
        self._steps.add(_step(event, self._why_run))

    def over(self) -> None:
        """Report the resources that Chef had not reported when it ended."""
        if self._begun:
            self._planned.pop(str(self._begun.get("resource")), None)
            reported = "it had begun when Chef ended; how far it got is unknown"
            self._steps.add(_make_step(self._begun, Outcome.FAILED, comment=reported))
        for ref in self._planned:
            event = {"resource": ref, "word": "not_reached"}
            self._steps.add(
                _make_step(event, Outcome.FAILED, comment="not reached: Chef ended before", ran=False)
            )
        self._planned, self._begun = {}, {}


def _step(event: Event, why_run: bool) -> SubResult:
    word, comment = str(event.get("word")), text(event.get("comment"))
    sub = tuple(_step(inner, why_run) for inner in event.get("sub") or ())
    if word == "skipped":
        return _make_step(event, Outcome.OK, comment=comment, ran=False)
    if word == "failed":
        if event.get("ignored"):
            return _make_step(event, Outcome.OK, comment=f"failed, but ignored: {comment}", sub=sub)
        return _make_step(
            event, Outcome.FAILED, comment=comment or "failed", changes=_changes(event), sub=sub
        )
    if word == "changed":
        outcome = Outcome.WOULD_CHANGE if why_run else Outcome.OK
        lines = [line for line in _updates(event) if not line.startswith(DIFF)]
        comment = comment or "\n".join(lines) or ("would be updated" if why_run else "updated")
        return _make_step(
            event, outcome, comment=comment, changes=_changes(event) or {"changed": True}, sub=sub
        )
    return _make_step(event, Outcome.OK, comment=comment or "up to date", sub=sub)


def _make_step(
    event: Event,
    outcome: Outcome,
    *,
    comment: str,
    changes: dict[str, object] | None = None,
    ran: bool = True,
    sub: tuple[SubResult, ...] = (),
) -> SubResult:
    ref = str(event.get("resource"))
    kind, _, name = ref.removesuffix("]").partition("[")
    word = str(event.get("word") or "failed")
    return SubResult(
        name=name,
        id=ref,
        state=STATE,
        fun=f"{kind}.{event['action']}" if event.get("action") else kind,
        outcome=outcome,
        comment=comment,
        changes=changes or {},
        data={"word": word, **{key: event[key] for key in KNOWN if event.get(key)}},
        ran=ran,
        started=float(event.get("started") or 0.0),
        took=float(event.get("seconds") or 0.0),
        timed="seconds" in event,
        sub=sub,
    )


def _updates(event: Event) -> list[str]:
    """Chef's descriptions of the updates; a diff among them is one text."""
    found: list[str] = []
    for line in map(str, event.get("updates") or ()):
        if found and found[-1].startswith(DIFF) and line.startswith(("+", "-", " ", "@", "\\")):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def _changes(event: Event) -> dict[str, object]:
    updates = _updates(event)
    diffs = [one for one in updates if one.startswith(DIFF)]
    lines = [one for one in updates if not one.startswith(DIFF)]
    return {**({"updates": lines} if lines else {}), **({"diff": "\n".join(diffs)} if diffs else {})}
