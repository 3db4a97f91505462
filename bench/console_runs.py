"""Chains and their runs for the database of a large fleet: as a controller would have written them."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from bench.console_size import AT_ONCE, CHAINS, DAY, WIDE, Row, Scale, digest_of
from sqlalchemy import Table, insert

from saltern.fleet.chains.rollout import GateAsk
from saltern.fleet.chains.shape import letter, make_shape
from saltern.fleet.controller.chains import gates
from saltern.fleet.store import chain_tables, tables
from saltern.fleet.store.database import Connection

KINDS = ("command", "patch", "state", "health")
ENDED = ("succeeded",) * 12 + ("partial",) * 3 + ("failed", "cancelled")
OPEN_RUNS = ("running", "awaiting approval", "halted", "paused")
REASONS = (
    "E: Package 'libssl3' has no installation candidate",
    "GET /healthz answered 503 for 120 s",
    "dpkg is locked by process 4711",
)
WAYS = {  # the statuses that a leg has had before it is as it is
    "pending": (),
    "running": ("queued", "delivered", "running"),
    "succeeded": ("queued", "delivered", "running", "rebooting", "running", "succeeded"),
    "failed": ("queued", "delivered", "running", "failed"),
}
TABLES = (
    chain_tables.CHAIN_RUNS,
    chain_tables.CHAIN_WAVES,
    chain_tables.CHAIN_LEGS,
    chain_tables.CHAIN_STEPS,
)
Leg = tuple[Row, list[Row]]


def add(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    """Insert rows, some thousand at once."""
    some: list[Row] = []
    for row in rows:
        some.append(row)
        if len(some) == AT_ONCE:
            connection.execute(insert(table), some)
            some = []
    if some:
        connection.execute(insert(table), some)


# -- chains ------------------------------------------------------------------------------------------


def add_chains(connection: Connection, scale: Scale, now: float) -> None:
    for place, name in enumerate((*CHAINS, WIDE)):
        row: Row = {"id": name, "name": name, "created": now - 90 * DAY, "created_by": "anna"}
        more = {"description": f"What {name} does.", "owner": "team web"}
        add(connection, chain_tables.CHAINS, [{**row, **more}])
        versions = [_version(name, n, scale.steps if name == WIDE else 5, now) for n in range(1, place + 3)]
        add(connection, chain_tables.CHAIN_VERSIONS, versions)


def _version(name: str, number: int, steps: int, now: float) -> Row:
    text = _text(name, steps) + f"description: version {number}\n"
    made = now - (60 - number) * DAY
    return {
        "chain": name,
        "number": number,
        "text": text,
        "sha256": digest_of(text),
        "author": "anna",
        "created": made,
        "note": "as agreed",
    }


def _text(name: str, steps: int) -> str:
    """A chain of so many actions, with a reboot among them."""
    rows = [f"  - {{id: step-{n:02d}, {KINDS[n % 4]}: {_argument(n)}}}" for n in range(1, steps + 1)]
    rows[steps // 2] = f"  - {{id: step-{steps // 2 + 1:02d}, reboot: {{when: needed}}}}"
    return "\n".join([f"chain: {name}", "actions:", *rows, ""])


def _argument(number: int) -> str:
    return ("'true'", "{refresh: true}", "web", "'true'")[number % 4]


# -- runs --------------------------------------------------------------------------------------------


def add_runs(
    connection: Connection, names: Sequence[str], scale: Scale, now: float, dice: random.Random
) -> None:
    """Short runs: five systems, five steps each; the newest few are open."""
    rows: tuple[list[Row], ...] = ([], [], [], [])
    waiting: list[str] = []
    for number in range(scale.runs):
        created = now - (scale.runs - number) * 1800.0
        status = OPEN_RUNS[number % 4] if number >= scale.runs - 8 else dice.choice(ENDED)
        name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(created))}-{number:04d}"
        some = dice.sample(names, min(5, len(names)))
        legs = [_short_leg(name, system, place, status, created) for place, system in enumerate(some)]
        rows[0].append(_run_row(name, CHAINS[number % len(CHAINS)], status, created))
        rows[1].extend(_wave_row(name, n, "running" if status in OPEN_RUNS else "over") for n in range(2))
        rows[2].extend(leg for leg, _ in legs)
        rows[3].extend(step for _, steps in legs for step in steps)
        waiting += [name] if status == "awaiting approval" else []
    for table, made in zip(TABLES, rows, strict=True):
        add(connection, table, made)
    for name in waiting:
        gates.add(connection, name, {"run": GateAsk(needed=2)}, digest_of(name), now - 600)


def _short_leg(run: str, system: str, place: int, status: str, at: float) -> Leg:
    fails = place == 0 and status in ("partial", "failed", "halted")
    is_open = status in OPEN_RUNS and not fails
    word = "failed" if fails else "pending" if is_open else "succeeded"
    done = {"failed": 1, "pending": 0}.get(word, 5)
    return _leg(run, system, place, min(place, 1), word, at, done=done, steps=5, why=REASONS[place % 3])


def add_wide_run(
    connection: Connection, names: Sequence[str], steps: int, now: float, dice: random.Random
) -> str:
    """One open run with many systems and many steps: some failed for few reasons, most are at work."""
    created = now - 3600.0
    run = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(created))}-wide"
    states = ("over", "over", "running", "pending")
    legs = [_wide_leg(run, name, place, len(names), steps, created, dice) for place, name in enumerate(names)]
    add(connection, chain_tables.CHAIN_RUNS, [_run_row(run, WIDE, "running", created)])
    add(connection, chain_tables.CHAIN_WAVES, (_wave_row(run, n, one) for n, one in enumerate(states)))
    add(connection, chain_tables.CHAIN_LEGS, (leg for leg, _ in legs))
    add(connection, chain_tables.CHAIN_STEPS, (step for _, own in legs for step in own))
    add(
        connection,
        chain_tables.CHAIN_ATTEMPTS,
        (_try_row(one) for _, own in legs for one in own if one["attempts"]),
    )
    add(connection, chain_tables.CHAIN_OUTBOX, (_order_row(leg) for leg, _ in legs if leg["sent"]))
    add(connection, tables.EVENTS, _events(run, [leg for leg, _ in legs], created))
    return run


def _wide_leg(run: str, system: str, place: int, of: int, steps: int, at: float, dice: random.Random) -> Leg:
    wave = min(3, place * 8 // of)
    status = ("succeeded", "succeeded", "running", "running")[wave]
    status = "failed" if place % 37 == 5 else "pending" if place > of * 0.8 else status
    done = {"succeeded": steps, "pending": 0}.get(status, dice.randrange(2, steps - 1))
    why = dice.choice(REASONS)
    return _leg(run, system, place, wave, status, at, done=done, steps=steps, why=why)


# -- rows --------------------------------------------------------------------------------------------


def _run_row(name: str, chain: str, status: str, created: float) -> Row:
    ended = None if status in OPEN_RUNS else created + 900
    return {
        "id": name,
        "chain": chain,
        "version": 1,
        "target": "G@role:web",
        "strategy": b'{"waves":["10%","rest"],"soak":60}',
        "plan_sha256": digest_of(name),
        "status": status,
        "author": "anna",
        "created": created,
        "begun": created,
        "ended": ended,
        "deadline": created + DAY,
        "halted": "3 of 10 failed, more than 5 %" if status == "halted" else "",
    }


def _wave_row(run: str, number: int, status: str) -> Row:
    return {"run": run, "number": number, "status": status, "state": b'{"soak":60,"gate":""}'}


def _leg(
    run: str, system: str, place: int, wave: int, status: str, at: float, *, done: int, steps: int, why: str
) -> Leg:
    """A leg of which so many steps have succeeded, as its row and those of its steps."""
    last = {"failed": "failed", "running": "running"}.get(status, "not run")
    words = [*["succeeded"] * done, *[last][: steps - done], *["not run"] * (steps - done - 1)]
    id_, began = f"{run}.{system}", at + 60.0 * wave
    rows = [_step_row(id_, n, one, began, steps, why) for n, one in enumerate(words)]
    letters = "".join(letter(one["status"], changed=one["changed"]) for one in rows)
    places = list(range(steps))
    leg = {
        "id": id_,
        "run": run,
        "system": system,
        "wave": wave,
        "place": place,
        "plan_sha256": digest_of(run),
        "status": status,
        "sent": "run" if status != "pending" else "",
        "begun": began,
        "ended": began + 600 if status in ("succeeded", "failed") else None,
        "shape": make_shape(letters, [one["action"] for one in rows]),
        "state": msgspec.json.encode({"until": None, "places": places, "gates": [""] * steps, "shut": ""}),
    }
    return leg, rows


def _step_row(leg: str, number: int, status: str, at: float, steps: int, why: str) -> Row:
    began = status != "not run"
    return {
        "leg": leg,
        "number": number,
        "action": f"step-{number + 1:02d}",
        "kind": "reboot" if number == steps // 2 else KINDS[(number + 1) % 4],
        "status": status,
        "attempts": 1 if began else 0,
        "changed": status == "succeeded" and number % 3 == 0,
        "took": 4.2 if began else 0.0,
        "started": at + number * 5 if began else None,
        "ended": at + number * 5 + 4.2 if status in ("succeeded", "failed") else None,
        "comment": why if status == "failed" else "",
        "blocked_by": "",
    }


def _try_row(step: Row) -> Row:
    same = {name: step[name] for name in ("leg", "status", "comment", "started", "ended")}
    return {**same, "step": step["number"], "number": 1}


def _order_row(leg: Row) -> Row:
    at = leg["begun"]
    same: dict[str, Any] = {"run": leg["run"], "leg": leg["id"], "order": 1, "verb": "run"}
    return {**same, "created": at, "sent": at + 1, "acked": at + 2, "answer": "accepted"}


def _events(run: str, legs: Sequence[Row], at: float) -> Iterator[Row]:
    """What was written down of a run: its own status, and each change of each leg."""
    tag = f"saltern/chain/{run}"
    yield _event(f"{tag}/status", at, {"run": run, "status": "running", "before": "scheduled"})
    for leg in legs:
        before = "pending"
        for number, status in enumerate(WAYS[leg["status"]]):
            data = {"run": run, "id": leg["system"], "status": status, "before": before, "away": False}
            yield _event(f"{tag}/leg/{leg['system']}", leg["begun"] + 5.0 * number, data, leg["system"])
            before = status


def _event(tag: str, at: float, data: Row, system: str = "") -> Row:
    return {"tag": tag, "at": at, "data": msgspec.json.encode(data), "system": system}
