"""Decide by its requisites whether a chunk runs: go, signal, hold or fail.

The rule: every kind is evaluated on its own, and all must agree. A failure takes precedence, then a
kind that holds the chunk back, then a signal.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from saltern.language.requisites import RequisiteKind, Vote, When
from saltern.language.result import Outcome, Result
from saltern.plan.plan import Need, Plan
from saltern.runtime.answers import Answers


class Verdict(Struct, frozen=True):
    """``kind`` is the requisite that holds the chunk; ``culprits`` are the indexes of the failed targets."""

    vote: Vote
    kind: RequisiteKind | None = None
    culprits: tuple[int, ...] = ()


RUN = Verdict(Vote.GO)
SIGNAL = Verdict(Vote.SIGNAL)


def decide(plan: Plan, index: int, answers: Answers, *, rehearsal: bool = False) -> Verdict:
    """The verdict. ``rehearsal``: chunks that prepare for this one have not run yet and do not count."""
    needs = plan.needs.get(index, ())
    preparers = () if rehearsal else plan.preparers.get(index, ())
    if not needs and not preparers:
        return RUN
    culprits: set[int] = set()
    if _pending(index, answers):  # a chunk with nothing to change needs no preparation
        culprits = {owner for step in preparers for owner in answers.failed_behind(step)}
    held: list[RequisiteKind] = []
    met: set[str] = set()
    signal = False
    for kind, cast in _by_kind(needs, answers):
        vote = kind.decide(cast)
        if vote is Vote.FAIL:
            culprits.update(_failed_chunks(needs, kind, answers))
        elif vote is Vote.HOLD:
            held.append(kind)
        elif vote is Vote.SIGNAL:
            signal = True
        else:
            met.add(kind.group)
    if culprits:
        return Verdict(Vote.FAIL, None, tuple(sorted(culprits)))
    if signal and "onchanges" in met:
        # As in Salt: a change that is both watched and waited for runs even an unneeded onfail handler.
        held = [kind for kind in held if not kind.name.startswith("onfail")]
    if held:
        return Verdict(Vote.HOLD, held[0])
    return SIGNAL if signal else RUN


def waits_for_change(plan: Plan, index: int, answers: Answers) -> bool:
    """True if a state that this one waits for would change something: what it sees now may change."""
    steps = [need.on for need in plan.needs.get(index, ()) if need.kind.when is not When.REHEARSED]
    return any(
        answers.effective(one).outcome is Outcome.WOULD_CHANGE for step in steps for one in plan.behind(step)
    )


def _pending(index: int, answers: Answers) -> bool:
    """True if its rehearsal foresaw a change."""
    seen = answers.rehearsed.get(index)
    return seen is not None and (seen.changed or seen.outcome is not Outcome.OK)


def _by_kind(needs: tuple[Need, ...], answers: Answers) -> list[tuple[RequisiteKind, set[Vote]]]:
    asked: dict[str, tuple[RequisiteKind, set[Vote]]] = {}
    for need in needs:
        kind = need.kind
        group = kind.group or kind.name
        if group not in asked:
            asked[group] = (kind, set())
        asked[group][1].update(_votes(need, answers))
    return list(asked.values())


def _votes(need: Need, answers: Answers) -> frozenset[Vote] | set[Vote]:
    if need.on >= len(answers.of):
        return answers.votes(need.on, need.kind.vote)
    if need.kind.when is When.REHEARSED:
        return {need.kind.vote(answers.rehearsed[need.on])}
    return {need.kind.vote(answers.effective(need.on))}


def _failed_chunks(needs: tuple[Need, ...], kind: RequisiteKind, answers: Answers) -> set[int]:
    """The failed chunks; for a failed rehearsal, the chunk itself."""
    indexes: set[int] = set()
    for need in needs:
        if (need.kind.group or need.kind.name) != (kind.group or kind.name):
            continue
        if need.kind.when is When.REHEARSED and need.on < len(answers.of):
            if answers.rehearsed[need.on].outcome is Outcome.FAILED:
                indexes.add(need.on)
        else:
            indexes.update(answers.failed_behind(need.on))
    return indexes


def blocked_result(plan: Plan, index: int, verdict: Verdict, answers: Answers) -> Result:
    """The result of a chunk that others block: names them, and the root failures."""
    roots = {root for culprit in verdict.culprits for root in answers.roots.get(culprit, (culprit,))}
    answers.roots[index] = tuple(sorted(roots))
    direct = _names(plan, verdict.culprits)
    at_root = sorted({name for root in roots for name in answers.failed_below(root) or _names(plan, [root])})
    comment = f"requisite failed: {', '.join(direct)}"
    if at_root != direct:
        comment += f" (root cause: {', '.join(at_root)})"
    tags = [plan.chunks[root].tag for root in answers.roots[index]]
    return Result(outcome=Outcome.FAILED, comment=comment, ran=False, extra={"root_cause": tags})


def _names(plan: Plan, indexes: Iterable[int]) -> list[str]:
    return sorted({f"{plan.chunks[index].sls}.{plan.chunks[index].label}" for index in indexes})
