"""Why the policy decides as it does: the steps add up to the decision."""

from __future__ import annotations

from hypothesis import given
from tests.fleet.access.test_decide import ANNA, NIGHT, glob, people, policies, requests

from saltern.fleet.access.decide import decide
from saltern.fleet.access.document import read_policy
from saltern.fleet.access.explain import explain
from saltern.fleet.access.policy import Policy
from saltern.fleet.access.ports import Principal, Request, Verdict


def test_each_rule_says_what_it_decides_or_why_it_does_not() -> None:
    policy, _ = read_policy("""\
rules:
  - {name: others, who: joe, functions: '*'}
  - {name: ping, who: anna, functions: test.*}
  - {name: mail, who: anna, functions: state.*, target: 'mail*'}
  - {name: db, who: anna, functions: state.*, target: 'db*', deny: true}
  - {name: web, who: anna, functions: state.*, target: 'web*', only: test}
""")
    request = Request(action="jobs.submit", function="state.apply", systems=("web1", "db1", "ldap1"))
    decision, steps = explain(policy, ANNA, request, glob, NIGHT)
    assert decision.outside == ("db1", "ldap1", "web1")
    assert [(one.rule, one.systems) for one in steps] == [
        ("others", ()),
        ("ping", ()),
        ("mail", ()),
        ("db", ("db1",)),
        ("web", ("web1",)),
        ("admin (built in)", ()),
        ("", ("ldap1",)),
    ]
    said = [one.says for one in steps]
    assert said[0] == "is about joe, not about anna"
    assert said[1] == "is about test.*, not about state.apply"
    assert said[2] == "is about 'mail*', which matches none of the remaining systems"
    assert said[4] == "denies it: rule 'web' allows it only as a test"


@given(policies, people, requests)
def test_every_system_is_decided_by_one_step(policy: Policy, who: Principal, request: Request) -> None:
    job = Request(
        action="jobs.submit",
        function=request.function,
        systems=request.systems,
        test=request.test,
        approved_by=request.approved_by,
    )
    decision, steps = explain(policy, who, job, glob, NIGHT)
    decided = [system for step in steps for system in step.systems]
    assert sorted(decided) == sorted(job.systems)
    assert decision == decide(policy, who, job, glob, NIGHT)
    if decision.verdict is Verdict.ALLOWED and job.systems:
        assert all(step.says == "allows it" for step in steps if step.systems)
