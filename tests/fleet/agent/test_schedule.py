"""The schedule of a machine: when its jobs are due, and that they run without a controller."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.agent.light import LightFleet, LightRunner
from tests.fleet.harness import run, until

from saltern.cli.worker_schedule import scheduled_jobs
from saltern.fleet.agent.jobs import Jobs
from saltern.fleet.agent.schedule import Range, Scheduled, may_run, next_time, spread
from saltern.fleet.agent.scheduler import Scheduler
from saltern.fleet.agent.spool import Spool
from saltern.fleet.agent.worker_task import WorkerSettings


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


NOW = at("2026-11-16 08:00:00")  # a Monday
TIMES = {
    "an interval": (Scheduled(name="j", function="f", every=60), NOW - 10, NOW + 50),
    "an interval that was missed": (Scheduled(name="j", function="f", every=60), NOW - 9999, NOW),
    "a cron row": (Scheduled(name="j", function="f", crons=("30 9 * * *",)), NOW, at("2026-11-16 09:30")),
    "the earlier of two": (
        Scheduled(name="j", function="f", crons=("0 7 * * *", "0 10 * * 3")),
        NOW,
        at("2026-11-17 07:00"),
    ),
    "a moment": (Scheduled(name="j", function="f", at=(NOW + 5,)), NOW, NOW + 5),
    "a moment that is over": (Scheduled(name="j", function="f", at=(NOW - 50,)), NOW, None),
    "not before": (Scheduled(name="j", function="f", every=60, after=NOW + 500), NOW, NOW + 500),
    "no longer": (Scheduled(name="j", function="f", every=60, until=NOW + 5), NOW, None),
    "a row that never comes": (Scheduled(name="j", function="f", crons=("0 0 30 2 *",)), NOW, None),
    "nothing": (Scheduled(name="j", function="f"), NOW, None),
}


@pytest.mark.parametrize("name", TIMES)
def test_finds_when_a_job_is_due(name: str) -> None:
    job, last, due = TIMES[name]
    assert next_time(job, last=last, now=NOW) == due


def test_times_of_day_are_local() -> None:
    job = Scheduled(name="j", function="f", crons=("0 10 * * *",))
    assert next_time(job, last=NOW, now=NOW, zone=3600.0) == at("2026-11-16 09:00")


@given(st.floats(1, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_an_interval_is_never_due_before_it_has_passed(every: float, last: float, now: float) -> None:
    due = next_time(Scheduled(name="j", function="f", every=every), last=last, now=now)
    assert due is not None
    assert due >= now
    assert due >= last + every


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0, 1))
def test_a_splay_is_within_its_limits(low: float, more: float, chance: float) -> None:
    job = Scheduled(name="j", function="f", splay=(low, low + more))
    assert low - 1e-6 <= spread(job, chance) <= low + more + 1e-6


KEYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "units add up": ({"function": "a.b", "minutes": 1, "seconds": 5}, {"every": 65.0}),
    "a cron word": ({"function": "a.b", "cron": "@daily"}, {"crons": ("0 0 * * *",)}),
    "times of day": (
        {"function": "a.b", "when": ["5:00pm", "Monday 07:30", "12am"]},
        {"crons": ("0 17 * * *", "30 7 * * 1", "0 0 * * *")},
    ),
    "splay": ({"function": "a.b", "hours": 1, "splay": {"start": 5, "end": 9}}, {"splay": (5.0, 9.0)}),
    "arguments": (
        {
            "function": "state.apply",
            "days": 1,
            "args": ["web"],
            "kwargs": {"test": True},
            "run_on_start": True,
        },
        {"args": ["web"], "kwargs": {"test": True}, "on_start": True},
    ),
    "returners": (
        {"function": "a.b", "hours": 1, "returner": ["mysql", "smtp"], "return_config": "second"},
        {"returners": ["mysql", "smtp"], "return_options": {"schedule": "j", "ret_config": "second"}},
    ),
    "settings of a returner": (
        {"function": "a.b", "hours": 1, "returner": "mysql", "return_kwargs": {"host": "db"}},
        {"returners": ["mysql"], "return_options": {"schedule": "j", "ret_kwargs": {"host": "db"}}},
    ),
}


@pytest.mark.parametrize("name", KEYS)
def test_reads_the_keys_of_salt(name: str) -> None:
    given_, expected = KEYS[name]
    (found,) = scheduled_jobs("j", given_)
    assert {key: getattr(found, key) for key in expected} == expected


def test_the_returners_of_all_jobs_come_after_those_of_a_job() -> None:
    (found,) = scheduled_jobs("j", {"function": "a.b", "hours": 1, "returner": "b"}, ["a", "b"])
    assert found.returners == ["b", "a"]


def test_reads_dates_and_several_functions() -> None:
    found = scheduled_jobs("j", {"function": ["a.b", "c.d"], "when": "2027-01-31 17:00"})
    assert [one.function for one in found] == ["a.b", "c.d"]
    assert datetime.fromtimestamp(found[0].at[0]) == datetime(2027, 1, 31, 17)
    (once,) = scheduled_jobs("j", {"function": "a.b", "once": "2027-01-31T17:00:05"})
    assert datetime.fromtimestamp(once.at[0]) == datetime(2027, 1, 31, 17, 0, 5)


def test_due_jobs_run_in_their_turn_and_one_that_still_works_is_not_begun_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        spool, runner = Spool(":memory:"), LightRunner(tmp_path)
        now = [NOW]
        jobs = Jobs(spool, runner, now=lambda: now[0])
        scheduler = Scheduler(spool, runner, WorkerSettings(), added=jobs.wake, local=lambda: now[0])
        scheduler._known = [
            Scheduled(name="often", function="state.apply", every=60),
            Scheduled(name="first", function="test.echo", every=3600, on_start=True),
        ]
        runner.holds["state.apply"] = asyncio.Event()
        working = asyncio.create_task(jobs.run())
        assert scheduler.begin_due() == NOW + 60
        await until(lambda: runner.worked and not spool.open_jobs())
        assert len(runner.worked) == 1  # what runs at the start
        for _ in range(3):
            now[0] += 60
            scheduler.begin_due()
            await asyncio.sleep(0)
        assert [entry.changing for entry in spool.open_jobs()] == [1]
        runner.holds["state.apply"].set()
        await until(lambda: not spool.open_jobs())
        assert len(spool.unconfirmed_jids()) == 2  # the controllers get to know of them
        now[0] += 60
        scheduler.begin_due()
        await until(lambda: sum(runner.worked.values()) == 3)
        working.cancel()
        await jobs.close()

    run(scenario())


def test_fleet_is_not_needed(tmp_path: Path) -> None:
    """Nothing of the schedule is on the bus: a hub that is down changes nothing."""

    async def scenario() -> None:
        fleet = LightFleet(tmp_path)
        await fleet.start()
        agent = await fleet.agent("web1")
        fleet.hub.stop()
        agent.scheduler._known = [Scheduled(name="j", function="pkg.install", every=60, on_start=True)]
        agent.scheduler.begin_due()
        await until(lambda: sum(fleet.runners["web1"].worked.values()) >= 1)
        await fleet.stop(agent)

    run(scenario())


DAY = 86_400.0


@pytest.mark.parametrize(
    ("one", "inside", "outside"),
    [
        (Range(start=8 * 3600, end=17 * 3600), (8, 12, 17), (7, 18, 0)),
        (Range(start=22 * 3600, end=6 * 3600), (23, 0, 6), (12, 7, 21)),
        (Range(start=8 * 3600, end=17 * 3600, invert=True), (7, 18), (8, 12)),
    ],
)
def test_a_range_of_every_day_has_its_hours(
    one: Range, inside: tuple[int, ...], outside: tuple[int, ...]
) -> None:
    base = 20_000 * DAY
    assert all(one.has(base + hour * 3600, 0.0) for hour in inside)
    assert not any(one.has(base + hour * 3600, 0.0) for hour in outside)
    assert one.has(base + inside[0] * 3600 - 7200, 7200.0)


def test_a_job_runs_in_its_range_and_not_in_the_one_that_it_skips() -> None:
    noon = 20_000 * DAY + 12 * 3600
    day = Range(start=8 * 3600, end=17 * 3600)
    assert may_run(Scheduled(name="a", function="f", within=day), noon, 0.0)
    assert not may_run(Scheduled(name="a", function="f", within=day), noon + 6 * 3600, 0.0)
    assert not may_run(Scheduled(name="a", function="f", not_within=day), noon, 0.0)
    assert may_run(Scheduled(name="a", function="f"), noon, 0.0)
    dated = Range(start=noon - 10, end=noon + 10, daily=False)
    assert may_run(Scheduled(name="a", function="f", within=dated), noon, 0.0)
    assert not may_run(Scheduled(name="a", function="f", within=dated), noon + 11, 0.0)
