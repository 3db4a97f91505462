#!/usr/bin/env python3
"""A database of a large fleet, for the benches and tests of the console.

``python bench/console_scale.py FILE [--systems N] [--runs N] [--wide N] [--steps N]``: 10,000 systems, 2,000
runs of chains, one run of 1,000 systems and 50 steps, jobs, events, keys that wait, windows, schedules and
approvals. The same numbers make the same rows.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Table, insert

from saltern.fleet.chains.rollout import GateAsk
from saltern.fleet.controller.chains import gates
from saltern.fleet.store import access_tables, audit, calendar_tables, chain_tables, tables
from saltern.fleet.store.approvals import Approval, add_approval
from saltern.fleet.store.database import Connection, Database, open_database
from saltern.fleet.store.migrate import migrate

Row = dict[str, Any]
SITES = ("ams1", "ber1", "fra2", "lon1")
ROLES = ("web", "api", "db", "cache", "edge")
CHAINS = ("os-patch", "db-minor", "certs-renew", "staging", "web-deploy", "kernel", "agent", "audit-host")
KINDS = ("command", "patch", "state", "health")
WIDE = "wide"  # the chain of the run with many steps
DAY = 86_400.0
AT_ONCE = 2_000
ENDED = ("succeeded",) * 12 + ("partial",) * 3 + ("failed", "cancelled")
OPEN_RUNS = ("running", "awaiting approval", "halted", "paused")
REASONS = (
    "E: Package 'libssl3' has no installation candidate",
    "GET /healthz answered 503 for 120 s",
    "dpkg is locked by process 4711",
)
ICAL = """\
BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART:20260105T{0:02}0000
DTEND:20260105T{1:02}0000
RRULE:FREQ={2}
END:VEVENT
END:VCALENDAR
"""


class Scale(Struct, frozen=True, kw_only=True):
    """How many of each."""

    systems: int = 10_000
    runs: int = 2_000
    wide: int = 1_000
    steps: int = 50
    jobs: int = 500
    events: int = 20_000
    pending: int = 200


SMALL = Scale(systems=300, runs=60, wide=120, steps=50, jobs=30, events=500, pending=12)


def make(database: Database, scale: Scale, now: float) -> str:
    """Fill an empty database; the id of the run that has many systems and steps."""
    dice = random.Random(7)
    names = [_system(number) for number in range(scale.systems)]
    with database.write() as connection:
        _systems(connection, names, scale, now, dice)
        _chains(connection, scale, now)
        _runs(connection, names, scale, now, dice)
        wide = _wide_run(connection, names[: scale.wide], scale.steps, now, dice)
        _jobs(connection, names, scale, now, dice)
        _events(connection, names, scale, now, dice)
        _calendars(connection, now)
        _people(connection, names, now)
    return wide


def _add(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    some: list[Row] = []
    for row in rows:
        some.append(row)
        if len(some) == AT_ONCE:
            connection.execute(insert(table), some)
            some = []
    if some:
        connection.execute(insert(table), some)


def _digest(*words: object) -> str:
    return hashlib.sha256("\n".join(map(str, words)).encode()).hexdigest()


# -- systems -----------------------------------------------------------------------------------------


def _system(number: int) -> str:
    return f"{ROLES[number % len(ROLES)]}-{number:05d}.{SITES[number % len(SITES)]}"


def _systems(
    connection: Connection, names: Sequence[str], scale: Scale, now: float, dice: random.Random
) -> None:
    waiting = [f"new-{number:04d}.{SITES[number % 4]}" for number in range(scale.pending)]
    rows = [_system_row(name, now, dice, "accepted") for name in names]
    rows += [_system_row(name, now, dice, "pending") for name in waiting]
    _add(connection, tables.SYSTEMS, rows)
    _add(connection, tables.FACTS, (_facts_row(name, now, dice) for name in names))
    groups = {role: f"G@role:{role}" for role in ROLES} | {site: f"G@site:{site}" for site in SITES}
    _add(connection, tables.GROUPS, ({"name": name, "expression": one} for name, one in groups.items()))


def _system_row(name: str, now: float, dice: random.Random, state: str) -> Row:
    key = _digest(name)
    online = state == "accepted" and dice.random() > 0.02
    return {
        "id": name,
        "state": state,
        "key": bytes.fromhex(key),
        "sealing_key": bytes.fromhex(key),
        "fingerprint": f"SHA256:{key[:43]}",
        "site": name.rpartition(".")[2],
        "first_seen": now - dice.uniform(1, 300) * DAY,
        "decided_at": None if state == "pending" else now - DAY,
        "decided_by": "" if state == "pending" else "anna",
        "version": "0.9.4" if dice.random() > 0.1 else "0.9.3",
        "online": online,
        "seen_at": now - dice.uniform(0, 60) if online else now - dice.uniform(1, 9) * DAY,
    }


def _facts_row(name: str, now: float, dice: random.Random) -> Row:
    role, _, rest = name.partition("-")
    grains = {
        "id": name,
        "os": dice.choice(("Debian", "Debian", "Ubuntu", "Rocky")),
        "os_family": "Debian",
        "kernel": "Linux",
        "kernelrelease": dice.choice(("6.1.0-40-amd64", "6.1.0-41-amd64")),
        "role": role,
        "site": rest.rpartition(".")[2],
        "mem_total": dice.choice((4096, 16384, 65536)),
        "num_cpus": dice.choice((2, 8, 32)),
    }
    data = msgspec.json.encode(grains)
    return {"system": name, "digest": _digest(data), "grains": data, "changed_at": now - DAY}


# -- chains and their runs ----------------------------------------------------------------------------


def _text(name: str, steps: int) -> str:
    """A chain of so many actions, with a reboot among them."""
    rows = [f"  - {{id: step-{n:02d}, {KINDS[n % 4]}: {_argument(n)}}}" for n in range(1, steps + 1)]
    rows[steps // 2] = f"  - {{id: step-{steps // 2 + 1:02d}, reboot: {{when: needed}}}}"
    return "\n".join([f"chain: {name}", "actions:", *rows, ""])


def _argument(number: int) -> str:
    return ("'true'", "{refresh: true}", "web", "'true'")[number % 4]


def _chains(connection: Connection, scale: Scale, now: float) -> None:
    for place, name in enumerate((*CHAINS, WIDE)):
        row: Row = {"id": name, "name": name, "created": now - 90 * DAY, "created_by": "anna"}
        _add(
            connection,
            chain_tables.CHAINS,
            [{**row, "description": f"What {name} does.", "owner": "team web"}],
        )
        versions = [_version(name, n, scale.steps if name == WIDE else 5, now) for n in range(1, place + 3)]
        _add(connection, chain_tables.CHAIN_VERSIONS, versions)


def _version(name: str, number: int, steps: int, now: float) -> Row:
    text = _text(name, steps) + f"description: version {number}\n"
    made = now - (60 - number) * DAY
    return {
        "chain": name,
        "number": number,
        "text": text,
        "sha256": _digest(text),
        "author": "anna",
        "created": made,
        "note": "as agreed",
    }


def _run_row(name: str, chain: str, status: str, created: float, **more: Any) -> Row:
    ended = None if status in OPEN_RUNS else created + 900
    return {
        "id": name,
        "chain": chain,
        "version": 1,
        "target": "G@role:web",
        "strategy": b'{"waves":["10%","rest"],"soak":60}',
        "plan_sha256": _digest(name),
        "status": status,
        "author": "anna",
        "created": created,
        "begun": created,
        "ended": ended,
        "deadline": created + DAY,
        "halted": "3 of 10 failed, more than 5 %" if status == "halted" else "",
        **more,
    }


def _leg_row(run: str, system: str, place: int, wave: int, status: str, at: float, **more: Any) -> Row:
    return {
        "id": f"{run}.{system}",
        "run": run,
        "system": system,
        "wave": wave,
        "place": place,
        "plan_sha256": _digest(run),
        "status": status,
        "sent": "run" if status != "pending" else "",
        "begun": at,
        "ended": at + 600 if status in ("succeeded", "failed", "indeterminate") else None,
        **more,
    }


def _step_row(leg: str, number: int, status: str, at: float, **more: Any) -> Row:
    began = status not in ("not run", "waiting")
    return {
        "leg": leg,
        "number": number,
        "action": f"step-{number + 1:02d}",
        "kind": KINDS[(number + 1) % 4],
        "status": status,
        "attempts": 1 if began else 0,
        "changed": status == "succeeded" and number % 3 == 0,
        "took": 4.2 if began else 0.0,
        "started": at + number * 5 if began else None,
        "ended": at + number * 5 + 4.2 if status in ("succeeded", "failed") else None,
        "comment": "",
        "blocked_by": "",
        **more,
    }


def _runs(
    connection: Connection, names: Sequence[str], scale: Scale, now: float, dice: random.Random
) -> None:
    """Short runs: five systems, three steps each; the newest few are open."""
    runs: list[Row] = []
    waves: list[Row] = []
    legs: list[Row] = []
    steps: list[Row] = []
    waiting: list[str] = []
    for number in range(scale.runs):
        created = now - (scale.runs - number) * 1800.0
        status = OPEN_RUNS[number % 4] if number >= scale.runs - 8 else dice.choice(ENDED)
        name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(created))}-{number:04d}"
        runs.append(_run_row(name, CHAINS[number % len(CHAINS)], status, created))
        waves += [_wave_row(name, n, "running" if status in OPEN_RUNS else "over") for n in range(2)]
        some = dice.sample(names, min(5, len(names)))
        for place, system in enumerate(some):
            leg, own = _short_leg(name, system, place, status, created)
            legs.append(leg)
            steps += own
        if status == "awaiting approval":
            waiting.append(name)
    for table, rows in zip(_RUN_TABLES, (runs, waves, legs, steps), strict=True):
        _add(connection, table, rows)
    for name in waiting:
        gates.add(connection, name, {"run": GateAsk(needed=2)}, _digest(name), now - 600)


_RUN_TABLES = (
    chain_tables.CHAIN_RUNS,
    chain_tables.CHAIN_WAVES,
    chain_tables.CHAIN_LEGS,
    chain_tables.CHAIN_STEPS,
)


def _wave_row(run: str, number: int, status: str) -> Row:
    return {"run": run, "number": number, "status": status, "state": b'{"soak":60,"gate":""}'}


def _short_leg(run: str, system: str, place: int, status: str, at: float) -> tuple[Row, list[Row]]:
    fails = place == 0 and status in ("partial", "failed", "halted")
    is_open = status in OPEN_RUNS and not fails
    word = "failed" if fails else "pending" if is_open else "succeeded"
    leg = _leg_row(run, system, place, min(place, 1), word, at)
    words = ("succeeded", "failed", "not run") if fails else (("not run" if is_open else "succeeded"),) * 3
    return leg, [
        _step_row(leg["id"], n, one, at, comment=REASONS[n] if one == "failed" else "")
        for n, one in enumerate(words)
    ]


def _wide_run(
    connection: Connection, names: Sequence[str], steps: int, now: float, dice: random.Random
) -> str:
    """One open run with many systems and many steps: some failed for few reasons, most are at work."""
    created = now - 3600.0
    run = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(created))}-wide"
    _add(connection, chain_tables.CHAIN_RUNS, [_run_row(run, WIDE, "running", created)])
    states = ("over", "over", "running", "pending")
    _add(connection, chain_tables.CHAIN_WAVES, (_wave_row(run, n, one) for n, one in enumerate(states)))
    legs: list[Row] = []
    cells: list[Row] = []
    for place, system in enumerate(names):
        leg, own = _wide_leg(run, system, place, len(names), steps, created, dice)
        legs.append(leg)
        cells += own
    _add(connection, chain_tables.CHAIN_LEGS, legs)
    _add(connection, chain_tables.CHAIN_STEPS, cells)
    return run


def _wide_leg(
    run: str, system: str, place: int, of: int, steps: int, at: float, dice: random.Random
) -> tuple[Row, list[Row]]:
    wave = min(3, place * 8 // of)
    status = ("succeeded", "succeeded", "running", "pending")[wave] if wave < 3 else "running"
    status = "failed" if place % 37 == 5 else "pending" if place > of * 0.8 else status
    done = {"succeeded": steps, "pending": 0}.get(status, dice.randrange(2, steps - 1))
    why = dice.choice(REASONS)
    leg = _leg_row(run, system, place, wave, status, at, waits_for="")
    last = {"failed": "failed", "running": "running"}.get(status, "not run")
    words = ["succeeded"] * done + ([last] if done < steps else []) + ["not run"] * (steps - done - 1)
    rows = [
        _step_row(leg["id"], n, one, at, comment=why if one == "failed" else "")
        for n, one in enumerate(words[:steps])
    ]
    return leg, rows


# -- jobs, events, calendars, people -------------------------------------------------------------------


def _jobs(
    connection: Connection, names: Sequence[str], scale: Scale, now: float, dice: random.Random
) -> None:
    """Short jobs, and one that asked a tenth of all systems and got few different answers."""
    jobs: list[Row] = []
    targets: list[Row] = []
    returns: list[Row] = []
    for number in range(scale.jobs):
        created = now - (scale.jobs - number) * 300.0
        some = names[::10] if number == scale.jobs - 1 else dice.sample(names, min(8, len(names)))
        jid = f"{time.strftime('%Y%m%d%H%M%S', time.gmtime(created))}{number:06d}"
        left = some[:3] if number >= scale.jobs - 3 else []
        jobs.append(_job_row(jid, created, len(some), len(left)))
        targets += [_target_row(jid, system, created, system in left) for system in some]
        returns += [_return_row(jid, system, dice) for system in some if system not in left]
    for table, rows in ((tables.JOBS, jobs), (tables.TARGETS, targets), (tables.RETURNS, returns)):
        _add(connection, table, rows)


def _job_row(jid: str, created: float, expected: int, left: int) -> Row:
    work = {"jid": jid, "function": "cmd.run", "args": ["openssl version"], "user": "dana"}
    return {
        "jid": jid,
        "created": created,
        "expires": created + 300,
        "user": "dana",
        "function": "cmd.run",
        "target": "G@site:fra2",
        "work": msgspec.json.encode(work),
        "expected": expected,
        "open": left,
        "ended": None if left else created + 9,
    }


def _target_row(jid: str, system: str, created: float, left: bool) -> Row:
    return {
        "jid": jid,
        "system": system,
        "status": "running" if left else "returned",
        "updated": created + 2,
        "started": created + 1,
        "ended": None if left else created + 2,
    }


def _return_row(jid: str, system: str, dice: random.Random) -> Row:
    answer = dice.choice(("OpenSSL 3.0.17 1 Jul 2025",) * 8 + ("OpenSSL 3.0.15 3 Sep 2024",))
    body = msgspec.json.encode(answer)
    return {"jid": jid, "system": system, "part": 0, "parts": 1, "encoding": "json", "body": body}


def _events(
    connection: Connection, names: Sequence[str], scale: Scale, now: float, dice: random.Random
) -> None:
    tags = (
        "saltern/job/new",
        "saltern/job/ret",
        "saltern/presence/change",
        "deploy/done",
        "saltern/chain/leg",
    )
    rows = (
        {
            "at": now - (scale.events - number) * 4.0,
            "tag": dice.choice(tags),
            "system": dice.choice(names),
            "data": b'{"was":"running","is":"succeeded"}',
        }
        for number in range(scale.events)
    )
    _add(connection, tables.EVENTS, rows)
    for number in range(50):
        audit.append(connection, "anna", "chain.save", {"chain": CHAINS[number % 8]}, now - 50 + number)


def _calendars(connection: Connection, now: float) -> None:
    kept: Iterator[tuple[str, str, str, str]] = iter(
        (
            ("prod-web", "allow", "G@role:web", ICAL.format(1, 5, "DAILY")),
            ("prod-db", "allow", "G@role:db", ICAL.format(1, 4, "WEEKLY")),
            ("edge", "deny", "G@role:edge", ICAL.format(8, 18, "WEEKLY;BYDAY=MO,TU,WE,TH,FR")),
        )
    )
    rows = (
        {"name": name, "kind": kind, "target": target, "text": text, "author": "anna", "changed": now - DAY}
        for name, kind, target, text in kept
    )
    _add(connection, calendar_tables.CALENDARS, rows)
    _add(connection, calendar_tables.SCHEDULES, (_schedule_row(name, now) for name in CHAINS))


def _schedule_row(chain: str, now: float) -> Row:
    return {
        "name": f"{chain}-nightly",
        "chain": chain,
        "target": "G@role:web",
        "cron": "30 2 * * *",
        "author": "anna",
        "changed": now - DAY,
        "next_at": now + 3600,
        "last_at": now - DAY,
    }


def _people(connection: Connection, names: Sequence[str], now: float) -> None:
    people = {"anna": "admin", "ben": "approver", "dana": "operator", "vic": "viewer"}
    rows = (
        {
            "name": name,
            "roles": msgspec.json.encode([role]).decode(),
            "groups": "[]",
            "made_at": now,
            "made_by": "local:root",
            "changed_at": now,
        }
        for name, role in people.items()
    )
    _add(connection, access_tables.OPERATORS, rows)
    for number in range(12):
        add_approval(connection, _approval(number, names, now))


def _approval(number: int, names: Sequence[str], now: float) -> Approval:
    return Approval(
        id=f"ap{number:04d}",
        asked_by="dana",
        asked_at=now - 60 * number,
        expires=now + DAY,
        function="state.apply",
        target="G@role:web",
        systems=tuple(names[: 50 * (number + 1)]),
        shown={"args": ["web"], "kwargs": {}},
        digest=_digest("approval", number),
        rule="prod-needs-two",
        needed=2,
    )


def fill(file: Path, scale: Scale, now: float | None = None) -> str:
    """A new database in a file; the id of its wide run."""
    database = open_database(f"sqlite:///{file}")
    try:
        migrate(database)
        return make(database, scale, time.time() if now is None else now)
    finally:
        database.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    given: Mapping[str, int] = msgspec.structs.asdict(Scale())
    for name, number in given.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    args = parser.parse_args()
    before = time.monotonic()
    wide = fill(args.file, Scale(**{name: getattr(args, name) for name in given}))
    print(f"{args.file}: {args.systems:,} systems, {args.runs:,} runs in {time.monotonic() - before:.1f} s")
    print(f"the wide run is {wide}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
