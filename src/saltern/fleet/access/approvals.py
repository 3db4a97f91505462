"""Requests for approval: made by people who may not act alone, decided by others, used by running the job
again.

The arguments of a job may hold secrets, so a request keeps their digest and the part that people may see. It
is bound to exactly this function, these arguments and these systems, and can be used once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from secrets import token_hex

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.access.decide import decide
from saltern.fleet.access.policies import Policies
from saltern.fleet.access.ports import Decision, Matcher, Principal, Request, Verdict
from saltern.fleet.store import approvals as store
from saltern.fleet.store import audit
from saltern.fleet.store.approvals import APPROVED, OPEN, REJECTED, USED, Approval, Vote
from saltern.fleet.store.database import Database, Transaction
from saltern.fleet.store.events import NewEvent, store_events
from saltern.language.diagnostics import Diagnostic, OperationError

LIFE = 86400.0  # seconds in which a request is decided and used
MOST_OPEN = 50  # requests of one person that wait for a decision


class Work(Struct, frozen=True, kw_only=True):
    """What a job would do. ``shown`` are its arguments as people may see them: without secrets."""

    target: str
    digest: str
    shown: dict[str, object] = {}


def work_of(
    target: str,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    *,
    environment: str = "base",
    tree: str = "",
    shown: Mapping[str, object],
) -> Work:
    """The work of a job, with the digest of all that it does."""
    text = msgspec.json.encode([list(args), dict(kwargs), environment, tree], order="deterministic")
    return Work(target=target, digest=hashlib.sha256(text).hexdigest(), shown=dict(shown))


class Approvals:
    def __init__(self, database: Database, policies: Policies) -> None:
        self.database, self.policies = database, policies

    def permit(self, who: Principal, request: Request, work: Work, matcher: Matcher, now: float) -> Decision:
        """Decide on a job. If it needs approval, make a request; if it was approved, allow it once."""
        policy = self.policies.current()
        decision = decide(policy, who, request, matcher, now)
        if decision.verdict is not Verdict.NEEDS_APPROVAL:
            return decision
        digest = _digest(request, work)
        with self.database.write() as connection:
            store.lock_approvals(connection)
            found = store.current_approval(connection, who.name, digest, now)
            if found is None:
                found = self._ask(connection, who, request, work, decision, now)
        if found.state != APPROVED:
            return _waiting_decision(decision, found)
        approved = replace(request, approved_by=found.approved_by)
        decision = decide(policy, who, approved, matcher, now)
        if decision.verdict is Verdict.NEEDS_APPROVAL:
            return _waiting_decision(decision, found)
        if not decision.allowed:
            return decision
        if not self._use(who, found, now):  # another call used it first: make a new request
            return self.permit(who, request, work, matcher, now)
        by = ", ".join(found.approved_by)
        return replace(decision, rule=f"{decision.rule} (request {found.id}, approved by {by})"[:255])

    def _ask(
        self,
        connection: Transaction,
        who: Principal,
        request: Request,
        work: Work,
        decision: Decision,
        now: float,
    ) -> Approval:
        if store.count_open(connection, who.name, now) >= MOST_OPEN:
            what = f"{MOST_OPEN} requests of {who.name} already wait for approval"
            raise _refusal("approvals-too-many", what, "have some of them approved or rejected first")
        made = Approval(
            id=token_hex(4),
            asked_by=who.name,
            asked_at=now,
            expires=now + LIFE,
            function=request.function,
            target=work.target,
            systems=tuple(sorted(request.systems)),
            shown={**work.shown, "test": request.test},
            digest=_digest(request, work),
            rule=decision.rule,
            needed=decision.approvals,
        )
        store.add_approval(connection, made)
        audit.append(connection, who.name, "approvals.ask", _detail(made), now)
        _announce(connection, made, now)
        return made

    def _use(self, who: Principal, found: Approval, now: float) -> bool:
        with self.database.write() as connection:
            is_ours = store.change_state(connection, found.id, APPROVED, USED)
            if is_ours:
                audit.append(connection, who.name, "approvals.use", _detail(found), now)
        return is_ours

    def vote(self, who: Principal, id_: str, *, approves: bool, why: str = "", now: float) -> Approval:
        """Approve or reject a request of another person."""
        with self.database.write() as connection:
            found = _open(store.approval(connection, id_, now), id_)
            _check_voter(who, found)
            store.vote(connection, id_, Vote(who=who.name, approves=approves, at=now, why=why))
            action = "approvals.approve" if approves else "approvals.reject"
            audit.append(connection, who.name, action, {**_detail(found), "why": why}, now)
            after = _state(found, approves)
            if after != OPEN:
                store.change_state(connection, id_, OPEN, after)
            decided = store.approval(connection, id_, now)
            assert decided is not None
            _announce(connection, decided, now)
        return decided

    def list(self, now: float, state: str = "") -> list[Approval]:
        with self.database.read() as connection:
            return store.approvals(connection, now, state=state)


def _digest(request: Request, work: Work) -> str:
    parts = [request.function, sorted(request.systems), request.test, work.digest]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _detail(one: Approval) -> dict[str, object]:
    return {"request": one.id, "function": one.function, "target": one.target, "systems": len(one.systems)}


def _announce(connection: Transaction, one: Approval, now: float) -> None:
    """An event for those who follow: without the arguments, which may hold secrets."""
    data = {**_detail(one), "status": one.state, "asked_by": one.asked_by}
    store_events(connection, [NewEvent(tag=f"saltern/approval/{one.id}", data=data, at=now)])


def _state(found: Approval, approves: bool) -> str:
    if not approves:
        return REJECTED
    return APPROVED if len(found.approved_by) + 1 >= found.needed else OPEN


def _open(found: Approval | None, id_: str) -> Approval:
    if found is None:
        raise _refusal("approval-unknown", f"there is no request {id_!r}", "saltern approvals lists them")
    if found.state != OPEN:
        what = f"the request {id_} is {found.state}, and can no longer be decided"
        raise _refusal("approval-state", what, "run the command again to make a new request")
    return found


def _check_voter(who: Principal, found: Approval) -> None:
    if who.name == found.asked_by:
        what = f"{who.name} made the request, and another person has to decide"
        raise _refusal("approval-own", what, "ask someone with the role approver")
    if not who.has("approver"):
        raise _refusal("not-allowed", f"{who.name} may not decide requests", "it needs the role approver")
    if any(vote.who == who.name for vote in found.votes):
        raise _refusal(
            "approval-voted", f"{who.name} has already decided on {found.id}", "another person is needed"
        )


def _waiting_decision(decision: Decision, found: Approval) -> Decision:
    got = len(found.approved_by)
    why = f"{decision.why}: request {found.id} has {got} of {decision.approvals or found.needed}"
    fix = f"saltern approvals approve {found.id}, by another person; then run the same command again"
    return replace(decision, why=why, fix=fix, outside=())


def _refusal(code: str, what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code=code, what=what, fix=fix))
