"""Operators, their API tokens, the policy, and requests for approval."""

from __future__ import annotations

from msgspec import convert

from saltern.fleet.access.ports import Request
from saltern.fleet.api.access_shapes import (
    ApiTokenAnswer,
    ApiTokenBody,
    ApiTokenMade,
    ApprovalAnswer,
    ApprovalsQuery,
    ExplainAnswer,
    ExplainBody,
    OperatorAnswer,
    OperatorBody,
    OperatorChange,
    PasswordBody,
    PolicyAnswer,
    PolicyBody,
    StepAnswer,
    VoteBody,
)
from saltern.fleet.api.call import Call
from saltern.fleet.api.handlers.sessions import make_token_for, tokens_of
from saltern.fleet.api.pages import MOST, Page, PageQuery, cut_page
from saltern.fleet.api.problems import unknown
from saltern.fleet.api.route import NoQuery
from saltern.fleet.store import operators as store
from saltern.fleet.store.operators import Operator
from saltern.fleet.store.policies import policy_versions


async def list_operators(call: Call[PageQuery, None]) -> Page[OperatorAnswer]:
    """Operators by name."""
    found = [_answer(row) for row in await call.read(store.operators)]
    return cut_page(found, call.query, lambda one: one.name)


async def get_operator(call: Call[NoQuery, None]) -> OperatorAnswer:
    """One operator."""
    found = await call.read(store.operator, call.path["operator"])
    if found is None:
        raise unknown("operator", call.path["operator"])
    return _answer(found)


async def add_operator(call: Call[NoQuery, OperatorBody]) -> OperatorAnswer:
    """Add an operator."""
    ask = call.body
    one = Operator(name=ask.name, roles=tuple(ask.roles), groups=tuple(ask.groups), note=ask.note)
    made = await call.ask(call.desk.access.accounts.add, call.who, one, ask.password, call.desk.now())
    return _answer(made)


async def change_operator(call: Call[NoQuery, OperatorChange]) -> OperatorAnswer:
    """Change roles and groups of an operator, or disable them."""
    ask = call.body
    changed = await call.ask(
        call.desk.access.accounts.change,
        call.who,
        call.path["operator"],
        call.desk.now(),
        roles=None if ask.roles is None else tuple(ask.roles),
        groups=None if ask.groups is None else tuple(ask.groups),
        disabled=ask.disabled,
    )
    return _answer(changed)


async def remove_operator(call: Call[NoQuery, None]) -> None:
    """Remove an operator with their sessions and API tokens."""
    await call.ask(call.desk.access.accounts.remove, call.who, call.path["operator"], call.desk.now())


async def set_password(call: Call[NoQuery, PasswordBody]) -> None:
    """Set the password of an operator; their sessions end."""
    accounts, name = call.desk.access.accounts, call.path["operator"]
    await call.ask(accounts.set_password, call.who, name, call.body.password, call.desk.now())


async def list_operator_tokens(call: Call[PageQuery, None]) -> Page[ApiTokenAnswer]:
    """Sessions and API tokens of an operator."""
    return await tokens_of(call, call.path["operator"])


async def make_operator_token(call: Call[NoQuery, ApiTokenBody]) -> ApiTokenMade:
    """Make an API token for an operator. It is shown only now."""
    return await make_token_for(call, call.path["operator"])


async def remove_operator_token(call: Call[NoQuery, None]) -> None:
    """Remove a session or an API token of an operator."""
    accounts, path = call.desk.access.accounts, call.path
    await call.ask(accounts.remove_token, call.who, path["token"], call.desk.now(), operator=path["operator"])


async def get_policy(call: Call[NoQuery, None]) -> PolicyAnswer:
    """The policy in force."""
    return convert(await call.ask(call.desk.access.policies.version), PolicyAnswer, from_attributes=True)


async def list_policies(call: Call[PageQuery, None]) -> Page[PolicyAnswer]:
    """Versions of the policy, the oldest first."""
    rows = await call.read(policy_versions, limit=MOST)
    found = [convert(row, PolicyAnswer, from_attributes=True) for row in rows]
    return cut_page(found, call.query, lambda one: f"{one.version:012d}")


async def set_policy(call: Call[NoQuery, PolicyBody]) -> PolicyAnswer:
    """Replace the policy."""
    ask, policies = call.body, call.desk.access.policies
    made = await call.ask(policies.edit, ask.text, who=call.who.name, now=call.desk.now(), after=ask.after)
    return convert(made, PolicyAnswer, from_attributes=True)


async def explain_policy(call: Call[NoQuery, ExplainBody]) -> ExplainAnswer:
    """What the policy would decide on a job, and what each rule says."""
    ask, access = call.body, call.desk.access
    systems = await call.desk.fleet.resolve(ask.target)
    who = await call.ask(access.sessions.person, ask.who, tuple(ask.roles), tuple(ask.groups))
    request = Request(action="jobs.submit", function=ask.function, systems=tuple(systems), test=ask.test)
    decision, steps = await call.ask(access.explain, who, request, call.desk.fleet.match, call.desk.now())
    return ExplainAnswer(
        verdict=decision.verdict.value,
        rule=decision.rule,
        why=decision.why,
        fix=decision.fix,
        outside=[*decision.outside],
        roles=[*who.roles],
        steps=[convert(step, StepAnswer, from_attributes=True) for step in steps],
    )


async def list_approvals(call: Call[ApprovalsQuery, None]) -> Page[ApprovalAnswer]:
    """Requests for approval, the oldest first."""
    approvals = call.desk.access.approvals
    rows = await call.ask(approvals.list, call.desk.now(), state=call.query.state)
    found = [convert(row, ApprovalAnswer, from_attributes=True) for row in rows]
    return cut_page(found, call.query, lambda one: f"{one.asked_at:020.6f} {one.id}")


async def approve(call: Call[NoQuery, VoteBody]) -> ApprovalAnswer:
    """Approve a request of another person."""
    return await _vote(call, approves=True)


async def reject(call: Call[NoQuery, VoteBody]) -> ApprovalAnswer:
    """Reject a request of another person."""
    return await _vote(call, approves=False)


async def _vote(call: Call[NoQuery, VoteBody], *, approves: bool) -> ApprovalAnswer:
    approvals, id_ = call.desk.access.approvals, call.path["approval"]
    found = await call.ask(
        approvals.vote, call.who, id_, approves=approves, why=call.body.why, now=call.desk.now()
    )
    return convert(found, ApprovalAnswer, from_attributes=True)


def _answer(row: Operator) -> OperatorAnswer:
    return convert(row, OperatorAnswer, from_attributes=True)
