"""Health checks after waves: a job for the systems that succeeded, and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, json

from saltern.fleet.chains.events import Checked, CheckSent
from saltern.fleet.chains.waves import systems_to_check
from saltern.fleet.controller.chains.decisions import Decisions
from saltern.fleet.controller.chains.reports import unpack
from saltern.fleet.controller.dispatch import Dispatcher
from saltern.fleet.controller.job_events import job_new
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.protocol.messages import Audience, Job
from saltern.fleet.store import job_queries
from saltern.fleet.store.chain_runs import run_row, soaking_waves
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import store_events
from saltern.fleet.store.jobs import NewJob, create_job
from saltern.fleet.store.statuses import ENDS

FUNCTION = "cmd.retcode"
MARGIN = 60.0  # seconds for the way to a system and back
LABEL = "local"


class Asked(Struct, frozen=True):
    """A job that checks the health of systems."""

    jid: str
    systems: list[str]
    envelope: bytes


def to_ask(connection: Connection) -> list[tuple[str, int]]:
    """Run and number of each wave whose check is not sent yet."""
    return [(run, number) for run, number, state in _asked_waves(connection) if not state.get("check")]


def ended_checks(connection: Connection, now: float) -> dict[str, list[Checked]]:
    """The results of the checks that are over, by run."""
    found: dict[str, list[Checked]] = {}
    for run, number, state in _asked_waves(connection):
        jid = state.get("check", "")
        targets = job_queries.targets(connection, jid) if jid else []
        if jid and all(one.status in ENDS for one in targets):
            bodies = job_queries.bodies(connection, jid, [one.system for one in targets])
            failed = {one.system: why for one in targets if (why := _problem(one, bodies.get(one.system)))}
            found.setdefault(run, []).append(Checked(now=now, wave=number, failed=failed, of=len(targets)))
    return found


def _asked_waves(connection: Connection) -> list[tuple[str, int, Mapping[str, Any]]]:
    rows = ((run, number, json.decode(state)) for run, number, state in soaking_waves(connection))
    return [(run, number, state) for run, number, state in rows if state.get("health") == "asked"]


def _problem(target: job_queries.TargetRow, packed: tuple[str, bytes] | None) -> str:
    """Why a system is unhealthy; empty if it is healthy."""
    body = unpack(*packed) if packed is not None else None
    code = body[LABEL] if isinstance(body, dict) and list(body) == [LABEL] else body
    if target.status == "returned" and code == 0 and code is not False:
        return ""
    if isinstance(code, int):
        return f"exit code {code}"
    lines = target.why.strip().splitlines()
    return lines[-1] if lines else target.status


def make_check(
    connection: Connection, dispatcher: Dispatcher, run: str, number: int, now: Callable[[], float]
) -> Asked | None:
    """Store the job of a check, and link it to its wave; in the thread of the database."""
    row = run_row(connection, run)
    state = Decisions().load(connection, run)[1]
    wave, check = state.waves[number], state.strategy.health
    systems = systems_to_check(state, wave)
    if row is None or check is None or not check.command or wave.check or not systems:
        return None
    moment = now()
    job = Job(
        jid=new_jid(moment),
        function=FUNCTION,
        args=[check.command],
        kwargs={"timeout": check.timeout},
        changing=False,
        environment=row["environment"],
        user=row["author"],
        rule=row["rule"],
    )
    life = check.timeout + MARGIN
    envelope = dispatcher.sign(job, Audience(ids=systems), now=moment, life=life)
    target = f"L@{','.join(systems)}"
    new = NewJob(
        job=job, target=target, systems=tuple(systems), expires=moment + life, envelope=envelope.decode()
    )
    create_job(connection, new, moment)
    store_events(connection, [job_new(job, target, systems, moment)])
    event = CheckSent(now=moment, wave=number, job=job.jid)
    Decisions().decide(connection, run, lambda _run: [event])
    return Asked(job.jid, systems, envelope)
