"""Runs that wait for a window, and schedules that begin runs, with systems that do as nodes do."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace
from tests.fleet.controller.chain_kit import TWO, leg_agent, legs, on_bench, rounds, start, status
from tests.fleet.controller.kit import JOE, Bench

from saltern.fleet.controller import chain_library, windows
from saltern.fleet.controller.chains import views
from saltern.fleet.store import calendars
from saltern.fleet.store.calendars import StoredCalendar, StoredSchedule


def event(begin: float, seconds: float) -> str:
    at = datetime.fromtimestamp(begin, UTC)
    return (
        f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:{at:%Y%m%dT%H%M%SZ}\nDURATION:PT{seconds:.0f}S\n"
        "END:VEVENT\nEND:VCALENDAR\n"
    )


def set_window(
    bench: Bench, name: str, begin: float, seconds: float, *, kind: str = "allow", target: str = "*"
) -> None:
    new = StoredCalendar(
        name=name, kind=kind, text=event(begin, seconds), target=target, author="ann", changed=bench.clock()
    )
    windows.keep_calendar(bench.database, "ann", new, bench.clock())


def why(bench: Bench, run: str) -> str:
    with bench.database.read() as connection:
        shown = views.show_run(connection, run)
    assert shown is not None
    return str(shown["why"])


@on_bench
async def test_a_run_begins_when_its_window_opens_and_says_so_until_then(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1")
    now = float(int(bench.clock()))
    set_window(bench, "night", now + 1000, 500)
    made = await start(bench)
    await rounds(bench)
    assert (status(bench, made.run), agent.jobs) == ("scheduled", [])
    assert why(bench, made.run).startswith("1 system waits for a window: no window of night is open; next ")
    set_window(bench, "night", now - 10, 500)
    await rounds(bench)
    assert status(bench, made.run) == "succeeded"


@on_bench
async def test_each_system_waits_for_its_own_window(bench: Bench) -> None:
    await leg_agent(bench, "web1")
    await leg_agent(bench, "db1")
    now = float(int(bench.clock()))
    set_window(bench, "web", now + 1000, 500, target="web*")
    made = await start(bench)
    await rounds(bench)
    assert legs(bench, made.run) == {"db1": "succeeded", "web1": "pending"}
    with bench.database.write() as connection:
        calendars.remove_calendar(connection, "web")
    await rounds(bench)
    assert status(bench, made.run) == "succeeded"


@on_bench
async def test_a_window_that_closes_pauses_before_the_next_action(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1")
    agent.holds = True
    now = float(int(bench.clock()))
    made = await start(bench)
    await rounds(bench)
    set_window(bench, "freeze", now - 10, 1000, kind="deny")
    await rounds(bench)
    assert [job.kwargs["verb"] for job in agent.jobs] == ["run", "pause"]
    assert "freeze denies it until" in why(bench, made.run)
    set_window(bench, "freeze", now - 100, 50, kind="deny")
    await rounds(bench)
    assert [job.kwargs["verb"] for job in agent.jobs] == ["run", "pause", "run"]
    await agent.let_go()
    await rounds(bench)
    assert status(bench, made.run) == "succeeded"


def set_schedule(bench: Bench, **options: object) -> StoredSchedule:
    version = chain_library.save(bench.database, "ann", TWO, bench.clock())
    given = {"name": "nightly", "chain": version.chain, "target": "*", "cron": "@yearly", "author": JOE.name}
    new = StoredSchedule(**{**given, "changed": bench.clock(), **options})  # type: ignore[arg-type]
    return windows.keep_schedule(bench.database, "ann", new, bench.clock())


def make_due(bench: Bench, back: int = 0) -> float:
    """Let it be due since the beginning of this year, or one before; when it is due next."""
    with bench.database.write() as connection:
        found = calendars.schedule_named(connection, "nightly")
        assert found is not None
        year = datetime.fromtimestamp(bench.clock(), UTC).year
        due = datetime(year - back, 1, 1, tzinfo=UTC).timestamp()
        calendars.set_schedule(connection, replace(found, next_at=due))
    return datetime(year + 1, 1, 1, tzinfo=UTC).timestamp()


def stored(bench: Bench) -> StoredSchedule:
    with bench.database.read() as connection:
        found = calendars.schedule_named(connection, "nightly")
    assert found is not None
    return found


@on_bench
async def test_a_schedule_begins_a_run_at_its_time_and_only_once(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1")
    set_schedule(bench)
    await bench.keep_house("schedules")
    assert stored(bench).last_run == ""
    following = make_due(bench)
    for _ in range(3):
        await bench.keep_house("schedules")
    await rounds(bench)
    found = stored(bench)
    assert found.next_at == following
    assert status(bench, found.last_run) == "succeeded"
    assert len(agent.jobs) == 1


@on_bench
async def test_a_controller_that_ended_in_between_begins_no_second_run(bench: Bench) -> None:
    await leg_agent(bench, "web1")
    set_schedule(bench)
    make_due(bench)
    await bench.keep_house("schedules")
    first = stored(bench)
    make_due(bench)  # as if the row had not been written
    await bench.keep_house("schedules")
    assert stored(bench).last_run == first.last_run


@on_bench
async def test_a_schedule_whose_last_run_is_not_over_says_what_it_left_out(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1")
    agent.holds = True
    set_schedule(bench)
    make_due(bench, back=1)
    await bench.keep_house("schedules")
    await rounds(bench)
    first = stored(bench)
    make_due(bench)
    await bench.keep_house("schedules")
    found = stored(bench)
    assert found.last_run == first.last_run
    assert "its last run is not over" in found.last_why
    await agent.let_go()
    await rounds(bench)


@on_bench
async def test_a_schedule_that_cannot_begin_its_run_says_why_and_goes_to_its_next_time(bench: Bench) -> None:
    set_schedule(bench, target="nowhere")
    following = make_due(bench)
    await bench.keep_house("schedules")
    found = stored(bench)
    assert "no run at" in found.last_why
    assert found.next_at == following
