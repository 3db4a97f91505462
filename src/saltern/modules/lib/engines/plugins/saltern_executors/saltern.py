"""An executor of Salt: it calls the function with arguments from a private file, and reports each state.

Salt reports that a state is done in ``State.event``, which does nothing without a
master; this hooks into it. States that it missed are taken from the return of the function.
"""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if HERE not in sys.path:
    sys.path.append(HERE)

import saltern_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SEPARATOR = "_|-"


class Listening:
    """Listens to the states of one run, but not to those of a run within a state."""

    def __init__(self) -> None:
        self._outer: Any = None
        self._running: dict[str, Any] = {}
        self._reported: set[str] = set()

    def listen(self, state_class: Any) -> None:
        listening, call, event = self, state_class.call_chunk, state_class.event

        def heard_call(state: Any, low: Any, running: Any, chunks: Any, *args: Any, **kwargs: Any) -> Any:
            listening.calling(state, low, running, chunks)
            return call(state, low, running, chunks, *args, **kwargs)

        def heard_event(state: Any, ret: Any, *args: Any, **kwargs: Any) -> Any:
            listening.done(state, ret)
            return event(state, ret, *args, **kwargs)

        state_class.call_chunk, state_class.event = heard_call, heard_event

    def calling(self, state: Any, low: Any, running: Any, chunks: Any) -> None:
        if self._outer is None:
            self._outer = state
            saltern_report.report("plan", count=len(chunks))
            for chunk in chunks:
                saltern_report.report("planned", tag=_tag(chunk))
        if state is self._outer:
            self._running = running
            saltern_report.report("begin", tag=_tag(low))

    def done(self, state: Any, ret: Any) -> None:
        if state is not self._outer:
            return
        tag = next((tag for tag in reversed(list(self._running)) if self._running[tag] is ret), "")
        # A state with its own process is reported when that has ended.
        if tag and tag not in self._reported and "proc" not in ret and tag not in getattr(state, "procs", ()):
            self._report(tag, ret)

    def rest(self, returned: Any) -> None:
        """Report the remaining states of the return, or the reasons why there are none."""
        if not isinstance(returned, dict):
            errors = returned if isinstance(returned, list) else [returned]
            saltern_report.report("errors", errors=errors)
            return
        states = {
            tag: ret for tag, ret in returned.items() if SEPARATOR in str(tag) and isinstance(ret, dict)
        }
        for tag in sorted(states, key=lambda tag: states[tag].get("__run_num__") or 0):
            if tag not in self._reported:
                self._report(tag, states[tag])
        saltern_report.report("end")

    def _report(self, tag: str, ret: Any) -> None:
        self._reported.add(tag)
        for entry in ret.get("sub_state_run") or ():
            if isinstance(entry, dict) and isinstance(entry.get("low"), dict):
                self._reported.add(_tag(entry["low"]))  # Salt will list it once more, under this name
        saltern_report.report("state", tag=tag, ret=ret)


def _tag(low: Any) -> str:
    return SEPARATOR.join(str(low.get(key)) for key in ("state", "__id__", "name", "fun"))


def execute(opts: Any, data: Any, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    wanted = saltern_report.arguments(opts["saltern_call"])
    listening = Listening()
    saltern_report.report("start")
    try:
        import salt.state

        listening.listen(salt.state.State)
    except Exception as problem:  # a Salt with other internals: its states are reported at the end
        saltern_report.report("deaf", why=problem)
    returned = func(*args, **{**kwargs, **wanted})
    listening.rest(returned)
    return returned
