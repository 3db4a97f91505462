"""Events of Salt → steps. Salt's returns are entries already; only the time differs."""

from __future__ import annotations

from saltern.language.result import Outcome, SubResult
from saltern.modules.lib.engines.entries import step
from saltern.modules.lib.engines.marked_lines import Event, text
from saltern.modules.lib.engines.steps import Steps


class States:
    """The states of one run, in the order in which Salt runs them."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._planned: dict[str, bool] = {}  # tag → whether it has begun
        self.errors: list[str] = []
        self.handlers = {
            "planned": self._plan,
            "begin": self._begin,
            "state": self._state,
            "errors": self._errors,
        }

    def _plan(self, event: Event) -> None:
        self._planned[str(event.get("tag"))] = False

    def _begin(self, event: Event) -> None:
        if str(event.get("tag")) in self._planned:
            self._planned[str(event["tag"])] = True

    def _state(self, event: Event) -> None:
        tag = str(event.get("tag"))
        self._planned.pop(tag, None)
        self._steps.add(step(_entry(tag, event.get("ret") or {})))

    def _errors(self, event: Event) -> None:
        self.errors += [text(one) for one in event.get("errors") or []]

    def over(self, *, ended: bool) -> None:
        """Report the states that Salt has not reached; ``ended``: it has reported its end itself."""
        for tag, begun in self._planned.items():
            names = _low(tag)
            begun = begun and not ended
            reported = "it had begun when Salt ended; how far it got is unknown"
            self._steps.add(
                SubResult(
                    name=names["name"],
                    id=names["__id__"],
                    state=names["state"],
                    fun=names["fun"],
                    outcome=Outcome.FAILED,
                    comment=reported if begun else "not reached",
                    ran=begun,
                )
            )
        self._planned = {}


def _entry(tag: str, ret: Event) -> Event:
    low = _low(tag)
    low["__id__"] = str(ret.get("__id__") or low["__id__"])
    low["name"] = str(ret.get("name") or low["name"])
    took = ret.get("duration")
    known = {"comment": "", "changes": {}, **ret, "low": low}
    known["data"] = {"sls": ret["__sls__"]} if ret.get("__sls__") else {}
    if isinstance(took, int | float):
        known["duration"] = took / 1000
    return known


def _low(tag: str) -> dict[str, str]:
    found = [*tag.split("_|-"), "", "", ""]
    return {"state": found[0], "__id__": found[1], "name": found[2] or found[1], "fun": found[3]}
