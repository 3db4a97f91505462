"""Health checks after waves: asked after the soak, strictly more than the limit halts the run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fleet.controller.chain_kit import LegAgent, leg_agent, legs, on_bench, order, rounds, start, status
from tests.fleet.controller.kit import Bench

from saltern.chains.statuses import Leg, Run, Step, Wave
from saltern.fleet.chains.advance import advance
from saltern.fleet.chains.amounts import Amount
from saltern.fleet.chains.events import Checked, Tick
from saltern.fleet.chains.model import HealthCheck, RunState, StepPlan
from saltern.fleet.chains.rollout import HealthAsk, Rollout, make_run
from saltern.fleet.controller.chains import views
from saltern.language.diagnostics import OperationError

ROLLOUT: dict[str, Any] = {"waves": [1, "rest"], "health": {"command": "test -e /well"}}


def asked(agent: LegAgent) -> list[str]:
    return [job.jid for job in agent.jobs if job.function == "cmd.retcode"]


async def answer(agent: LegAgent, code: int) -> None:
    body = str(code).encode()
    status = "failed" if code else "returned"
    await agent.give(asked(agent)[-1], status, body=body, size=len(body))


def wave_health(bench: Bench, run: str) -> list[tuple[str, str]]:
    with bench.database.read() as connection:
        found = views.show_run(connection, run)
    assert found is not None
    return [(one["status"], one["health"]) for one in found["waves"]]


@on_bench
async def test_the_next_wave_waits_for_the_health_of_the_one_before(bench: Bench) -> None:
    one, two = await leg_agent(bench, "web1"), await leg_agent(bench, "web2")
    made = await start(bench, rollout=ROLLOUT)
    await rounds(bench)
    assert legs(bench, made.run) == {"web1": "succeeded", "web2": "pending"}
    assert wave_health(bench, made.run) == [("soaking", "asked"), ("pending", "needed")]
    assert (len(asked(one)), asked(two)) == (1, []), "asked once, and only who is done"
    await answer(one, 0)
    await rounds(bench)
    assert legs(bench, made.run)["web2"] == "succeeded"
    assert status(bench, made.run) == "running", "the last wave is looked at, too"
    await answer(two, 0)
    await rounds(bench)
    assert status(bench, made.run) == "succeeded"
    assert wave_health(bench, made.run) == [("over", "passed")] * 2


@on_bench
async def test_a_wave_that_is_not_well_halts_the_run_until_an_operator_resumes_it(bench: Bench) -> None:
    one, two = await leg_agent(bench, "web1"), await leg_agent(bench, "web2")
    made = await start(bench, rollout=ROLLOUT)
    await rounds(bench)
    await answer(one, 3)
    await rounds(bench)
    assert status(bench, made.run) == "halted"
    with bench.database.read() as connection:
        found = views.show_run(connection, made.run)
    assert found is not None
    assert found["why"] == "the health check after wave 1 failed on 1 of 1 systems: web1 (exit code 3)"
    assert two.jobs == []
    await order(bench, made.run, "resume", despite_failures=True)
    await rounds(bench)
    await answer(two, 1)
    await rounds(bench)
    assert status(bench, made.run) == "partial", "a run whose last wave is not well has not succeeded"


@on_bench
async def test_a_system_that_does_not_answer_is_not_well(bench: Bench) -> None:
    await leg_agent(bench, "web1")
    made = await start(bench, rollout={"health": {"command": "true", "timeout": 5}})
    await rounds(bench)
    bench.clock.ahead = 90
    await bench.keep_house("deadlines")
    await rounds(bench)
    assert status(bench, made.run) == "partial"


@on_bench
async def test_a_wave_of_which_nothing_ended_well_is_not_asked(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1", a=Step.FAILED)
    made = await start(bench, rollout={"health": {"command": "true"}})
    await rounds(bench)
    assert (status(bench, made.run), asked(agent)) == ("failed", [])


# -- the rule -----------------------------------------------------------------------------------------


def soaked(systems: int, limit: Amount) -> RunState:
    """A run of one wave whose systems are done and asked."""
    plans = {f"s{number}": (StepPlan(id="a"),) for number in range(systems)}
    run = make_run("r", "v", plans, Rollout(health=HealthAsk(command="x")), now=0)
    run = replace(
        run,
        status=Run.RUNNING,
        strategy=replace(run.strategy, health=HealthCheck(command="x", max_failures=limit)),
        legs={name: replace(leg, status=Leg.SUCCEEDED, sent="run") for name, leg in run.legs.items()},
        waves=tuple(replace(wave, status=Wave.RUNNING) for wave in run.waves),
    )
    return advance(run, Tick(now=1))[0]


@given(st.integers(1, 30), st.integers(0, 30), st.integers(0, 100), st.booleans())
def test_48_strictly_more_than_the_limit_is_too_much(of: int, bad: int, limit: int, percent: bool) -> None:
    bad = min(bad, of)
    run = soaked(of, Amount(limit, percent))
    assert run.waves[0].health == "asked"
    event = Checked(now=2, wave=0, failed={f"s{number}": "1" for number in range(bad)}, of=of)
    after, _ = advance(run, event)
    too_much = bad * 100 > limit * of if percent else bad > limit
    assert (after.waves[0].health, after.status) == (
        ("failed", Run.PARTIAL) if too_much else ("passed", Run.SUCCEEDED)
    )
    assert advance(after, event)[0] == replace(after, now=2), "the same answer twice is one"


@pytest.mark.parametrize("amount", ["x", "200%", -1])
def test_an_amount_that_is_none_is_refused(amount: Any) -> None:
    from saltern.language.diagnostics import OperationError

    with pytest.raises(OperationError):
        make_run(
            "r", "v", {"s": (StepPlan(id="a"),)}, Rollout(health=HealthAsk(command="x", max_failures=amount)),
            now=0,
        )  # fmt: skip


# -- on the controller --------------------------------------------------------------------------------


async def until_checked(bench: Bench, run: str) -> None:
    """Rounds, until no check of the controller runs any more."""
    async with asyncio.timeout(60):
        while any(health == "asked" for _, health in wave_health(bench, run)):
            await rounds(bench, 1)
            await asyncio.sleep(0.01)


def test_a_check_of_the_controller_runs_there_and_knows_the_wave(tmp_path: Path) -> None:
    note = tmp_path / "note"
    words = ("sh", "-c", f'echo "$SALTERN_WAVE $SALTERN_SYSTEMS" >> {note}')

    @on_bench
    async def scenario(bench: Bench) -> None:
        bench.own_checks.commands = {"lb": words}
        one, two = await leg_agent(bench, "web1"), await leg_agent(bench, "web2")
        made = await start(bench, rollout={**ROLLOUT, "health": {"check": "lb"}})
        for _ in range(2):
            await rounds(bench)
            await until_checked(bench, made.run)
        await rounds(bench)
        assert (status(bench, made.run), note.read_text()) == ("succeeded", "1 web1\n2 web2\n")
        assert asked(one) == asked(two) == [], "no system is asked"

    scenario(tmp_path)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["sh", "-c", "echo the pool is empty >&2; exit 3"], "exit code 3: the pool is empty"),
        (["/nowhere"], "/nowhere: No such file or directory"),
        (["sleep", "60"], "it has not ended within 1 seconds"),
    ],
    ids=["fails", "is not there", "hangs"],
)
def test_one_that_is_not_well_halts_the_run(words: list[str], why: str, tmp_path: Path) -> None:
    @on_bench
    async def scenario(bench: Bench) -> None:
        bench.own_checks.commands = {"lb": tuple(words)}
        await leg_agent(bench, "web1")
        await leg_agent(bench, "web2")
        made = await start(bench, rollout={**ROLLOUT, "health": {"check": "lb", "timeout": 1}})
        await rounds(bench)
        await until_checked(bench, made.run)
        await rounds(bench)
        assert legs(bench, made.run) == {"web1": "succeeded", "web2": "pending"}
        with bench.database.read() as connection:
            found = views.show_run(connection, made.run)
        assert found is not None and found["why"] == f"the health check 'lb' failed after wave 1: {why}"
        await order(bench, made.run, "resume", despite_failures=True)
        await rounds(bench)
        assert legs(bench, made.run)["web2"] == "succeeded"

    scenario(tmp_path)


@on_bench
async def test_only_checks_that_the_controller_has_are_run(bench: Bench) -> None:
    bench.own_checks.commands = {"lb": ("true",)}
    await leg_agent(bench, "web1")
    for wrong, said in (("lbb", "no health check 'lbb'"), ("", "either a command")):
        with pytest.raises(OperationError, match=said):
            await start(bench, rollout={"health": {"check": wrong}})


def test_while_it_runs_the_run_names_it_and_another_controller_begins_it_again(tmp_path: Path) -> None:
    note, well = tmp_path / "note", tmp_path / "well"
    words = ("sh", "-c", f"echo begun >> {note}; while ! test -e {well}; do sleep 0.05; done")

    @on_bench
    async def scenario(bench: Bench) -> None:
        bench.own_checks.commands = {"lb": words}
        await leg_agent(bench, "web1")
        made = await start(bench, rollout={"health": {"check": "lb"}})
        await rounds(bench)
        async with asyncio.timeout(60):
            while not note.exists():
                await asyncio.sleep(0.01)
        with bench.database.read() as connection:
            found = views.show_run(connection, made.run)
        assert found is not None and found["why"] == "the controller's check 'lb' checks wave 1"
        bench.own_checks.forget()  # as a controller does that no longer leads
        well.touch()
        await until_checked(bench, made.run)
        await rounds(bench)
        assert (status(bench, made.run), note.read_text().split()) == ("succeeded", ["begun", "begun"])

    scenario(tmp_path)
