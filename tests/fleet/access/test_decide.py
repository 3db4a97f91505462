"""Decisions: first match for each system, default deny, conditions, scopes, and properties."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from saltern.fleet.access.decide import decide
from saltern.fleet.access.document import read_policy
from saltern.fleet.access.policy import Condition, Policy, Rule, roles_of
from saltern.fleet.access.ports import ACTIONS, Decision, Principal, Request, Verdict
from saltern.fleet.access.windows import read_window
from saltern.targeting.problem import BadTarget

ANNA = Principal(name="anna", roles=("operator",), groups=("web",))
NIGHT = 1_795_000_000.0


def glob(target: str, systems: Collection[str]) -> set[str]:
    if target == "broken":
        raise BadTarget("no group is called 'broken'")
    return {one for one in systems if fnmatchcase(one, target)}


def judge(
    rules: str, *systems: str, function: str = "state.apply", who: Principal = ANNA, **more: Any
) -> Decision:
    policy, _ = read_policy(f"windows: {{now: '00:00-24:00', never: 'mon 00:00-00:01'}}\nrules:\n{rules}")
    request = Request(action="jobs.submit", function=function, systems=systems)
    return decide(policy, who, replace(request, **more), glob, NIGHT)


def test_nothing_is_allowed_that_no_rule_allows() -> None:
    said = judge("  []", "web1")
    assert said.verdict is Verdict.DENIED
    assert said.why == "anna may not run 'state.apply' on web1: no rule of the policy allows it"


def test_an_admin_may_what_no_rule_forbids() -> None:
    admin = Principal(name="root", roles=("admin",))
    assert judge("  []", "web1", who=admin).allowed
    assert not judge(
        "  - {who: '*', functions: '*', target: 'web*', deny: true}", "web1", "db1", who=admin
    ).allowed


def test_each_system_is_decided_by_the_first_rule_that_is_about_it() -> None:
    rules = """\
  - {name: db, who: anna, functions: '*', target: 'db*', deny: true}
  - {name: all, who: anna, functions: '*'}
"""
    assert judge(rules, "web1", "web2") == Decision(verdict=Verdict.ALLOWED, rule="all")
    said = judge(rules, "web1", "db2", "db1")
    assert said.outside == ("db1", "db2") and said.rule == "db"
    assert "on db1, db2: rule 'db' forbids it" in said.why


def test_a_job_is_allowed_by_several_rules_that_cover_its_systems_together() -> None:
    rules = """\
  - {name: w, who: anna, functions: 'state.*', target: 'web*'}
  - {name: d, who: 'group:web', functions: '*.apply', target: 'db*'}
"""
    assert judge(rules, "web1", "db1").rule == "w, d"
    said = judge(rules, "web1", "db1", "mail1")
    assert said.outside == ("mail1",)


@pytest.mark.parametrize(
    ("who", "is_meant"),
    [
        ("anna", True),
        ("an*", True),
        ("role:operator", True),
        ("group:w*", True),
        ("*", True),
        ("Anna", False),
        ("role:viewer", False),
        ("group:anna", False),
        ("web", False),
        ("operator", False),
    ],
)
def test_who_is_meant_by_a_rule(who: str, is_meant: bool) -> None:
    assert judge(f"  - {{who: '{who}', functions: '*'}}", "web1").allowed is is_meant


@pytest.mark.parametrize(
    ("only", "more", "verdict"),
    [
        ("test", {"test": True}, Verdict.ALLOWED),
        ("test", {}, Verdict.DENIED),
        ("{window: now}", {}, Verdict.ALLOWED),
        ("{window: never}", {}, Verdict.DENIED),
        ("{window: [never, now]}", {}, Verdict.ALLOWED),
        ("approval", {}, Verdict.NEEDS_APPROVAL),
        ("approval", {"approved_by": ("anna",)}, Verdict.NEEDS_APPROVAL),  # not by who asks
        ("approval", {"approved_by": ("joe",)}, Verdict.ALLOWED),
        ("{approval: 2}", {"approved_by": ("joe", "joe")}, Verdict.NEEDS_APPROVAL),
        ("{approval: 2}", {"approved_by": ("joe", "eve")}, Verdict.ALLOWED),
        ("{approval: 1, window: never}", {}, Verdict.NEEDS_APPROVAL),  # may be asked for beforehand
        ("{approval: 1, window: never}", {"approved_by": ("joe",)}, Verdict.DENIED),
        ("{approval: 1, test: true}", {}, Verdict.DENIED),
        ("[test, approval]", {}, Verdict.NEEDS_APPROVAL),
        ("[test, approval]", {"test": True}, Verdict.ALLOWED),
        ("[test, {window: never}]", {}, Verdict.DENIED),
        ("[{approval: 3}, {approval: 2}]", {}, Verdict.NEEDS_APPROVAL),
    ],
)
def test_conditions(only: str, more: dict[str, Any], verdict: Verdict) -> None:
    said = judge(
        f"  - {{who: anna, functions: '*', only: {only}}}\n  - {{who: anna, functions: '*'}}", "web1", **more
    )
    assert said.verdict is verdict
    assert said.allowed or said.fix


def test_the_rule_that_asks_for_most_approvals_counts() -> None:
    rules = """\
  - {name: w, who: anna, functions: '*', target: 'web*', only: approval}
  - {name: d, who: anna, functions: '*', target: 'db*', only: {approval: 2}}
"""
    said = judge(rules, "web1", "db1")
    assert (said.approvals, said.rule, said.code) == (2, "d", "needs-approval")


def test_a_rule_whose_target_cannot_be_read_denies() -> None:
    rules = """\
  - {name: b, who: anna, functions: '*', target: broken, deny: true}
  - {name: a, who: anna, functions: '*'}
"""
    said = judge(rules, "web1")
    assert not said.allowed and "no group is called 'broken'" in said.why


def test_a_job_without_systems_is_denied_to_who_may_reach_none() -> None:
    assert not judge("  []").allowed
    assert not judge("  - {who: anna, functions: '*', deny: true}").allowed
    assert judge("  - {who: anna, functions: '*', target: 'web*'}").allowed


def test_who_may_run_it_may_cancel_it_at_any_time() -> None:
    rules = "  - {who: anna, functions: 'state.*', target: 'web*', only: {window: never, approval: 2}}"
    assert judge(rules, "web1", action="jobs.cancel").allowed
    assert not judge(rules, "db1", action="jobs.cancel").allowed


@pytest.mark.parametrize("action", [name for name, row in ACTIONS.items() if row.roles])
@pytest.mark.parametrize("role", ["viewer", "operator", "approver", "admin"])
def test_roles_decide_other_actions(action: str, role: str) -> None:
    who = Principal(name="joe", roles=(role,))
    said = decide(Policy(), who, Request(action=action), glob, NIGHT)
    assert said.allowed is (role in ACTIONS[action].roles)
    assert said.allowed or "ask an admin" in said.fix


def test_an_action_that_does_not_exist_is_denied_to_everyone() -> None:
    admin = Principal(name="root", roles=("admin",))
    assert not decide(Policy(), admin, Request(action="jobs.sumbit"), glob, NIGHT).allowed


def test_the_policy_gives_roles_to_names_and_groups() -> None:
    policy, _ = read_policy("roles: {admin: ['group:oidc:sre'], viewer: ['oidc:*']}")
    sre = Principal(name="oidc:joe", groups=("oidc:sre",))
    assert roles_of(policy, sre) == ("viewer", "admin")
    assert roles_of(policy, Principal(name="joe", groups=("sre",))) == ()


SYSTEMS = ("web1", "web2", "db1")
FUNCTIONS = ("state.apply", "test.ping", "cmd.run")
conditions = st.builds(
    Condition,
    test=st.booleans(),
    windows=st.sampled_from([(), ("now",), ("never",)]),
    approvals=st.integers(0, 2),
)
rules = st.builds(
    Rule,
    name=st.sampled_from(["one", "two", "three"]),
    who=st.lists(st.sampled_from(["anna", "role:operator", "group:web", "eve", "*"]), min_size=1).map(tuple),
    functions=st.lists(st.sampled_from(["*", "state.*", "test.ping", "cmd.run"]), min_size=1).map(tuple),
    target=st.sampled_from(["*", "web*", "db*", "web1", "mail*"]),
    only=st.lists(conditions, max_size=2).map(tuple),
    deny=st.booleans(),
)
policies = st.lists(rules, max_size=6).map(
    lambda some: Policy(
        rules=tuple(some),
        windows={"now": (read_window("00:00-24:00"),), "never": (read_window("mon 00:00-00:01"),)},
    )
)
people = st.builds(
    Principal,
    name=st.sampled_from(["anna", "joe"]),
    roles=st.sampled_from([(), ("operator",), ("viewer",), ("admin",)]),
    groups=st.sampled_from([(), ("web",)]),
)
requests = st.builds(
    Request,
    action=st.sampled_from(sorted(ACTIONS)),
    function=st.sampled_from(FUNCTIONS),
    systems=st.sets(st.sampled_from(SYSTEMS)).map(lambda some: tuple(sorted(some))),
    test=st.booleans(),
    approved_by=st.sampled_from([(), ("eve",), ("eve", "joe"), ("anna",)]),
)
RANK = {Verdict.DENIED: 0, Verdict.NEEDS_APPROVAL: 1, Verdict.ALLOWED: 2}


def rank(policy: Policy, who: Principal, request: Request) -> int:
    return RANK[decide(policy, who, request, glob, NIGHT).verdict]


@given(policies, people, requests, rules, st.data())
def test_another_rule_that_denies_never_allows_more(
    policy: Policy, who: Principal, request: Request, rule: Rule, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(policy.rules)))
    denies = replace(rule, deny=True, only=())
    more = replace(policy, rules=(*policy.rules[:place], denies, *policy.rules[place:]))
    assert rank(more, who, request) <= rank(policy, who, request)


@given(policies, people, requests, rules)
def test_a_rule_behind_one_for_everything_changes_nothing(
    policy: Policy, who: Principal, request: Request, rule: Rule
) -> None:
    closed = replace(policy, rules=(*policy.rules, Rule(name="end", who=("*",), functions=("*",), deny=True)))
    behind = replace(closed, rules=(*closed.rules, rule))
    assert decide(closed, who, request, glob, NIGHT) == decide(behind, who, request, glob, NIGHT)


@given(policies, people, requests, st.lists(st.sampled_from(["*", "jobs.*", "jobs.submit:test.*", "x"])))
def test_a_scope_never_widens(policy: Policy, who: Principal, request: Request, scopes: list[str]) -> None:
    narrowed = replace(who, scopes=tuple(scopes))
    assert rank(policy, narrowed, request) <= rank(policy, who, request)


@given(policies, people, requests, rules)
def test_a_job_is_allowed_exactly_if_each_of_its_systems_is(
    policy: Policy, who: Principal, request: Request, rule: Rule
) -> None:
    if not request.systems:
        return
    each = [rank(policy, who, replace(request, systems=(one,))) for one in request.systems]
    assert rank(policy, who, request) == min(each)


@given(policies, people, requests)
def test_the_systems_outside_are_those_that_are_denied_alone(
    policy: Policy, who: Principal, request: Request
) -> None:
    said = decide(policy, who, request, glob, NIGHT)
    if not ACTIONS[request.action].by_rules or said.verdict is not Verdict.DENIED:
        assert said.outside == ()
        return
    alone = {one for one in request.systems if not rank(policy, who, replace(request, systems=(one,)))}
    assert set(said.outside) == alone


@given(policies, people, requests)
def test_more_approvals_never_allow_less(policy: Policy, who: Principal, request: Request) -> None:
    more = replace(request, approved_by=(*request.approved_by, "mona"))
    before, after = rank(policy, who, request), rank(policy, who, more)
    assert after >= before or before == RANK[Verdict.NEEDS_APPROVAL]  # the window is asked for last
