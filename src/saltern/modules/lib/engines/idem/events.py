"""Events of Idem → steps."""

from __future__ import annotations

from saltern.language.result import Outcome, SubResult
from saltern.modules.lib.engines.entries import moment
from saltern.modules.lib.engines.marked_lines import Event, text
from saltern.modules.lib.engines.steps import Steps

SKIPPED = "Skipped"  # the first line of the comment of a state that its contract has skipped
Tag = tuple[str, str, str, str]  # state, id, name, function


class States:
    """The states of one run. Idem plans them in parts, and repeats pending ones."""

    def __init__(self, steps: Steps, *, test: bool) -> None:
        self._steps = steps
        self._test = test
        self._planned: dict[str, None] = {}
        self._reported: set[str] = set()
        self.handlers = {"plan": self._plan, "state": self._state}

    def _plan(self, event: Event) -> None:
        tag = str(event.get("tag"))
        if tag not in self._reported:
            self._planned.setdefault(tag)

    def _state(self, event: Event) -> None:
        ret = event.get("ret") or {}
        tag = str(ret.get("tag"))
        self._planned.pop(tag, None)
        self._reported.add(tag)
        self._steps.add(_step(ret, called=bool(event.get("called")), test=self._test))

    def over(self) -> None:
        """Report the planned states that Idem had not finished when it ended."""
        for tag in self._planned:
            state, id_, name, fun = parts(tag)
            reported = "not reached, or not finished: Idem ended before"
            self._steps.add(
                SubResult(
                    name=name or id_,
                    id=id_,
                    state=state,
                    fun=fun,
                    outcome=Outcome.FAILED,
                    comment=reported,
                    ran=False,
                )
            )
        self._planned = {}


def parts(tag: str) -> Tag:
    found = [*tag.split("_|-"), "", "", ""]
    return found[0], found[1] or tag, found[2], found[3]


def _step(ret: Event, *, called: bool, test: bool) -> SubResult:
    state, id_, name, fun = parts(str(ret.get("tag")))
    changes = ret.get("changes")
    changes = changes if isinstance(changes, dict) else {}
    comment = text(ret.get("comment"))
    skipped = ret.get("result") is None and comment.partition("\n")[0] == SKIPPED
    return SubResult(
        name=str(ret.get("name") or name),
        id=str(ret.get("__id__") or id_),
        state=state,
        fun=fun,
        outcome=_outcome(ret.get("result"), changed=bool(changes), test=test and not skipped),
        comment=comment,
        changes=changes if called else {},
        ran=called and not skipped,
        started=moment(ret.get("start_time")) or 0.0,
        took=float(ret.get("total_seconds") or 0.0),
        timed=bool(ret.get("total_seconds")),
    )


def _outcome(result: object, *, changed: bool, test: bool) -> Outcome:
    if result is False:
        return Outcome.FAILED
    return Outcome.WOULD_CHANGE if test and (changed or result is None) else Outcome.OK
