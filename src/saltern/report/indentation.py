"""The layout below a state: the indentation, the line above a frame, and which sub states are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from saltern.language.delayed import Frame
from saltern.language.events import Answer
from saltern.language.result import Outcome, Result
from saltern.report.text import safe_line

STEP = 2
DEEPEST = 4  # levels that are indented; deeper ones are identified by their path


def indent(depth: int) -> str:
    return " " * (STEP * min(depth, DEEPEST))


def heading(frame: Frame) -> str:
    """The line above a frame: ``== block use_vm (/srv/salt/vm.sls:9), 2 states, after vm``."""
    states = "1 state" if frame.states == 1 else f"{frame.states} states"
    caller = frame.path.rpartition(">")[0]
    if frame.depth <= DEEPEST:
        caller = caller.rpartition(">")[2]
    return safe_line(f"== {frame.kind} {frame.name} ({frame.where}), {states}, after {caller}")


# Which sub states are shown, by the word of --sub-states.
SHOWN: dict[str, Callable[[Result], bool]] = {
    "full": lambda _: True,
    "changes": lambda result: bool(result.changes) or result.outcome is not Outcome.OK,
    "failed": lambda result: result.outcome is Outcome.FAILED,
    "count": lambda _: False,
}


class SubStates:
    """Which sub states of a run are shown; the others are counted under their parent."""

    def __init__(self, answers: Iterable[Answer], mode: str) -> None:
        self._shown = SHOWN.get(mode, SHOWN["full"])
        self._hidden: dict[int, list[Answer]] = {}
        above: dict[int, int] = {}  # a hidden step → the shown state above it
        for answer in answers:
            if answer.sub and not self._shown(answer.result):
                above[answer.number] = teller = above.get(answer.under, answer.under)
                self._hidden.setdefault(teller, []).append(answer)

    def shows(self, answer: Answer) -> bool:
        return not answer.sub or self._shown(answer.result)

    def note(self, answer: Answer) -> str:
        """The note on hidden sub states below an answer: ``12 sub states are not shown: 1 failed, 3
        changed``.
        """
        hidden = self._hidden.get(answer.number)
        if not hidden:
            return ""
        failed = sum(one.result.outcome is Outcome.FAILED for one in hidden)
        changed = sum(bool(one.result.changes) for one in hidden)
        some = ", ".join(
            f"{count} {word}" for count, word in ((failed, "failed"), (changed, "changed")) if count
        )
        states = "1 sub state is" if len(hidden) == 1 else f"{len(hidden)} sub states are"
        return f"{states} not shown" + (f": {some}" if some else "")
