"""Decide about one run inside a transaction: read it, apply events by the pure rules, write what changed.

The decision, its rows, its orders and its events are one transaction. Runs are cached, and reused as long as
the database has the same version of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct, json

from saltern.chains.statuses import ENDS, OVER
from saltern.fleet.callbacks.occurrences import occurrences
from saltern.fleet.chains.advance import BEFORE, advance
from saltern.fleet.chains.deadlines import next_wakeup
from saltern.fleet.chains.events import Command, Event, Note, Send
from saltern.fleet.chains.model import LegState, RunState
from saltern.fleet.controller.callbacks import notify
from saltern.fleet.controller.chains import records
from saltern.fleet.store import chain_runs
from saltern.fleet.store.chain_outbox import put_orders
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, store_events

KEPT = 20  # runs that are kept in memory
EventsOf = Callable[[RunState], Iterable[Event]]


class UnknownRun(Exception):
    """The run does not exist."""


class Decided(Struct, frozen=True):
    """A run before and after, and what was decided."""

    before: RunState
    after: RunState
    commands: tuple[Command, ...]
    version: int = 0


class Decisions:
    """The runs that this process has read."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[int, RunState]] = OrderedDict()

    def load(self, connection: Connection, run: str) -> tuple[int, RunState]:
        """The run and its version; ``UnknownRun`` if there is none."""
        row = chain_runs.run_row(connection, run)
        if row is None:
            raise UnknownRun(run)
        known = self._known.get(run)
        if known is not None and known[0] == row["row_version"]:
            return known
        steps = [
            dict(zip(chain_runs.STEP_NAMES, one, strict=True))
            for one in chain_runs.step_rows(connection, run)
        ]
        state = records.run_from(
            row,
            chain_runs.wave_rows(connection, run),
            chain_runs.leg_rows(connection, run),
            steps,
            chain_runs.attempt_rows(connection, run),
        )
        return int(row["row_version"]), state

    def decide(
        self, connection: Connection, run: str, events_of: EventsOf, *, hard: bool = False, reason: str = ""
    ) -> Decided:
        """Apply events to a run, and write the consequences. ``hard``: stop running steps that are cancelled.

        The caller passes the result to ``keep`` once the transaction is committed.
        """
        chain_runs.lock_run(connection, run)
        version, before = self.load(connection, run)
        after = before
        commands: list[Command] = []
        for event in events_of(before):
            after, more = advance(after, event)
            commands += more
        written = after is not before
        if written:
            write_changes(connection, version, before, after)
        put_orders(
            connection, [_order(after, one, hard, reason) for one in commands if isinstance(one, Send)]
        )
        store_events(connection, list(_events(before, after, commands)))
        notify(connection, run, list(occurrences(before, after, commands)), after.now)
        return Decided(before, after, tuple(commands), version + written)

    def keep(self, decided: Decided) -> None:
        """Remember a run as it is in the database now."""
        run = decided.after.id
        self._known[run] = (decided.version, decided.after)
        self._known.move_to_end(run)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)


def write_changes(connection: Connection, version: int, before: RunState, after: RunState) -> None:
    """Write what differs, row by row."""
    values: dict[str, Any] = {**records.run_values(after), "next_wakeup": next_wakeup(after)}
    if before.status in BEFORE and after.status not in BEFORE:
        values["begun"] = after.now
    if after.status in ENDS and before.status not in ENDS:
        values["ended"] = after.now
    if after.status not in ENDS and before.status in ENDS:
        values["ended"] = None
    if not chain_runs.change_run(connection, after.id, version, values):
        raise RuntimeError(f"run {after.id} was changed by another transaction in the middle of this one")
    waves = [one for one, was in zip(after.waves, before.waves, strict=True) if one != was]
    chain_runs.change_waves(connection, [records.wave_values(after.id, one) for one in waves])
    changed = [leg for name, leg in after.legs.items() if leg is not before.legs[name]]
    chain_runs.change_legs(connection, [_leg_row(leg, before.legs[leg.id], after.now) for leg in changed])
    pairs = [(leg, number) for leg in changed for number in _changed_steps(leg, before.legs[leg.id])]
    chain_runs.change_steps(connection, [records.step_values(*pair) for pair in pairs])
    chain_runs.put_attempts(connection, [row for pair in pairs for row in records.attempt_values(*pair)])


def _leg_row(leg: LegState, before: LegState, now: float) -> dict[str, Any]:
    row = records.leg_values(leg)
    if leg.is_over != before.is_over:
        row["ended"] = now if leg.is_over else None
    return row


def _changed_steps(leg: LegState, before: LegState) -> list[int]:
    if leg.steps is before.steps:
        return []
    return [at for at, (one, was) in enumerate(zip(leg.steps, before.steps, strict=True)) if one != was]


def _order(run: RunState, send: Send, hard: bool, reason: str) -> dict[str, Any]:
    body: dict[str, Any] = {"until": send.until, "hard": hard and send.verb == "cancel", "reason": reason}
    body |= {"lease": round(send.lease)} if send.lease else {}
    return {
        "run": run.id,
        "leg": send.leg,
        "order": send.number,
        "verb": send.verb,
        "step": send.step,
        "body": json.encode(body),
        "created": run.now,
    }


def _events(before: RunState, after: RunState, commands: Sequence[Command]) -> Iterable[NewEvent]:
    """The events about a decision, for people and programs that follow."""
    tag = f"saltern/chain/{after.id}"
    for name, leg in after.legs.items():
        was = before.legs[name]
        if leg is not was and (leg.status, leg.away) != (was.status, was.away):
            data: dict[str, Any] = {
                "run": after.id,
                "id": leg.system,
                "status": leg.status.value,
                "before": was.status.value,
            }
            data |= {"away": leg.away, "over": leg.status in OVER}
            yield NewEvent(tag=f"{tag}/leg/{leg.system}", data=data, at=after.now, system=leg.system)
    if after.status is not before.status:
        data = {"run": after.id, "status": after.status.value, "before": before.status.value}
        data |= {"why": after.halted, "over": after.status in ENDS}
        yield NewEvent(tag=f"{tag}/status", data=data, at=after.now)
    for note in commands:
        if isinstance(note, Note):
            data = {"run": after.id, "about": note.about, "before": note.before, "after": note.after}
            yield NewEvent(tag=f"{tag}/note", data={**data, "why": note.why}, at=after.now)
