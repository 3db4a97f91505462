"""Jobs that run on a few of their systems at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.controller.kit import JOE, Bench, LightAgent, let_in, light_agent, running_bench
from tests.fleet.harness import run, until

from saltern.fleet.chains.amounts import read_amount
from saltern.fleet.controller.service import Submission
from saltern.fleet.protocol.batch import Batch
from saltern.fleet.store.job_queries import TargetRow
from saltern.fleet.store.statuses import ENDS, STATUSES
from saltern.fleet.turns import BAD, decide_turns
from saltern.language.diagnostics import OperationError

NOW = 1_000_000.0
SIZES = st.one_of(st.integers(1, 12).map(str), st.integers(1, 100).map(lambda one: f"{one}%"))


def row(number: int, status: str, updated: float = 0.0) -> TargetRow:
    return TargetRow(
        jid="j",
        system=f"web{number:02}",
        status=status,
        why="",
        updated=updated,
        started=None,
        ended=None,
        exit_code=0,
        changed=0,
        failed=0,
        records=0,
        back_by=None,
    )


ROWS = st.lists(
    st.tuples(st.sampled_from(sorted(STATUSES)), st.integers(0, 40), st.booleans()), min_size=1, max_size=14
)


@given(SIZES, st.integers(0, 30), ROWS)
def test_never_do_more_run_at_once_than_the_batch_allows(
    size: str, wait: int, drawn: list[tuple[str, int, bool]]
) -> None:
    rows = [row(number, status, NOW - ago) for number, (status, ago, _) in enumerate(drawn)]
    away = {f"web{number:02}" for number, (_, _, gone) in enumerate(drawn) if gone}
    turns = decide_turns(Batch(size=size, wait=wait), rows, away, NOW)
    busy = sum(one.status not in ENDS and one.status != "held" for one in rows)
    allowed = read_amount(size).at_most(len(rows))
    assert len(turns.begin) <= max(0, allowed - busy)
    assert not away & set(turns.begin)
    assert {one.status for one in rows if one.system in turns.begin} <= {"held"}
    waiting = [one.system for one in rows if one.status == "held" and one.system not in away]
    if waiting and not busy and not wait:
        assert turns.begin == tuple(waiting[:allowed])  # the line moves, in its order


@given(ROWS, st.one_of(st.integers(0, 5).map(str), st.just("20%")))
def test_more_failures_than_allowed_hold_back_the_rest(
    drawn: list[tuple[str, int, bool]], failures: str
) -> None:
    rows = [row(number, status) for number, (status, _, _) in enumerate(drawn)]
    turns = decide_turns(Batch(size="3", failures=failures), rows, (), NOW)
    failed = sum(one.status in BAD for one in rows)
    held = any(one.status == "held" for one in rows)
    assert bool(turns.stop) == (held and read_amount(failures).is_exceeded(failed, len(rows)))
    assert not (turns.stop and turns.begin)


def test_a_place_is_free_only_after_the_time_to_wait() -> None:
    rows = [row(1, "returned", NOW - 9.0), row(2, "held")]
    batch = Batch(size="1", wait=10.0)
    assert decide_turns(batch, rows, (), NOW).begin == ()
    assert decide_turns(batch, rows, (), NOW + 2).begin == ("web02",)


def test_the_last_ones_that_stay_away_are_given_up_after_a_while() -> None:
    rows = [row(1, "returned", NOW), row(2, "held", NOW)]
    batch = Batch(size="1", patience=300.0)
    assert decide_turns(batch, rows, {"web02"}, NOW + 299).stop == ""
    assert decide_turns(batch, rows, {"web02"}, NOW + 301).stop == "expired"
    assert decide_turns(batch, rows, (), NOW + 301).begin == ("web02",)


async def finish(bench: Bench, agent: LightAgent, status: str = "returned") -> None:
    """The agent has its job, and returns it."""
    await until(lambda: bool(agent.jobs))
    await agent.give(agent.jobs.pop().jid, status)
    await bench.index()
    await bench.keep_house("batches")


def test_systems_get_the_job_one_after_the_other(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agents = [await light_agent(bench, f"web{number}") for number in (1, 2, 3)]
            let_in(bench.database, "web0")  # it is away, and holds no one up
            done = await bench.fleet.submit(JOE, Submission(function="test.ping", target="*", batch="50%"))
            assert list(done.away) == ["web0"]
            await bench.keep_house("batches")
            assert bench.statuses(done.jid) == {
                "web0": "held", "web1": "sent", "web2": "sent", "web3": "held"
            }  # fmt: skip
            assert (await agents[2].sync()).jobs == []  # nor does a sync give it the job
            await finish(bench, agents[0])
            await until(lambda: bool(agents[2].jobs))
            assert bench.statuses(done.jid)["web3"] == "sent"
            await finish(bench, agents[1])
            await finish(bench, agents[2])
            late = await light_agent(bench, "web0", join=False)
            await bench.keep_house("batches")
            await finish(bench, late)
            assert set(bench.statuses(done.jid).values()) == {"returned"}
            assert f"saltern/job/{done.jid}/ended" in bench.tags()

    run(scenario())


def test_a_failure_ends_the_batch_and_a_cancelled_one_begins_nowhere(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agents = [await light_agent(bench, f"web{number}") for number in (1, 2, 3)]
            ask = Submission(function="test.ping", target="*", batch="1", batch_failures="0")
            done = await bench.fleet.submit(JOE, ask)
            await bench.keep_house("batches")
            await finish(bench, agents[0], "failed")
            assert bench.statuses(done.jid) == {"web1": "failed", "web2": "cancelled", "web3": "cancelled"}
            other = await bench.fleet.submit(JOE, Submission(function="test.ping", target="*", batch="1"))
            await bench.keep_house("batches")
            answer = await bench.fleet.cancel(JOE, other.jid)
            assert answer == {"web1": "asked", "web2": "cancelled", "web3": "cancelled"}
            await bench.keep_house("batches")
            assert not agents[1].jobs and not agents[2].jobs

    run(scenario())


@pytest.mark.parametrize(
    "options",
    [
        {"batch": "0"},
        {"batch": "0%"},
        {"batch": "x"},
        {"batch": "-1"},
        {"batch": "101%"},
        {"batch": "1", "batch_wait": -1},
        {"batch": "1", "batch_wait": float("nan")},
        {"batch": "1", "batch_failures": "some"},
        {"batch_failures": "1"},
        {"batch_wait": 3},
    ],
)
def test_what_is_no_batch_is_refused(tmp_path: Path, options: dict[str, object]) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            await light_agent(bench, "web1")
            with pytest.raises(OperationError) as problem:
                await bench.fleet.submit(JOE, Submission(function="test.ping", target="*", **options))  # type: ignore[arg-type]
            assert problem.value.diagnostics[0].code == "fleet-submission"
            assert "batch" in problem.value.diagnostics[0].what

    run(scenario())
