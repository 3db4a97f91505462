"""Counts the answers of a run, for all views and for the exit code."""

from __future__ import annotations

from collections.abc import Container, Iterable

from msgspec import Struct

from saltern.language.events import Answer, Report
from saltern.language.requisites import WORST_FIRST, Standing
from saltern.language.result import Outcome


class Totals(Struct, frozen=True, kw_only=True):
    """Salt's counts, including sub states: ``succeeded`` counts True and None; ``unchanged`` the None among
    them.

    ``deferred`` are the None among ``succeeded`` that a test run cannot predict; they are not in
    ``unchanged``. ``changed`` counts all answers with changes, including failed ones; ``warnings`` those with
    warnings; ``not_run`` the skipped and the blocked ones. ``took`` is in seconds; of parallel states only
    the longest counts, and sub states do not count: their time is part of that of their parents.
    ``sub_states``, ``sub_failed`` and ``sub_changed`` are the numbers of sub states among these.
    """

    succeeded: int = 0
    failed: int = 0
    unchanged: int = 0
    deferred: int = 0
    changed: int = 0
    warnings: int = 0
    not_run: int = 0
    forgiven: int = 0
    sub_states: int = 0
    sub_failed: int = 0
    sub_changed: int = 0
    took: float = 0.0

    @property
    def total(self) -> int:
        return self.succeeded + self.failed


def failed(report: Report) -> bool:
    """True if a state failed and no handler has fixed it."""
    forgiven = report.forgiven
    return any(
        answer.result.outcome is Outcome.FAILED and not (forgiven and answer.number in forgiven)
        for answer in report.answers
    )


def changed(report: Report) -> bool:
    """True if something changed, or would change in a test run."""
    return any(
        answer.result.changes or (answer.result.outcome is Outcome.WOULD_CHANGE and answer.result.ran)
        for answer in report.answers
    )


def with_steps(answers: Iterable[Answer], forgiven: Container[int] = ()) -> dict[int, Standing]:
    """The outcome of each state with sub states, by its number, with the sub states counted: an engine may
    report no changes of its own. ``forgiven`` are steps of attempts that were not the last."""
    known = {answer.number: answer for answer in answers}
    found: dict[int, Standing] = {}
    for answer in known.values():
        step = answer
        if step.sub and step.number in forgiven:
            continue
        while step.sub and step.under in known:
            step = known[step.under]
            before = found.get(step.number) or Standing(step.result.outcome, bool(step.result.changes))
            outcome = min(before.outcome, answer.result.outcome, key=WORST_FIRST.index)
            found[step.number] = Standing(outcome, before.changed or bool(answer.result.changes))
    return found


def totals(report: Report) -> Totals:
    return count(report.answers, report.forgiven)


def count(answers: Iterable[Answer], forgiven: frozenset[int] = frozenset()) -> Totals:
    """The counts of any answers, such as those of one SLS."""
    total = fails = unchanged = deferred = changes = warned = unrun = excused = 0
    subs = sub_fails = sub_changes = 0
    serial = longest = 0.0
    for answer in answers:
        result = answer.result
        if answer.sub:
            subs += 1
            sub_fails += result.outcome is Outcome.FAILED
            sub_changes += bool(result.changes)
        total += 1
        if result.outcome is Outcome.FAILED:
            fails += 1
            excused += bool(forgiven) and answer.number in forgiven
        elif result.outcome is Outcome.WOULD_CHANGE:
            unchanged += result.ran
            deferred += not result.ran
        changes += bool(result.changes)
        warned += bool(result.warnings)
        unrun += not result.ran
        if answer.sub:
            continue
        if answer.parallel:
            longest = max(longest, answer.took)
        else:
            serial += answer.took
    return Totals(
        succeeded=total - fails,
        failed=fails,
        unchanged=unchanged,
        deferred=deferred,
        changed=changes,
        warnings=warned,
        not_run=unrun,
        forgiven=excused,
        sub_states=subs,
        sub_failed=sub_fails,
        sub_changed=sub_changes,
        took=serial + longest,
    )
