"""Gates: what must be approved before a run, a stage or a wave begins.

An approval is bound to the digest of the plan, is never the author's own, and counts only in time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from saltern.fleet.callbacks.occurrences import Occurrence, name_of
from saltern.fleet.chains.events import Closed, Event, Opened, Tick
from saltern.fleet.chains.rollout import GateAsk
from saltern.fleet.controller.callbacks import notify
from saltern.fleet.controller.chains import revisions
from saltern.fleet.controller.chains.decisions import Decisions, UnknownRun
from saltern.fleet.store import audit, chain_gates, chain_runs
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, store_events
from saltern.language.diagnostics import Diagnostic, OperationError

TIME_IS_OVER = "its time is over"
OWN = "the person who started a run cannot approve it"


class Voter(Struct, frozen=True):
    """The voter, and their groups."""

    name: str
    groups: tuple[str, ...] = ()


class Ballot(Struct, frozen=True, kw_only=True):
    """``plan_sha256`` is the plan that the voter has seen."""

    approves: bool
    plan_sha256: str
    why: str = ""


def add(connection: Connection, run: str, asked: Mapping[str, GateAsk], digest: str, now: float) -> None:
    """Store the gates of a new run."""
    rows: list[dict[str, Any]] = [
        {
            "run": run,
            "name": name,
            "place": name,
            "needed": gate.needed,
            "of": gate.of,
            "status": chain_gates.OPEN,
            "plan_sha256": digest,
            "opened": now,
            "expires": now + gate.life,
            "otherwise": gate.otherwise,
        }
        for name, gate in asked.items()
    ]
    chain_gates.add_gates(connection, rows)
    for name in asked:
        announce(connection, run, name, chain_gates.OPEN, now, needed=asked[name].needed, of=asked[name].of)


def announce(
    connection: Connection, run: str, gate: str, status: str, now: float, *, why: str = "", **more: object
) -> None:
    """Report the decision on a gate to followers and subscribers."""
    data = {"gate": gate, "status": status, "why": why, **more}
    tag = f"saltern/chain/{run}/gate/{gate.replace(' ', '-')}"
    store_events(connection, [NewEvent(tag=tag, data={"run": run, **data}, at=now)])
    notify(connection, run, [Occurrence(name=name_of("gate", status), data=data)], now)


def cast(connection: Connection, who: Voter, run: str, gate: str, vote: Ballot, now: float) -> str:
    """Count a vote; return the new status of the gate. An invalid vote is refused with a reason."""
    chain_runs.lock_run(connection, run)
    row, found = chain_runs.run_row(connection, run), chain_gates.gate_row(connection, run, gate)
    if row is None:
        raise UnknownRun(run)
    votes = chain_gates.vote_rows(connection, run, gate)
    if problem := refusal(who, row["author"], found, votes, vote, now):
        fix = "ask another operator to vote" if problem == OWN else ""
        raise OperationError(
            Diagnostic(code="chain-gate", what=f"gate {gate!r} of {run}: {problem}", fix=fix)
        )
    assert found is not None
    new = {"run": run, "gate": gate, "who": who.name, "approves": vote.approves, "at": now, "why": vote.why}
    chain_gates.add_vote(connection, {**new, "plan_sha256": vote.plan_sha256})
    detail = {"run": run, "gate": gate, "approves": vote.approves, "why": vote.why}
    audit.append(connection, who.name, "chain.vote", detail, now)
    approvals = sum(one["approves"] for one in votes) + vote.approves
    return _settle(connection, run, found, approvals, vote, now)


def refusal(
    who: Voter, author: str, gate: Mapping[str, Any] | None, votes: list[Any], vote: Ballot, now: float
) -> str:
    """Why a vote does not count; empty if it does. Pure."""
    if gate is None:
        return "there is no such gate"
    rows = (
        (gate["status"] != chain_gates.OPEN, f"it is already {gate['status']}"),
        (gate["expires"] is not None and gate["expires"] <= now, TIME_IS_OVER),
        (who.name == author, OWN),
        (bool(gate["of"]) and gate["of"] not in who.groups, f"only members of {gate['of']!r} vote on it"),
        (gate["plan_sha256"] != vote.plan_sha256, "the vote is for another plan"),
        (any(one["who"] == who.name for one in votes), "a person votes once"),
    )
    return next((why for wrong, why in rows if wrong), "")


def _settle(
    connection: Connection, run: str, gate: Mapping[str, Any], approvals: int, vote: Ballot, now: float
) -> str:
    """Open or close the gate if the vote decides it."""
    if vote.approves and approvals < gate["needed"]:
        return chain_gates.OPEN
    name = gate["name"]
    status = chain_gates.APPROVED if vote.approves else chain_gates.REJECTED
    chain_gates.close_gate(connection, run, name, status, now)
    if name.startswith(revisions.GATE):
        revisions.close(connection, run, name, approved=vote.approves, expired=False, now=now)
        return status
    why = f"gate {name!r} was rejected{f': {vote.why}' if vote.why else ''}"
    event: Event = Opened(now=now, gate=name) if vote.approves else Closed(now=now, gate=name, why=why)
    Decisions().decide(connection, run, lambda _run: [event])
    announce(connection, run, name, status, now, why=vote.why)
    return status


def expire(connection: Connection, run: str, gate: str, now: float) -> Event:
    """Close an expired gate, or open it if it is configured so; return the event for its run."""
    found = chain_gates.gate_row(connection, run, gate)
    if found is not None and found["otherwise"] == "approve":
        chain_gates.close_gate(connection, run, gate, chain_gates.APPROVED, now)
        announce(connection, run, gate, chain_gates.APPROVED, now, why=TIME_IS_OVER)
        return Opened(now=now, gate=gate)
    chain_gates.close_gate(connection, run, gate, chain_gates.EXPIRED, now)
    announce(connection, run, gate, chain_gates.EXPIRED, now)
    if gate.startswith(revisions.GATE):  # nothing else waits for it
        revisions.close(connection, run, gate, approved=False, expired=True, now=now)
        return Tick(now=now)
    return Closed(now=now, gate=gate, why=f"gate {gate!r} was not approved in time")
