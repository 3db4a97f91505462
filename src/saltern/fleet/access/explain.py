"""Explains a decision of the policy: what each rule says about a request, in the order of the rules."""

from __future__ import annotations

from msgspec import Struct

from saltern.fleet.access.decide import ANY_SYSTEM, Case, Part, decide, judge, reach
from saltern.fleet.access.policy import ADMIN_RULE, Policy, Rule, means
from saltern.fleet.access.ports import Decision, Matcher, Principal, Request, Verdict

WORDS = {
    Verdict.ALLOWED: "allows it",
    Verdict.NEEDS_APPROVAL: "asks for approval",
    Verdict.DENIED: "denies it",
}


class Step(Struct, frozen=True, kw_only=True):
    """What one rule says; ``systems`` are the systems that it decides."""

    rule: str
    says: str
    systems: tuple[str, ...] = ()


def explain(
    policy: Policy, who: Principal, request: Request, matcher: Matcher, now: float
) -> tuple[Decision, list[Step]]:
    """The decision on a job, and the steps that lead to it."""
    case = Case(policy, who, request, now)
    left = frozenset(request.systems) or frozenset({ANY_SYSTEM})
    steps: list[Step] = []
    for rule in (*policy.rules, ADMIN_RULE):
        if reason := _not_about(rule, case, left):
            steps.append(Step(rule=rule.name, says=reason))
            continue
        part = judge(rule, case, reach(rule, left, matcher))
        steps.append(_step(rule, part))
        left -= part.systems
    if left:
        steps.append(Step(rule="", says="no rule is left: denied", systems=_names(left)))
    return decide(policy, who, request, matcher, now), steps


def _not_about(rule: Rule, case: Case, left: frozenset[str]) -> str:
    if not left:
        return "is not reached: earlier rules have decided on every system"
    if not means(rule.who, case.who):
        return f"is about {', '.join(rule.who)}, not about {case.who.name}"
    if not rule.concerns(case.who, case.request.function):
        return f"is about {', '.join(rule.functions)}, not about {case.request.function}"
    return ""


def _step(rule: Rule, part: Part) -> Step:
    if not part.systems:
        return Step(
            rule=rule.name, says=f"is about {rule.target!r}, which matches none of the remaining systems"
        )
    says = WORDS[part.verdict] + (f": {part.why}" if part.why else "")
    return Step(rule=rule.name, says=says, systems=_names(part.systems))


def _names(systems: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(systems - {ANY_SYSTEM}))
