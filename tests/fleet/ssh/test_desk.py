"""What a controller decides about systems without an agent, without hosts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.controller.kit import JOE
from tests.fleet.databases import sqlite_database

from saltern.fleet.controller.ssh.access import STEPS, HostAccess, pause_after
from saltern.fleet.controller.ssh.board import SshBoard
from saltern.fleet.controller.ssh.returns import is_unbegun, returns_of
from saltern.fleet.controller.ssh.roster import RosterKeeper, usual_sources
from saltern.fleet.protocol.codec import PART
from saltern.fleet.protocol.messages import Job, Return
from saltern.fleet.ssh.drive import Done
from saltern.fleet.ssh.problems import PROBLEMS
from saltern.fleet.store import job_queries, systems
from saltern.fleet.store.database import Database
from saltern.fleet.store.jobs import Change, NewJob, create_job, end_overdue, set_status
from saltern.fleet.store.ssh_systems import (
    SshSystem,
    late_work,
    note_reached,
    note_unreached,
    note_wait,
    open_work,
    set_roster,
    ssh_systems,
)

NOW = 1000.0


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return sqlite_database(tmp_path / "fleet.db")


def job(number: int = 0) -> Job:
    return Job(jid=f"20260101T000000.{number:06d}-aaaaaa", function="test.ping", user=JOE.name)


class TestRosterInTheDatabase:
    def test_systems_come_and_go_with_it(self, database: Database) -> None:
        with database.write() as connection:
            assert set_roster(connection, ["b", "a"], NOW).added == ["a", "b"]
            assert set_roster(connection, ["a"], NOW).removed == ["b"]
            assert list(ssh_systems(connection)) == ["a"]
            found = systems.system(connection, "a")
        assert found is not None
        assert (found.kind, found.state, found.decided_by, found.online) == (
            "ssh",
            "accepted",
            "roster",
            False,
        )

    def test_an_agent_keeps_its_id(self, database: Database) -> None:
        applicant = systems.Applicant(id="a", key=b"k", sealing_key=b"s", fingerprint="f")
        with database.write() as connection:
            systems.enrol(connection, applicant, NOW, accept_by="t")
            change = set_roster(connection, ["a"], NOW)
            found = systems.system(connection, "a")
        assert (change.added, change.taken) == ([], ["a"])
        assert found is not None
        assert found.kind == "agent"
        with database.write() as connection:
            assert set_roster(connection, [], NOW).removed == []

    @pytest.mark.parametrize(
        ("status", "end"), [("queued", "cancelled"), ("sent", "cancelled"), ("running", "indeterminate")]
    )
    def test_what_is_open_on_one_that_goes_ends(self, database: Database, status: str, end: str) -> None:
        with database.write() as connection:
            set_roster(connection, ["a"], NOW)
            create_job(connection, NewJob(job=job(), target="a", systems=("a",), expires=NOW + 9), NOW)
            if status != "queued":
                set_status(connection, Change(job().jid, "a", status), NOW, reported=True)
            assert [one.status for one in set_roster(connection, [], NOW).ended] == [end]
            row = job_queries.job(connection, job().jid)
        assert row is not None
        assert row.ended == NOW

    def test_work_that_was_begun_comes_first_then_by_age(self, database: Database) -> None:
        with database.write() as connection:
            set_roster(connection, ["a"], NOW)
            for number in (1, 2, 3):
                new = NewJob(job=job(number), target="*", systems=("a", "x"), expires=NOW + 9)
                create_job(connection, new, NOW + number)
            set_status(connection, Change(job(3).jid, "a", "running"), NOW, reported=True)
            found = [one.job.jid for one in open_work(connection)]
            set_status(connection, Change(job(2).jid, "a", "indeterminate"), NOW, reported=False)
            late = late_work(connection, "a", NOW - 5)
        assert found == [job(3).jid, job(1).jid, job(2).jid]  # and none of x, which has an agent
        assert [(one.job.jid, one.is_begun) for one in late] == [(job(2).jid, True)]

    def test_why_a_job_waited_is_said_when_its_time_is_over(self, database: Database) -> None:
        with database.write() as connection:
            set_roster(connection, ["a"], NOW)
            create_job(connection, NewJob(job=job(), target="a", systems=("a",), expires=NOW), NOW)
            assert note_wait(connection, job().jid, "a", "it cannot be reached", NOW)
            assert not note_wait(connection, job().jid, "a", "it cannot be reached", NOW)
            end_overdue(connection, [Change(job().jid, "a", "queued")], NOW)
            (row,) = job_queries.targets(connection, job().jid)
        assert (row.status, row.why) == ("expired", "the job had expired: it cannot be reached")

    def test_presence_changes_are_seen_once(self, database: Database) -> None:
        with database.write() as connection:
            set_roster(connection, ["a"], NOW)
            assert not note_unreached(connection, "a", "no route")  # it never was there
            assert [note_reached(connection, "a", NOW) for _ in range(2)] == [True, False]
            assert [note_unreached(connection, "a", "no route") for _ in range(2)] == [True, False]
            assert systems.presence_of(connection) == {}  # the broker's word on connections is for agents


class TestBoard:
    def test_parts_systems_by_how_they_are_reached(self) -> None:
        board = SshBoard()
        board.systems = {
            "s": SshSystem(id="s", online=True, seen_at=5.0, why=""),
            "gone": SshSystem(id="gone", online=False, seen_at=None, why="no route"),
        }
        board.running = {"s": ["jid"]}
        every = ["a", "s", "gone"]
        assert board.agents(every) == ["a"]
        assert board.away(every) == {"gone": None}
        assert [board.is_there(id_) for id_ in every] == [None, True, False]
        assert {id_: said[0].running for id_, said in board.there(every).items()} == {"s": ["jid"]}


class TestAccess:
    @given(st.integers(0, 1000))
    def test_pauses_grow_to_a_minute_and_no_further(self, failures: int) -> None:
        assert pause_after(failures) <= pause_after(failures + 1) <= STEPS[-1] == 60.0

    def test_changing_jobs_take_turns_in_order_and_questions_do_not_wait(self) -> None:
        async def main() -> list[str]:
            access, seen, gate = HostAccess(), list[str](), asyncio.Event()

            async def work(name: str, *, changing: bool) -> None:
                async with access.turn(changing=changing):
                    seen.append(name)
                    if name == "first":
                        await gate.wait()

            async with asyncio.TaskGroup() as group:
                for name in ("first", "second", "third"):
                    group.create_task(work(name, changing=True))
                await group.create_task(work("question", changing=False))
                gate.set()
            return seen

        assert asyncio.run(main()) == ["first", "question", "second", "third"]

    def test_while_a_host_is_away_one_attempt_speaks_for_all(self) -> None:
        async def main() -> tuple[int, list[int]]:
            access, begun, gate = HostAccess(), list[int](), asyncio.Event()
            access.failed()
            access.hurry()

            async def attempt(number: int) -> None:
                async with access.trial():
                    begun.append(number)
                    await gate.wait()
                    access.reached()

            async with asyncio.TaskGroup() as group:
                for number in range(5):
                    group.create_task(attempt(number))
                for _ in range(20):
                    await asyncio.sleep(0)
                alone = len(begun)
                gate.set()
            return alone, sorted(begun)

        assert asyncio.run(main()) == (1, [0, 1, 2, 3, 4])

    def test_an_attempt_that_is_given_up_lets_the_next_one_try(self) -> None:
        async def main() -> bool:
            access = HostAccess()
            access.failed()
            access.hurry()

            async def attempt(seconds: float) -> None:
                async with access.trial():
                    await asyncio.sleep(seconds)

            first = asyncio.create_task(attempt(1000))
            second = asyncio.create_task(attempt(0))
            await asyncio.sleep(0)
            first.cancel()
            await asyncio.wait_for(second, 10)
            return first.cancelled() or first.cancelling() > 0

        assert asyncio.run(main())


def whole(returns: list[Return]) -> bytes:
    return b"".join(one.body for one in returns)


class TestReturns:
    @given(st.integers(0, 3 * PART + 1))
    def test_a_body_travels_in_parts(self, size: int) -> None:
        done = Done(status="returned", body=bytes(size), size=size)
        found = list(returns_of("j", done, started=1.0, ended=2.0, cancelled=False))
        assert whole(found) == bytes(size)
        assert [one.part for one in found] == list(range(found[0].parts))

    @pytest.mark.parametrize(("code", "status"), [(130, "cancelled"), (0, "returned")])
    def test_what_ended_before_it_was_cancelled_is_not_cancelled(self, code: int, status: str) -> None:
        done = Done(status="returned", code=code)
        (found,) = returns_of("j", done, started=1.0, ended=2.0, cancelled=True)
        assert found.status == status

    @pytest.mark.parametrize("kind", PROBLEMS)
    def test_only_a_problem_that_may_pass_is_waited_for(self, kind: str) -> None:
        done = Done(status="failed", problem=kind)
        assert is_unbegun(done) == PROBLEMS[kind].again
        assert not is_unbegun(Done(status="indeterminate", problem=kind))


class TestRosterFiles:
    def test_is_read_when_it_changes_and_stays_when_it_is_wrong(self, tmp_path: Path) -> None:
        path = tmp_path / "roster"
        path.write_text("web1: 192.0.2.1\n")
        keeper = RosterKeeper(lambda: [str(path)], now=lambda: NOW)

        async def look() -> bool:
            return await keeper.refresh(force=True)

        assert [asyncio.run(look()), asyncio.run(look())] == [True, False]
        assert list(keeper.known.hosts) == ["web1"]
        path.write_text("web1: [\n")
        assert not asyncio.run(look())
        assert keeper.problem
        assert list(keeper.known.hosts) == ["web1"]
        path.write_text("[web]\nweb2\n")
        assert asyncio.run(look())
        assert (list(keeper.known.hosts), keeper.known.groups["web"]) == (["web2"], "L@web2")

    def test_variables_beside_an_inventory_count(self, tmp_path: Path) -> None:
        (tmp_path / "hosts").write_text("[web]\nweb1\n")
        keeper = RosterKeeper(lambda: [str(tmp_path / "hosts")], now=lambda: NOW)
        asyncio.run(keeper.refresh(force=True))
        (tmp_path / "group_vars").mkdir()
        (tmp_path / "group_vars" / "web").write_text("ansible_port: 2222\n")
        assert asyncio.run(keeper.refresh(force=True))
        assert keeper.known.hosts["web1"].port == 2222

    def test_an_id_that_no_system_can_have_is_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "roster").write_text("a/b: h1\nweb1: h2\n")
        keeper = RosterKeeper(lambda: [str(tmp_path / "roster")], now=lambda: NOW)
        asyncio.run(keeper.refresh())
        assert list(keeper.known.hosts) == ["web1"]

    def test_usual_places(self, tmp_path: Path) -> None:
        config = str(tmp_path / "controller.yaml")
        assert usual_sources(config) == ()
        (tmp_path / "roster.d").mkdir()
        assert usual_sources(config) == (str(tmp_path / "roster.d"),)
