#!/usr/bin/env python3
"""A database of a large fleet, for the benches and tests of the console.

``python bench/console_scale.py FILE [--systems N] [--runs N] [--wide N] [--steps N]``: 10,000 systems, 2,000
runs of chains, one run of 1,000 systems and 50 steps, jobs, events, keys that wait, windows, schedules and
approvals. The same numbers make the same rows.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [os.path.dirname(HERE), *(path for path in sys.path if path != HERE)]

from bench.console_runs import add, add_chains, add_runs, add_wide_run  # noqa: E402
from bench.console_size import CHAINS, DAY, Row, Scale, digest_of  # noqa: E402

from saltern.fleet.store import access_tables, audit, calendar_tables, tables  # noqa: E402
from saltern.fleet.store.approvals import Approval, add_approval  # noqa: E402
from saltern.fleet.store.database import Connection, Database, open_database  # noqa: E402
from saltern.fleet.store.migrate import migrate  # noqa: E402

SITES = ("ams1", "ber1", "fra2", "lon1")
ROLES = ("web", "api", "db", "cache", "edge")
ICAL = """\
BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART:20260105T{0:02}0000
DTEND:20260105T{1:02}0000
RRULE:FREQ={2}
END:VEVENT
END:VCALENDAR
"""


MORE_FACTS: Row = {  # what a system says besides, and no target here asks for
    "cpu_flags": [f"flag{number}" for number in range(120)],
    "ip_interfaces": {f"eth{number}": [f"192.0.2.{number}", f"2001:db8::{number}"] for number in range(8)},
    "pythonpath": [f"/usr/lib/python3/part-{number}" for number in range(12)],
    "systemd": {"version": "252", "features": "+PAM +AUDIT +SELINUX +APPARMOR +IMA +SMACK +SECCOMP"},
}


def make(database: Database, scale: Scale, now: float) -> str:
    """Fill an empty database; the id of the run that has many systems and steps."""
    dice = random.Random(7)
    names = [_system(number) for number in range(scale.systems)]
    with database.write() as connection:
        _systems(connection, names, scale, now, dice)
        add_chains(connection, scale, now)
        add_runs(connection, names, scale, now, dice)
        wide = add_wide_run(connection, names[: scale.wide], scale.steps, now, dice)
        _jobs(connection, names, scale, now, dice)
        _events(connection, names, scale, now, dice)
        _calendars(connection, now)
        _people(connection, names, now)
    return wide


# -- systems -----------------------------------------------------------------------------------------


def _system(number: int) -> str:
    return f"{ROLES[number % len(ROLES)]}-{number:05d}.{SITES[number % len(SITES)]}"


def _systems(
    connection: Connection, names: Sequence[str], scale: Scale, now: float, dice: random.Random
) -> None:
    waiting = [f"new-{number:04d}.{SITES[number % 4]}" for number in range(scale.pending)]
    rows = [_system_row(name, now, dice, "accepted") for name in names]
    rows += [_system_row(name, now, dice, "pending") for name in waiting]
    add(connection, tables.SYSTEMS, rows)
    add(connection, tables.FACTS, (_facts_row(name, now, dice) for name in names))
    groups = {role: f"G@role:{role}" for role in ROLES} | {site: f"G@site:{site}" for site in SITES}
    add(connection, tables.GROUPS, ({"name": name, "expression": one} for name, one in groups.items()))


def _system_row(name: str, now: float, dice: random.Random, state: str) -> Row:
    key = digest_of(name)
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
        **MORE_FACTS,
    }
    data = msgspec.json.encode(grains)
    return {"system": name, "digest": digest_of(data), "grains": data, "changed_at": now - DAY}


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
        add(connection, table, rows)


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
    add(connection, tables.EVENTS, rows)
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
    add(connection, calendar_tables.CALENDARS, rows)
    add(connection, calendar_tables.SCHEDULES, (_schedule_row(name, now) for name in CHAINS))


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
    add(connection, access_tables.OPERATORS, rows)
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
        digest=digest_of("approval", number),
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
