"""The rule in one sentence: a token's scopes must cover the request; roles decide most actions; for jobs each
system is decided by the first rule that concerns the person, the function and the system. No rule: denied.

The job is allowed if it is allowed for every system of its expected set. Pure: same arguments, same answer.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from msgspec import Struct

from saltern.fleet.access.policy import ADMIN_RULE, EVERYWHERE, Condition, Policy, Rule, means
from saltern.fleet.access.ports import ACTIONS, Action, Decision, Matcher, Principal, Request, Verdict
from saltern.fleet.access.windows import Window
from saltern.language.diagnostics import CompileError

SHOWN = 5  # names of systems in a sentence
ANY_SYSTEM = ""  # stands in for the systems of a request without systems: any that the person may reach
NO_RULE = "no rule of the policy allows it"
ASK = "saltern policy explain says what each rule decides; an admin can add one"
LONGEST = 255  # characters of the names of rules in the table of jobs


class Case(Struct, frozen=True):
    """The request to decide, and everything the decision depends on."""

    policy: Policy
    who: Principal
    request: Request
    now: float


class Part(Struct, frozen=True, kw_only=True):
    """The decision of one rule for some of the systems."""

    verdict: Verdict
    rule: str
    systems: frozenset[str]
    why: str = ""
    fix: str = ""
    approvals: int = 0


def decide(policy: Policy, who: Principal, request: Request, matcher: Matcher, now: float) -> Decision:
    action = ACTIONS.get(request.action)
    if action is None:
        return _denial(f"no action is called {request.action!r}")
    if not in_scope(who.scopes, request):
        what = _what(request)
        fix = "use a token whose scopes include it, or log in"
        return _denial(f"the scopes of this token do not include {what}", fix, code="outside-scope")
    if action.own:
        return Decision(verdict=Verdict.ALLOWED, rule="own")
    return _by_rules(Case(policy, who, request, now), matcher) if action.by_rules else _by_role(action, who)


def in_scope(scopes: tuple[str, ...] | None, request: Request, *, any_function: bool = False) -> bool:
    """True if a scope covers the request: ``systems.*``, or with a function ``jobs.submit:test.*``.

    ``any_function``: it is enough if some function is covered.
    """
    if scopes is None or not any_function:
        return scopes is None or any(_covers(scope, request) for scope in scopes)
    return any(fnmatchcase(request.action, scope.partition(":")[0]) for scope in scopes)


def allowed_actions(policy: Policy, who: Principal) -> list[str]:
    """The actions that a person may take; an action that rules decide is included if some rule allows it."""
    has_rule = any(not rule.deny and means(rule.who, who) for rule in (*policy.rules, ADMIN_RULE))
    return [
        name
        for name, action in ACTIONS.items()
        if in_scope(who.scopes, Request(action=name), any_function=True)
        and (action.own or (has_rule if action.by_rules else any(who.has(role) for role in action.roles)))
    ]


def _covers(scope: str, request: Request) -> bool:
    action, _, function = scope.partition(":")
    return fnmatchcase(request.action, action) and (not function or fnmatchcase(request.function, function))


def _what(request: Request) -> str:
    return f"{request.action} of {request.function!r}" if request.function else request.action


def _by_role(action: Action, who: Principal) -> Decision:
    if any(who.has(role) for role in action.roles):
        return Decision(verdict=Verdict.ALLOWED, rule="role")
    needed = " or ".join(action.roles)
    return _denial(f"{who.name} may not {action.what}", f"it needs the role {needed}: ask an admin for it")


def _by_rules(case: Case, matcher: Matcher) -> Decision:
    left = frozenset(case.request.systems) or frozenset({ANY_SYSTEM})
    parts: list[Part] = []
    for rule in (*case.policy.rules, ADMIN_RULE):
        if left and rule.concerns(case.who, case.request.function):
            parts.append(judge(rule, case, reach(rule, left, matcher)))
            left -= parts[-1].systems
    if left:
        parts.append(Part(verdict=Verdict.DENIED, rule="", systems=left, why=NO_RULE, fix=ASK))
    return _combine([part for part in parts if part.systems], case)


def reach(rule: Rule, left: frozenset[str], matcher: Matcher) -> frozenset[str] | str:
    """The undecided systems that the rule applies to; an error text if its target cannot be read."""
    if rule.target == EVERYWHERE:
        return left
    if left == {ANY_SYSTEM}:
        return frozenset() if rule.deny else left
    try:
        found: Collection[str] = matcher(rule.target, left)
    except CompileError as problem:
        return (
            f"the target {rule.target!r} of rule {rule.name!r} cannot be read: {problem.diagnostics[0].what}"
        )
    return left & frozenset(found)


def judge(rule: Rule, case: Case, reached: frozenset[str] | str) -> Part:
    """The decision of a rule that matches the person and the function, for the systems that it applies to."""
    if isinstance(reached, str):  # rules after one that cannot be read decide nothing
        systems = frozenset(case.request.systems) or frozenset({ANY_SYSTEM})
        fix = "fix the policy: saltern policy check"
        return Part(verdict=Verdict.DENIED, rule=rule.name, systems=systems, why=reached, fix=fix)
    if rule.deny:
        why = f"rule {rule.name!r} forbids it"
        return Part(verdict=Verdict.DENIED, rule=rule.name, systems=reached, why=why)
    verdict, why, fix, approvals = _conditions(rule, case)
    return Part(verdict=verdict, rule=rule.name, systems=reached, why=why, fix=fix, approvals=approvals)


Judged = tuple[Verdict, str, str, int]
_ALLOWED: Judged = (Verdict.ALLOWED, "", "", 0)
_ORDER = (Verdict.ALLOWED, Verdict.NEEDS_APPROVAL, Verdict.DENIED)  # the most permissive counts


def _conditions(rule: Rule, case: Case) -> Judged:
    """The decision of an allowing rule by its conditions. Cancelling a job needs no condition."""
    if not rule.only or case.request.action == "jobs.cancel":
        return _ALLOWED
    judged = [_condition(one, rule, case) for one in rule.only]
    best = min(judged, key=lambda one: (_ORDER.index(one[0]), one[3]))
    if best[0] is not Verdict.DENIED:
        return best
    return (Verdict.DENIED, "; or ".join(one[1] for one in judged), judged[0][2], 0)


def _condition(one: Condition, rule: Rule, case: Case) -> Judged:
    if one.test and not case.request.test:
        return (Verdict.DENIED, f"rule {rule.name!r} allows it only as a test", "add --test", 0)
    if len(frozenset(case.request.approved_by) - {case.who.name}) < one.approvals:
        persons = "1 person" if one.approvals == 1 else f"{one.approvals} persons"
        why = f"rule {rule.name!r} asks for the approval of {persons}"
        return (Verdict.NEEDS_APPROVAL, why, "", one.approvals)
    windows = [window for name in one.windows for window in case.policy.windows.get(name, ())]
    if one.windows and not any(window.is_open(case.now) for window in windows):
        named = ", ".join(f"{name!r}" for name in one.windows)
        why = f"rule {rule.name!r} allows it only in the window {named}"
        return (Verdict.DENIED, why, _next_begin(windows, case.now), 0)
    return _ALLOWED


def _next_begin(windows: list[Window], now: float) -> str:
    if not windows:
        return "the policy has no such window: saltern policy check"
    first = min(window.next_begin(now) for window in windows)
    return f"the next one begins {datetime.fromtimestamp(first, UTC):%Y-%m-%d %H:%M} UTC"


def _combine(parts: list[Part], case: Case) -> Decision:
    """The worst part decides. All denied systems are named, with the reason of the first rule that denies."""
    rules = ", ".join(dict.fromkeys(part.rule for part in parts if part.rule))[:LONGEST]
    denied = [part for part in parts if part.verdict is Verdict.DENIED]
    if denied:
        outside = tuple(sorted(frozenset().union(*(part.systems for part in denied)) - {ANY_SYSTEM}))
        verb = "cancel" if case.request.action == "jobs.cancel" else "run"
        what = f"{case.who.name} may not {verb} {case.request.function!r}{_on(outside)}: {denied[0].why}"
        return _denial(what, denied[0].fix, rule=denied[0].rule, outside=outside)
    asking = [part for part in parts if part.verdict is Verdict.NEEDS_APPROVAL]
    if asking:
        most = max(asking, key=lambda part: part.approvals)
        return Decision(
            verdict=Verdict.NEEDS_APPROVAL,
            rule=most.rule,
            why=most.why,
            code="needs-approval",
            fix="once it is approved, run the same command again",
            approvals=most.approvals,
        )
    return Decision(verdict=Verdict.ALLOWED, rule=rules)


def _on(systems: tuple[str, ...]) -> str:
    if not systems:
        return ""
    more = len(systems) - SHOWN
    return f" on {', '.join(systems[:SHOWN])}" + (f" and {more} more" if more > 0 else "")


def _denial(
    why: str, fix: str = "", *, code: str = "not-allowed", rule: str = "", outside: tuple[str, ...] = ()
) -> Decision:
    return Decision(verdict=Verdict.DENIED, rule=rule, why=why, code=code, fix=fix, outside=outside)
