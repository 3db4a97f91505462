"""Returns, journals, events and syncs over the bus in memory: each is stored once, and none is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.controller.kit import JOE, Bench, let_in, light_agent, new_database, running_bench
from tests.fleet.harness import run, until

from saltern.fleet.bus.memory import MemoryHub
from saltern.fleet.controller import indexer
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.indexer import OutOfOrder
from saltern.fleet.controller.limits import RateLimit
from saltern.fleet.controller.service import Submission
from saltern.fleet.protocol.messages import Away, Event, Facts, Progress, Records, Return
from saltern.fleet.protocol.notices import JobEnded, Notice, Progressed, StatusChanged
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.store import job_queries, systems
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import read_events
from saltern.fleet.store.jobs import Change, store_returns
from saltern.fleet.store.returns import standings
from saltern.language.diagnostics import Diagnostic, OperationError

PING = Submission(function="test.ping", target="*")
STATES = Submission(function="state.apply", target="*")


def test_a_return_ends_the_job_and_is_a_notice_to_who_follows(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agents = [await light_agent(bench, f"web{number}") for number in (1, 2)]
            done = await bench.fleet.submit(JOE, PING)
            seen: list[Notice] = []

            async def follow() -> None:
                async for notice in bench.fleet.follow(done.jid, after=done.cursor):
                    seen.append(notice)
                    if isinstance(notice, JobEnded):
                        return

            following = asyncio.create_task(follow())
            await agents[0].give(done.jid)
            await agents[1].give(done.jid, "failed", exit_code=2, failed=3, why="no")
            assert await bench.index() == 2
            await asyncio.wait_for(following, 10)
            statuses = {one.system: one for one in seen if isinstance(one, StatusChanged)}
            assert statuses["web1"].status == "returned"
            failed = statuses["web2"]
            assert (failed.status, failed.exit_code, failed.failed, failed.why) == ("failed", 2, 3, "no")
            assert seen[-1] == JobEnded(
                jid=done.jid, counts={"failed": 1, "returned": 1}, at=seen[-1].at, number=seen[-1].number
            )
            assert f"salt/job/{done.jid}/ret/web1" in bench.tags()

    run(scenario())


def test_a_return_that_comes_twice_is_stored_once_and_a_late_one_corrects(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            done = await bench.fleet.submit(JOE, PING)
            bench.clock.ahead = 400  # over the life of a question
            await bench.keep_house("deadlines")
            assert bench.statuses(done.jid) == {"web1": "expired"}
            await agent.give(done.jid)
            await bench.index()
            await agent.give(done.jid, "failed")
            await bench.index()
            assert bench.statuses(done.jid) == {"web1": "returned"}
            tags = bench.tags()
            assert tags.count(f"salt/job/{done.jid}/ret/web1") == 1
            assert tags.count(f"saltern/job/{done.jid}/ended") == 1

    run(scenario())


def test_a_job_that_an_agent_works_on_is_not_ended_by_its_deadline(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            works, gone = [await light_agent(bench, name) for name in ("web1", "web2")]
            done = await bench.fleet.submit(JOE, PING)
            for agent in (works, gone):
                await agent.send("progress", Progress(jid=done.jid, total=3), jid=done.jid)
            await until(lambda: len(bench.progress.begun) == 2)
            await bench.progress.step()
            assert set(bench.statuses(done.jid).values()) == {"running"}
            works.running = [done.jid]
            bench.clock.ahead = 400
            await bench.keep_house("deadlines")
            assert bench.statuses(done.jid) == {"web1": "running", "web2": "indeterminate"}
            works.running = []
            await bench.keep_house("deadlines")
            assert bench.statuses(done.jid)["web1"] == "indeterminate"

    run(scenario())


def test_progress_of_a_system_that_is_not_in_the_job_is_not_shown(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent, other = [await light_agent(bench, name) for name in ("web1", "db1")]
            done = await bench.fleet.submit(JOE, Submission(function="state.apply", target="web*"))
            reader = bench.fleet.follow(done.jid)
            following = asyncio.ensure_future(anext(reader))
            await until(lambda: bench.hub.following)
            await other.send("progress", Progress(jid=done.jid, state="a lie"), jid=done.jid)
            await agent.send("progress", Progress(jid=done.jid, state="nginx"), jid=done.jid)
            notice = await asyncio.wait_for(following, 10)
            assert isinstance(notice, Progressed)
            assert (notice.system, notice.state) == ("web1", "nginx")
            await bench.progress.step()
            assert bench.statuses(done.jid) == {"web1": "running"}

    run(scenario())


def test_a_sync_gives_what_was_missed_and_confirms_what_is_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            let_in(bench.database, "web1")
            done = await bench.fleet.submit(JOE, STATES)
            assert bench.statuses(done.jid) == {"web1": "queued"}
            agent = await light_agent(bench, "web1", join=False)
            first = await agent.sync()
            assert agent.read_jobs(first) == [done.jid]
            assert bench.statuses(done.jid) == {"web1": "sent"}
            again = await agent.sync()  # the answer was lost: it comes again
            assert agent.read_jobs(again) == [done.jid]
            held = await agent.sync(running=[done.jid])
            assert held.jobs == []
            await agent.give(done.jid)
            assert not (await agent.sync(unconfirmed=[done.jid])).confirmed[0].returned
            await bench.index()
            assert (await agent.sync(unconfirmed=[done.jid])).confirmed[0].returned

    run(scenario())


def test_a_job_that_the_agent_has_lost_is_not_waited_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            begun = await bench.fleet.submit(JOE, STATES)
            await agent.send("progress", Progress(jid=begun.jid), jid=begun.jid)
            await until(lambda: bench.progress.begun)
            await bench.progress.step()
            sent = await bench.fleet.submit(JOE, STATES)
            called_off = await bench.fleet.submit(JOE, STATES)
            await bench.fleet.cancel(JOE, called_off.jid)
            answer = await agent.sync()  # its disk is a new one
            assert agent.read_jobs(answer) == [sent.jid]
            assert bench.statuses(begun.jid) == {"web1": "indeterminate"}
            assert bench.statuses(called_off.jid) == {"web1": "cancelled"}
            await agent.give(begun.jid)  # it came back after all
            await bench.index()
            assert bench.statuses(begun.jid) == {"web1": "returned"}

    run(scenario())


def test_a_cancelled_job_is_reported_to_an_agent_that_was_away(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            done = await bench.fleet.submit(JOE, STATES)
            await agent.bus.close()
            assert await bench.fleet.cancel(JOE, done.jid) == {"web1": "away"}
            agent = await light_agent(bench, "web1", join=False)
            assert (await agent.sync(running=[done.jid])).cancelled == [done.jid]

    run(scenario())


def test_a_job_that_was_written_and_never_sent_is_sent_by_the_next_round(tmp_path: Path) -> None:
    """As after a controller that ended between writing a job and publishing it."""

    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            await bench.look_around()
            bench.memory.stop()
            done = await bench.fleet.submit(JOE, STATES)
            bench.memory.start()
            assert bench.statuses(done.jid) == {"web1": "queued"}
            await bench.keep_house("nudges")
            await until(lambda: agent.orders)
            assert agent.orders[0].action == "sync"
            assert agent.read_jobs(await agent.sync()) == [done.jid]

    run(scenario())


def test_a_return_in_parts_counts_when_all_are_there(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            done = await bench.fleet.submit(JOE, PING)
            for part in (2, 0):
                await agent.give(done.jid, part=part, parts=3, body=b"ab", size=6)
            await bench.index()
            assert bench.statuses(done.jid) == {"web1": "sent"}
            await agent.give(done.jid, part=1, parts=3, body=b"cd", size=6)
            await bench.index()
            assert bench.statuses(done.jid) == {"web1": "returned"}
            with bench.database.read() as connection:
                assert job_queries.body(connection, done.jid, "web1") == ("json", b"abcdab")

    run(scenario())


def test_a_journal_is_stored_without_gaps_and_repetitions(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            done = await bench.fleet.submit(JOE, STATES)
            for first, records in ((0, [0, 1]), (5, [5]), (1, [1, 2, 3]), (0, [0])):
                message = Records(jid=done.jid, run="r", first=first, records=records)
                await agent.send("records", message, jid=done.jid)
            await bench.index()
            with bench.database.read() as connection:
                assert standings(connection, "web1", [done.jid])[done.jid].records == 4
            assert (await agent.sync(unconfirmed=[done.jid])).confirmed[0].records == 4

    run(scenario())


def test_a_system_that_reboots_is_waited_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            done = await bench.fleet.submit(JOE, Submission(function="test.ping", target="*", life=60))
            back_by = bench.clock() + 600
            await agent.send("away", Away(why="reboot", jid=done.jid, back_by=back_by))
            await bench.index()
            assert bench.statuses(done.jid) == {"web1": "down"}
            bench.clock.ahead = 100
            await bench.keep_house("deadlines")
            assert bench.statuses(done.jid) == {"web1": "down"}
            bench.clock.ahead = 700
            await bench.keep_house("deadlines")
            assert bench.statuses(done.jid) == {"web1": "indeterminate"}

    run(scenario())


def test_who_comes_and_goes_is_written_once_also_by_a_new_holder_of_the_lease(tmp_path: Path) -> None:
    async def scenario() -> None:
        database, hub = new_database(tmp_path), MemoryHub()
        one, two = Bench(database, hub, "c1"), Bench(database, hub, "c2")
        for bench in (one, two):
            await bench.start()
        agent = await light_agent(one, "web1")
        for bench in (one, two):
            await bench.look_around()
        assert await one.keep_house("presence")
        assert not await two.keep_house("presence")
        assert one.tags() == ["salt/presence/change", "salt/presence/present"]
        await one.singletons["presence"].stop()
        assert await two.keep_house("presence")
        assert one.tags() == ["salt/presence/change", "salt/presence/present"]
        await agent.bus.close()
        await two.look_around()
        await two.keep_house("presence")
        assert one.tags() == ["salt/presence/change", "salt/presence/present"] * 2
        for bench in (one, two):
            await bench.stop()
        database.close()

    run(scenario())


@pytest.mark.parametrize(
    ("kind", "fields", "data", "reason"),
    [
        ("return", {"jid": "x"}, b"\xff\x00 no JSON", "malformed"),
        ("return", {"jid": "x"}, b"[" * 5000, "too-deep"),
        (
            "return",
            {"jid": "x"},
            b'{"jid":"x","status":"returned","body":"' + b"A" * 900_000 + b'"}',
            "too-large",
        ),
        ("return", {"jid": "x"}, b'{"jid":"x","status":"returned","parts":4000,"part":3999}', "too-large"),
        ("return", {"jid": "x"}, b'{"jid":"x","status":"returned","parts":2,"part":2}', "malformed"),
        ("return", {"jid": "x"}, b'{"jid":"y","status":"returned"}', "other-job"),
        ("return", {"jid": "x"}, b'{"jid":"x","status":"returned"}', "foreign-job"),
        ("return", {"jid": "x"}, b'{"jid":"x","status":"returned","v":99}', "newer"),
        ("event", {"tag": "salt/auth"}, b'{"tag":"salt/auth"}', "foreign-tag"),
        ("event", {"tag": "a"}, b'{"tag":"saltern/job/1/ended"}', "foreign-tag"),
        ("event", {"tag": "a"}, b'{"tag":"salt/minion/web2/start"}', "foreign-tag"),
    ],
)
def test_what_a_hostile_agent_sends_is_refused_counted_and_reported(
    tmp_path: Path, kind: str, fields: dict[str, str], data: bytes, reason: str
) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            bad, good = [await light_agent(bench, name) for name in ("web1", "web2")]
            done = await bench.fleet.submit(JOE, PING)
            for _ in range(3):
                await bad.bus.store(SUBJECTS[kind].of(id="web1", **fields), data)
            await good.give(done.jid)
            assert await bench.index() == 4
            assert bench.alarms.offences.reasons[reason] == 3
            assert bench.tags().count("saltern/alarm") == 1  # the first; the others within the minute
            assert bench.statuses(done.jid) == {"web1": "sent", "web2": "returned"}

    run(scenario())


def test_a_flood_of_events_is_cut_off_and_leaves_others_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            bad, good = [await light_agent(bench, name) for name in ("web1", "web2")]
            bench.indexers[1]._limit = RateLimit(50.0, 1000.0, bench.clock)
            for number in range(1500):
                await bad.send("event", Event(tag="mine/flood", data={"n": number}), tag="mine/flood")
            await good.send("event", Event(tag="mine/one", data={"id": "a lie"}), tag="mine/one")
            await bench.index()
            tags = bench.tags()
            assert tags.count("mine/one") == 1
            assert bench.alarms.offences.reasons["flood"] >= 400
            with bench.database.read() as connection:
                event = read_events(connection, 0, "mine/one").events[0]
                assert (event.system, event.data["id"]) == ("web2", "web2")

    run(scenario())


def test_the_start_of_a_new_system_is_known_when_its_facts_are(tmp_path: Path) -> None:
    """Who waits for the event reads the address of the machine next."""

    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            let_in(bench.database, "new1")
            agent = await light_agent(bench, "new1", join=False)
            await agent.sync()
            assert "salt/minion/new1/start" not in bench.tags()
            for number in range(2):
                facts = Facts(nonce="n" * 16, digest=f"{number:064x}", grains={"ipv4": ["10.0.0.7"]})
                await bench.sync.on_facts("new1", facts)
            assert bench.tags().count("salt/minion/new1/start") == 1
            agent.instance, agent.starts = "later", 2
            await agent.sync()
            assert bench.tags().count("salt/minion/new1/start") == 2

    run(scenario())


def test_facts_are_asked_for_again_if_the_database_has_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            with bench.database.write() as connection:
                old = Facts(nonce="n", digest="a" * 64, grains={"os": "Debian"})
                systems.store_facts(connection, "web1", old, 1.0)
            assert (await agent.sync(facts="b" * 64)).want_facts
            assert not (await agent.sync(facts="a" * 64)).want_facts

    run(scenario())


def test_a_twin_is_refused_and_reported_and_a_restart_is_not(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            assert not (await agent.sync()).refused
            twin = await light_agent(bench, "web1", join=False)
            twin.instance, twin.starts = "twin", 2
            assert "another machine runs" in (await twin.sync()).refused
            assert bench.alarms.offences.reasons["twin"] == 1
            await agent.bus.close()
            assert not (await twin.sync()).refused
            await bench.alarms.settle()
            assert bench.tags().count("salt/minion/web1/start") == 2

    run(scenario())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"jid":"J","status":"returned","exit_code":99999999999999999999999}', "malformed"),
        (b'{"jid":"J","status":"returned","exit_code":-9223372036854775808}', "malformed"),
        (b'{"jid":"J","status":"returned","why":"\\ud800"}', "malformed"),
        (b'{"jid":"J","status":"returned","changed":1e300}', "malformed"),
        (b'{"jid":"J","status":"returned","started":-1}', "malformed"),
    ],
)
def test_numbers_and_texts_that_no_database_takes_are_refused(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            bad, good = [await light_agent(bench, name) for name in ("web1", "web2")]
            done = await bench.fleet.submit(JOE, PING)
            subject = SUBJECTS["return"].of(id="web1", jid=done.jid)
            await bad.bus.store(subject, data.replace(b"J", done.jid.encode(), 1))
            await good.give(done.jid, why="a\0b")
            assert await bench.index() == 2
            assert bench.alarms.offences.reasons[reason] == 1
            assert bench.statuses(done.jid) == {"web1": "sent", "web2": "returned"}

    run(scenario())


def test_a_message_that_cannot_be_stored_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is that a database refuses: here the code itself fails on one system's return."""

    def fragile(connection: Connection, returns: list[tuple[str, Return]], now: float) -> list[Change]:
        if any(system == "web1" for system, _ in returns):
            raise OverflowError("too large for a column")
        return store_returns(connection, returns, now)

    monkeypatch.setattr(indexer, "store_returns", fragile)

    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            bad, good = [await light_agent(bench, name) for name in ("web1", "web2")]
            done = await bench.fleet.submit(JOE, PING)
            await bad.give(done.jid)
            await good.give(done.jid)
            assert await bench.index() == 2
            assert bench.alarms.offences.reasons["unstorable"] == 1
            assert bench.statuses(done.jid) == {"web1": "sent", "web2": "returned"}
            assert await bench.index() == 0  # it does not come again

    run(scenario())


class Dying:
    """The calls of a controller whose database is away for some of them: a word for each, then it is well."""

    def __init__(self, calls: Calls, *words: str) -> None:
        self._calls = calls
        self._words = iter(words)

    async def write(self, change: Any, *args: Any, **options: Any) -> Any:
        if next(self._words, "well") == "away":
            raise OperationError(Diagnostic(code="database-error", what="the database is away"))
        return await self._calls.write(change, *args, **options)


def test_a_database_that_dies_while_returns_are_stored_one_by_one_loses_none(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            names = [f"web{number}" for number in range(4)]
            agents = [await light_agent(bench, name) for name in names]
            done = await bench.fleet.submit(JOE, PING)
            for agent in agents:
                await agent.give(done.jid)
            # The batch, whether it is well, one return, the next one, whether it is well.
            dying = Dying(bench.calls, "away", "well", "well", "away", "away")
            bench.indexers[0]._calls = dying  # type: ignore[assignment]
            with pytest.raises(OutOfOrder):
                await bench.index()
            async with asyncio.timeout(30):
                while set(bench.statuses(done.jid).values()) != {"returned"}:
                    await bench.index()
            assert not bench.alarms.offences.reasons["unstorable"]

    run(scenario())
