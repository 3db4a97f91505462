"""What waits for a person: gates of runs, requests for approval, halted runs, keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saltern.fleet.access.ports import ACTIONS, Principal
from saltern.fleet.api.call import Call
from saltern.fleet.api.console_shapes import InboxAnswer, InboxCount, WaitingAnswer
from saltern.fleet.api.route import NoQuery
from saltern.fleet.store import approvals, inbox
from saltern.fleet.store.approvals import Approval
from saltern.fleet.store.database import Connection

LATELY = 30 * 86_400.0  # seconds for which a leg whose end is unknown is listed


async def list_inbox(call: Call[NoQuery, None]) -> InboxAnswer:
    """All that waits for a decision of a person, the oldest first."""
    now = call.desk.now()
    items, keys = await call.read(_waiting_answers, call.who, now)
    items.sort(key=lambda one: one.since)
    return InboxAnswer(items=items, yours=sum(one.yours for one in items), keys=keys)


async def count_inbox(call: Call[NoQuery, None]) -> InboxCount:
    """How many things wait for a decision of a person: the number alone costs little."""
    now = call.desk.now()
    return InboxCount(waiting=await call.read(inbox.count_waiting, now, now - LATELY))


def _waiting_answers(connection: Connection, who: Principal, now: float) -> tuple[list[WaitingAnswer], int]:
    number, keys = inbox.pending_keys(connection)
    requests = approvals.approvals(connection, now, state=approvals.OPEN)
    items = [*_gates(connection, who, now), *_runs(connection, who, now)]
    items += [_key(name, since, number, who) for name, since in keys[:1]]
    items += [_request(one, who) for one in requests]
    return items, number


def _gates(connection: Connection, who: Principal, now: float) -> Iterator[WaitingAnswer]:
    """The first open gate of each run: later ones wait for it."""
    first: dict[str, dict[str, Any]] = {}
    for row in sorted(inbox.open_gates(connection, now), key=_wave):
        first.setdefault(row["run"], row)
    systems = inbox.leg_numbers(connection, [*first])
    yield from (_gate(row, _behind(row, systems.get(run, {})), who) for run, row in first.items())


def _behind(row: dict[str, Any], waves: dict[int, int]) -> int:
    """How many systems begin when a gate opens: those of its wave, or all of the run."""
    return waves.get(_wave(row) - 1, 0) if _wave(row) else sum(waves.values())


def _wave(row: dict[str, Any]) -> int:
    """The position of a gate in its run: the gate of the run itself comes before all waves."""
    number = str(row["name"]).removeprefix("wave ")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 0


def _gate(row: dict[str, Any], systems: int, who: Principal) -> WaitingAnswer:
    why_not = _not_of_gate(row, who)
    return WaitingAnswer(
        kind="gate",
        id=f"{row['run']}/{row['name']}",
        what=f"{row['chain']} version {row['version']}: {_place(row['name'])}",
        about=row["target"],
        run=row["run"],
        gate=row["name"],
        chain=row["chain"],
        asked_by=row["author"],
        since=row["opened"] or 0,
        until=row["expires"],
        needed=row["needed"],
        have=sum(one["approves"] for one in row["votes"]),
        of=row["of"],
        systems=systems,
        digest=row["plan_sha256"],
        yours=not why_not,
        why_not=why_not,
    )


def _place(gate: str) -> str:
    return "may it begin" if gate == "run" else f"may {gate} begin"


def _not_of_gate(row: dict[str, Any], who: Principal) -> str:
    """Why this person cannot decide a gate; empty if they can."""
    rows = (
        (not _has_role(who), "the role approver is needed"),
        (who.name == row["author"], "the person who started a run cannot approve it"),
        (bool(row["of"]) and row["of"] not in who.groups, f"only members of {row['of']} decide"),
        (any(one["who"] == who.name for one in row["votes"]), "you have voted"),
    )
    return next((why for wrong, why in rows if wrong), "")


def _has_role(who: Principal) -> bool:
    return any(role in who.roles for role in ACTIONS["approvals.decide"].roles)


def _request(one: Approval, who: Principal) -> WaitingAnswer:
    rows = (
        (not _has_role(who), "the role approver is needed"),
        (who.name == one.asked_by, "you made the request: another person must approve it"),
        (any(vote.who == who.name for vote in one.votes), "you have voted"),
    )
    why_not = next((why for wrong, why in rows if wrong), "")
    return WaitingAnswer(
        kind="approval",
        id=one.id,
        what=one.function,
        about=one.target,
        asked_by=one.asked_by,
        since=one.asked_at,
        until=one.expires,
        needed=one.needed,
        have=len(one.approved_by),
        of=one.rule,
        systems=len(one.systems),
        digest=one.digest,
        yours=not why_not,
        why_not=why_not,
    )


def _runs(connection: Connection, who: Principal, now: float) -> Iterator[WaitingAnswer]:
    may = who.has("operator")
    why_not = "" if may else "the role operator is needed"
    for row in inbox.still_runs(connection):
        yield WaitingAnswer(
            kind="run",
            id=row["id"],
            what=f"{row['chain']} {row['status']}",
            about=row["halted"] or "it waits for an operator to resume it",
            run=row["id"],
            chain=row["chain"],
            asked_by=row["author"],
            since=row["seen"] or row["created"],
            until=row["deadline"],
            yours=may,
            why_not=why_not,
        )
    for row in inbox.unknown_legs(connection, now - LATELY):
        yield WaitingAnswer(
            kind="leg",
            id=f"{row['run']}/{row['system']}",
            what=f"{row['chain']}: how a step ended is unknown",
            about=row["system"],
            run=row["run"],
            chain=row["chain"],
            since=row["since"] or 0,
            systems=row["systems"],
            yours=may,
            why_not=why_not,
        )


def _key(name: str, since: float, number: int, who: Principal) -> WaitingAnswer:
    may = who.has("admin")
    return WaitingAnswer(
        kind="key",
        id=name,
        what="a system asks to join" if number == 1 else f"{number:,} systems ask to join",
        about=name,
        since=since,
        systems=number,
        yours=may,
        why_not="" if may else "the role admin is needed",
    )
