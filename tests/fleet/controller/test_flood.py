"""A flood of events: none is lost, and no job waits for more than one batch of it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from tests.fleet.controller.kit import JOE, Bench, light_agent, new_database, running_bench
from tests.fleet.harness import run, until

from saltern.fleet.controller.calls import TURNS, Calls
from saltern.fleet.controller.hub import read_page
from saltern.fleet.controller.indexer import MANNERS, QUIET
from saltern.fleet.controller.service import Submission
from saltern.fleet.protocol.messages import Away, Event
from saltern.fleet.protocol.notices import JobEnded
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, newest_event, read_events, store_events

SYSTEMS = ("web1", "web2", "web3", "web4")
EACH = 300  # events of one system; bench/fleet_events.py has 10,000 over a real broker


def test_what_comes_in_floods_is_written_after_all_else_that_waits(tmp_path: Path) -> None:
    order: list[str] = []

    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        hold = threading.Event()
        note = lambda _connection, name: order.append(name)  # noqa: E731
        first = asyncio.create_task(calls.write_later(lambda _connection: hold.wait(10)))
        flood = [asyncio.create_task(calls.write_later(note, f"event {number}")) for number in range(9)]
        await asyncio.sleep(0)
        jobs = [asyncio.create_task(calls.write(note, f"job {number}")) for number in range(3)]
        await asyncio.sleep(0)
        hold.set()
        await asyncio.gather(first, *flood, *jobs)
        calls.close()
        database.close()

    run(scenario())
    assert order == [*(f"job {number}" for number in range(3)), *(f"event {number}" for number in range(9))]


def test_a_flood_gets_its_turn_however_many_jobs_there_are(tmp_path: Path) -> None:
    """Each job asks for the next one, so that the first line is never empty."""
    order: list[str] = []

    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        later: list[asyncio.Task[None]] = []

        async def work(number: int) -> None:
            def change(_connection: Connection) -> None:
                order.append("job")
                following.set()

            following = threading.Event()
            one = asyncio.create_task(calls.write(change))
            await asyncio.to_thread(following.wait, 10)
            if number:
                later.append(asyncio.create_task(work(number - 1)))
            await one

        busy = [work(TURNS) for _ in range(4)]
        event = calls.write_later(lambda _connection: order.append("event"))
        await asyncio.gather(*busy, event)
        while later:
            await later.pop()
        calls.close()
        database.close()

    run(scenario())
    assert "event" in order
    assert order.index("event") <= 4 * (TURNS + 1)


async def _flood(bench: Bench) -> list[asyncio.Task[None]]:
    async def send(name: str) -> None:
        agent = await light_agent(bench, name)
        for number in range(EACH):
            event = Event(tag=f"flood/{name}/{number}", data={"number": number}, at=1.0, uid=f"u.{number}")
            await agent.send("event", event, tag=f"flood/{name}/{number}")

    return [asyncio.create_task(send(name)) for name in SYSTEMS]


def test_all_events_of_a_flood_are_stored_and_a_job_ends_in_their_midst(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "db1")
            flood = await _flood(bench)
            loops = [asyncio.create_task(indexer.run()) for indexer in bench.indexers]
            await until(lambda: bench.indexers[1].batches)
            done = await bench.fleet.submit(JOE, Submission(function="test.ping", target="db1"))
            await agent.give(done.jid)
            async for notice in bench.fleet.follow(done.jid, after=done.cursor):
                if isinstance(notice, JobEnded):
                    break
            ended = await bench.calls.read(newest_event)
            await asyncio.gather(*flood)
            while await bench.calls.read(newest_event) < EACH * len(SYSTEMS) + 3:  # new, returned, ended
                await asyncio.sleep(0.1)
            assert _stored(bench) == EACH * len(SYSTEMS)
            assert ended < EACH * len(SYSTEMS)
            for loop in loops:
                loop.cancel()

    run(scenario())


def _stored(bench: Bench) -> int:
    """Different events of the flood."""
    with bench.database.read() as connection:
        page = read_events(connection, 0, limit=20_000)
    return len({event.tag for event in page.events if event.tag.startswith("flood/")})


def test_who_follows_a_job_looks_at_its_events_only(tmp_path: Path) -> None:
    database = new_database(tmp_path)
    new = [NewEvent(tag=f"flood/{number}", data={}, at=1.0) for number in range(300)]
    new.insert(150, NewEvent(tag="salt/job/j1/ret/web1", data={"jid": "j1", "id": "web1"}, at=1.0))
    with database.write() as connection:
        store_events(connection, new)
    with database.read() as connection:
        page = read_page(connection, 0)
    database.close()
    assert [event.number for event in page.jobs["j1"]] == [151]
    assert list(page.jobs) == ["j1"]
    assert page.cursor == len(page.events) == 301


def test_batches_of_a_flood_gather_for_longer_and_those_of_returns_do_not() -> None:
    events, returns = MANNERS["EVENTS"], MANNERS["RETURNS"]
    waited = [0.0]
    for _ in range(5):
        waited.append(events.after(waited[-1], 0.1))
    assert waited[1:] == [0.03, 0.06, 0.12, 0.24, 0.24]
    assert events.after(0.24, QUIET) == 0.03
    assert {returns.after(0.0, 0.0), returns.after(0.0, QUIET)} == {0.0}  # they gather before they are stored
    assert returns.linger > events.linger == 0.0


def test_events_wake_the_reactor_and_not_the_work_on_jobs(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            woken: list[str] = []
            bench.hub.job_listeners.append(lambda: woken.append("jobs"))
            bench.hub.event_listeners.append(lambda: woken.append("events"))
            await agent.send("event", Event(tag="mine/one", data={}, at=1.0, uid="u.1"), tag="mine/one")
            await bench.index()
            assert woken == ["events"]
            await agent.send("away", Away(why="reboot", back_by=1.0))
            await bench.index()
            assert woken == ["events", "jobs", "events"]

    run(scenario())
