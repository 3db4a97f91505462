"""Approval: asked for, given by others, bound to exactly what was asked for, and used once."""

from __future__ import annotations

import threading
from collections.abc import Collection

import pytest
from msgspec import json
from sqlalchemy import select
from tests.fleet.access.test_accounts import NOW, code

from saltern.fleet.access.approvals import LIFE, Work, work_of
from saltern.fleet.access.ports import Decision, Principal, Request, Verdict
from saltern.fleet.access.service import Access
from saltern.fleet.store import audit
from saltern.fleet.store.database import Database
from saltern.fleet.store.tables import EVENTS
from saltern.language.diagnostics import OperationError

ANNA = Principal(name="anna", roles=("operator",))
JOE, EVE = (Principal(name=name, roles=("approver",)) for name in ("joe", "eve"))
POLICY = """\
rules:
  - {name: prod, who: anna, functions: state.*, target: '*', only: {approval: 2}}
"""
JOB = Request(action="jobs.submit", function="state.apply", systems=("web2", "web1"))


def work(*args: object, target: str = "web*", **kwargs: object) -> Work:
    return work_of(target, args, kwargs, shown={"args": list(args), "kwargs": dict.fromkeys(kwargs, "…")})


def everything(target: str, systems: Collection[str]) -> Collection[str]:
    return systems if target else ()


@pytest.fixture(autouse=True)
def policy(access: Access) -> None:
    access.policies.edit(POLICY, who="root", now=NOW)


def ask(access: Access, request: Request = JOB, asked: Work | None = None, now: float = NOW) -> Decision:
    return access.permit(ANNA, request, asked or work("web"), everything, now)


def the_request(access: Access) -> str:
    (found,) = access.approvals.list(NOW, "open")
    return found.id


def approve(access: Access, *voters: Principal, now: float = NOW) -> str:
    id_ = the_request(access)
    for who in voters:
        access.approvals.vote(who, id_, approves=True, now=now)
    return id_


def test_what_needs_approval_is_asked_for_once_and_then_runs_once(access: Access) -> None:
    first, again = ask(access), ask(access)
    assert first.verdict is again.verdict is Verdict.NEEDS_APPROVAL
    id_ = approve(access, JOE)
    assert f"request {id_} has 1 of 2" in ask(access).why
    access.approvals.vote(EVE, id_, approves=True, now=NOW + 1)
    allowed = ask(access)
    assert allowed.allowed and allowed.rule == f"prod (request {id_}, approved by joe, eve)"
    assert ask(access).verdict is Verdict.NEEDS_APPROVAL
    assert the_request(access) != id_


def test_requests_and_votes_are_events_without_arguments(access: Access, database: Database) -> None:
    ask(access, asked=work("hunter2"))
    id_ = approve(access, JOE, EVE)
    with database.read() as connection:
        rows = connection.execute(select(EVENTS.c.tag, EVENTS.c.data).order_by(EVENTS.c.number)).all()
    assert [one.tag for one in rows] == [f"saltern/approval/{id_}"] * 3
    assert [json.decode(one.data)["status"] for one in rows] == ["open", "open", "approved"]
    assert "hunter2" not in str(rows)


def test_an_approval_is_for_exactly_what_was_asked_for(access: Access) -> None:
    ask(access, asked=work("web", pillar={"a": 1}))
    approve(access, JOE, EVE)
    others = [
        (JOB, work("db", pillar={"a": 1})),
        (JOB, work("web", pillar={"a": 2})),
        (JOB, work("web")),
        (Request(action="jobs.submit", function="state.highstate", systems=JOB.systems), None),
        (Request(action="jobs.submit", function="state.apply", systems=("web1", "web3")), None),
        (Request(action="jobs.submit", function="state.apply", systems=("web1", "web2", "web3")), None),
        (Request(action="jobs.submit", function="state.apply", systems=JOB.systems, test=True), None),
    ]
    for request, asked in others:
        said = access.permit(ANNA, request, asked or work("web", pillar={"a": 1}), everything, NOW)
        assert said.verdict is Verdict.NEEDS_APPROVAL
    assert ask(access, asked=work("web", pillar={"a": 1}, target="L@web1,web2")).allowed  # the same systems


def test_who_asks_does_not_approve_and_each_person_counts_once(access: Access) -> None:
    ask(access)
    id_ = the_request(access)
    both = Principal(name="anna", roles=("approver", "admin"))
    for who, says in ((both, "approval-own"), (Principal(name="max", roles=("operator",)), "not-allowed")):
        with pytest.raises(OperationError) as refused:
            access.approvals.vote(who, id_, approves=True, now=NOW)
        assert code(refused) == says
    access.approvals.vote(JOE, id_, approves=True, now=NOW)
    with pytest.raises(OperationError) as refused:
        access.approvals.vote(JOE, id_, approves=True, now=NOW)
    assert code(refused) == "approval-voted"
    assert not ask(access).allowed


def test_one_rejection_ends_a_request(access: Access) -> None:
    ask(access)
    id_ = approve(access, JOE)
    assert access.approvals.vote(EVE, id_, approves=False, why="freeze", now=NOW).state == "rejected"
    with pytest.raises(OperationError) as refused:
        access.approvals.vote(Principal(name="kim", roles=("admin",)), id_, approves=True, now=NOW)
    assert code(refused) == "approval-state"
    assert not ask(access).allowed


def test_a_request_that_was_not_used_in_time_is_worth_nothing(access: Access) -> None:
    ask(access)
    id_ = approve(access, JOE, EVE)
    assert not ask(access, now=NOW + LIFE).allowed
    (one,) = [found for found in access.approvals.list(NOW + LIFE) if found.id == id_]
    assert one.state == "expired"
    with pytest.raises(OperationError):
        access.approvals.vote(JOE, "nothing", approves=True, now=NOW)


def test_an_approval_does_not_help_against_a_rule_that_came_since(access: Access) -> None:
    ask(access)
    approve(access, JOE, EVE)
    access.policies.edit("rules: [{who: '*', functions: '*', deny: true}]", who="root", now=NOW)
    assert ask(access).verdict is Verdict.DENIED
    access.policies.edit(POLICY.replace("approval: 2", "approval: 3"), who="root", now=NOW)
    assert ask(access).verdict is Verdict.NEEDS_APPROVAL


def test_of_two_that_use_an_approval_at_once_one_runs(access: Access) -> None:
    ask(access)
    approve(access, JOE, EVE)
    said: list[bool] = []
    threads = [threading.Thread(target=lambda: said.append(ask(access).allowed)) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(said) == [*[False] * 5, True]


def test_every_step_is_audited_without_arguments(access: Access, database: Database) -> None:
    ask(access, asked=work("web", password="hunter2"))
    approve(access, JOE, EVE)
    ask(access, asked=work("web", password="hunter2"))
    with database.read() as connection:
        entries = list(audit.entries(connection))
        shown = repr(access.approvals.list(NOW))
    steps = [one.action for one in entries if one.action.startswith("approvals.")]
    assert steps == ["approvals.ask", "approvals.approve", "approvals.approve", "approvals.use"]
    assert "hunter2" not in repr(entries) + shown
