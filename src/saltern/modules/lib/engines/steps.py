"""The steps of one engine run: reported as they come, counted, and summarized at the end."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from saltern.language.result import Outcome, Result, SubResult
from saltern.modules.api.context import Context
from saltern.modules.lib.engines.drive import Ended

# The outcomes of steps, in the order of a summary.
WORDS = ("failed", "not_reached", "changed", "would_change", "ok", "skipped")
MOST_SHOWN = 2000


class Steps:
    """Takes each step. Without a listener, the steps are ``kept`` for the result."""

    def __init__(self, ctx: Context) -> None:
        self._emit = ctx.emit
        self.kept: list[SubResult] = []
        self.counts: dict[str, int] = {}
        self.failures: list[str] = []

    def add(self, step: SubResult) -> None:
        """Count a step and report it."""
        word = word_of(step)
        self.counts[word] = self.counts.get(word, 0) + 1
        if word == "failed":
            self.failures.append(step.id or step.name)
        if self._emit is not None:
            self._emit(step)
        else:
            self.kept.append(step)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def summary(self, what: str = "step") -> str:
        """``3 steps: 1 changed, 2 ok``."""
        some = ", ".join(
            f"{self.counts[word]} {word.replace('_', ' ')}" for word in WORDS if word in self.counts
        )
        steps = f"1 {what}" if self.total == 1 else f"{self.total} {what}s"
        return f"{steps}: {some}" if some else f"no {what}s"


def word_of(step: SubResult) -> str:
    if step.outcome is Outcome.FAILED:
        return "failed" if step.ran else "not_reached"
    if not step.ran:
        return "skipped"
    if step.outcome is Outcome.WOULD_CHANGE:
        return "would_change"
    return "changed" if step.changes else "ok"


class Verdict(Struct, frozen=True, kw_only=True):
    """The parts of the summary from a module: its word for a step, the exit codes for success, the meaning of
    others, its data, and a text for the end of a failure."""

    what: str = "step"
    fine: Collection[int] = (0,)
    codes: Mapping[int, str] = {}
    data: Mapping[str, object] = {}
    why: str = ""
    warnings: tuple[str, ...] = ()


def conclude(program: str, steps: Steps, ended: Ended, verdict: Verdict) -> Result:
    """The result of a run, from the engine's exit code and its steps, which have their own results."""
    data = {**verdict.data, "totals": dict(steps.counts), "retcode": ended.code, "log": ended.log}
    summary = steps.summary(verdict.what)
    if ended.code in verdict.fine and not ended.timed_out:
        would = "would_change" in steps.counts
        outcome = Outcome.WOULD_CHANGE if would else Outcome.OK
        comment = summary
    else:
        outcome = Outcome.FAILED
        parts = [f"{program} {_end(ended, verdict)}; {summary}", verdict.why, f"the log is {ended.log}"]
        comment = "\n".join(part for part in parts if part)
    return Result(
        outcome=outcome, comment=comment, data=data, warnings=verdict.warnings, sub=tuple(steps.kept)
    )


def _end(ended: Ended, verdict: Verdict) -> str:
    if ended.timed_out:
        return "took longer than its timeout and was killed"
    if ended.signal:
        return f"was ended by signal {ended.signal}"
    meaning = verdict.codes.get(ended.code)
    return f"ended with exit code {ended.code}" + (f" ({meaning})" if meaning else "")
