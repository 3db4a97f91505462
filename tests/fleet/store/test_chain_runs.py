"""Runs in the database, on both kinds of it: what is read is what was decided, under any schedule."""

from __future__ import annotations

from random import Random

import pytest
from msgspec import json
from tests.fleet.chains.simulated import Simulation
from tests.fleet.chains.test_schedules import HAPPENINGS

from saltern.chains.statuses import Step
from saltern.fleet.chains.events import Begin, Event
from saltern.fleet.chains.model import RunState, StepPlan
from saltern.fleet.chains.rollout import Rollout, make_run
from saltern.fleet.controller.chains import records
from saltern.fleet.controller.chains.decisions import Decisions, UnknownRun
from saltern.fleet.store import chain_outbox, chain_runs
from saltern.fleet.store.chains import StoredChain, StoredVersion, add_chain, add_version
from saltern.fleet.store.database import Connection, Database

RESULTS = [Step.SUCCEEDED] * 4 + [Step.FAILED, Step.TIMED_OUT, Step.INDETERMINATE, Step.SKIPPED]


def _write(connection: Connection, run: RunState) -> None:
    add_chain(connection, StoredChain(id="c", name="c", created=0.0, created_by="ann"))
    add_version(connection, StoredVersion(chain="c", number=1, text="", sha256="", author="ann", created=0.0))
    legs = list(run.legs.values())
    more = {"id": run.id, "chain": "c", "version": 1, "target": "*", "strategy": json.encode(run.strategy)}
    rest = {"plan_sha256": "", "author": "ann", "created": 0.0}
    chain_runs.add_run(
        connection,
        {**records.run_values(run), **more, **rest},
        [records.wave_values(run.id, wave) for wave in run.waves],
        [records.new_leg(run.id, leg, at, "") for at, leg in enumerate(legs)],
        [records.new_step(leg, at) for leg in legs for at in range(len(leg.plan))],
    )


def _run(dice: Random) -> RunState:
    kinds = [dice.choice(["stop", "continue", "pause"]) for _ in range(dice.randint(1, 4))]
    plan = tuple(StepPlan(id=f"a{at}", on_failure=kind, place=at) for at, kind in enumerate(kinds))  # type: ignore[arg-type]
    rollout = Rollout(
        waves=[1, "34%"], max_failures=dice.choice([None, 0, 1]), soak=5, lockstep=dice.random() < 0.3
    )
    return make_run("r", "c:1", {f"s{at}": plan for at in range(4)}, rollout, now=0.0)


@pytest.mark.parametrize("seed", range(12))
def test_i6_a_run_that_is_read_again_is_the_one_that_was_decided_about(database: Database, seed: int) -> None:
    dice = Random(seed)
    run = _run(dice)
    sim = Simulation(
        run, {leg.system: tuple(dice.choice(RESULTS) for _ in leg.plan) for leg in run.legs.values()}
    )
    seen: list[Event] = []
    plain = sim.feed
    sim.feed = lambda event: seen.append(event) or plain(event)  # type: ignore[method-assign, func-returns-value]
    sim.feed(Begin(now=0))
    names = ["work"] * 6 + ["order", "report"] * 4 + ["time", "operator", "presence"]
    for _ in range(40):
        HAPPENINGS[dice.choice(names)](sim, dice)
    with database.write() as connection:
        _write(connection, run)
    for first in range(0, len(seen), 7):
        with database.write() as connection:
            Decisions().decide(connection, "r", lambda _run, at=first: seen[at : at + 7])  # type: ignore[misc]
    with database.read() as connection:
        _, found = Decisions().load(connection, "r")
        orders = [(one["leg"], one["order"], one["verb"]) for one in chain_outbox.leg_orders(connection, "r")]
    assert found == sim.run
    assert sorted(orders) == sorted((one.leg, one.number, one.verb) for one in sim.sends)


def test_a_run_that_does_not_exist_is_reported(database: Database) -> None:
    with pytest.raises(UnknownRun), database.write() as connection:
        Decisions().decide(connection, "r", lambda _run: [])


def test_a_run_that_was_kept_in_memory_is_read_again_if_another_process_changed_it(
    database: Database,
) -> None:
    with database.write() as connection:
        _write(connection, _run(Random(1)))
    mine, other = Decisions(), Decisions()
    with database.write() as connection:
        decided = mine.decide(connection, "r", lambda _run: [Begin(now=1.0)])
    mine.keep(decided)
    with database.write() as connection:
        other.decide(connection, "r", lambda _run: [Begin(now=99.0)])
    with database.write() as connection:
        assert mine.load(connection, "r")[1].now == 99.0
