"""The reactor of a controller, over the bus in memory: once for each event, with limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.fleet.controller.kit import JOE, Bench, LightAgent, light_agent, running_bench
from tests.fleet.harness import run

from saltern.fleet.access.ports import Decision, Request, Verdict
from saltern.fleet.controller.reactor.keeper import CURSOR
from saltern.fleet.controller.reactor.options import ReactorOptions
from saltern.fleet.controller.submission import Submission
from saltern.fleet.protocol.messages import Event
from saltern.fleet.reactor.rules import read_map
from saltern.fleet.store import audit
from saltern.fleet.store.events import NewEvent, store_events
from saltern.fleet.store.listings import JobFilter, jobs_before
from saltern.fleet.store.reactions import (
    NewReaction,
    StoredReaction,
    add_reactions,
    end_reaction,
    last_reactions,
)
from saltern.fleet.store.settings import read_setting, write_setting

ECHO = """
tell:
  local.test.echo:
    - tgt: {{ data['id'] }}
    - args:
      - text: "{{ tag }} {{ data['data']['n'] }}"
"""


@asynccontextmanager
async def reacting(
    tmp_path: Path, files: Mapping[str, str], rules: Any, **options: Any
) -> AsyncIterator[tuple[Bench, LightAgent]]:
    """A controller whose reactor has this map, and one system."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    async with running_bench(tmp_path) as bench:
        agent = await light_agent(bench, "web1")
        made = ReactorOptions(rules=read_map(rules), **{"rate": 10_000.0, **options})
        bench.reactor.options = made
        bench.reactor.rules._options = made
        await bench.keep_house("reactor")  # its cursor begins here
        yield bench, agent


def send(bench: Bench, tag: str, data: dict[str, Any] | None = None, **more: Any) -> None:
    with bench.database.write() as connection:
        event = NewEvent(tag=tag, data={"id": "web1", "data": data or {}}, at=bench.clock(), **more)
        store_events(connection, [event])


def reactions(bench: Bench) -> list[StoredReaction]:
    with bench.database.read() as connection:
        return last_reactions(connection, 500)[::-1]


def test_an_event_of_an_agent_becomes_a_job_once_however_often_it_is_sent(tmp_path: Path) -> None:
    async def scenario() -> None:
        rules = [{"shop/*": str(tmp_path / "a.sls")}]
        async with reacting(tmp_path, {"a.sls": ECHO}, rules) as (bench, agent):
            for _ in range(3):
                event = Event(tag="shop/done", data={"n": 7}, uid="s.1", jid="j1")
                await agent.send("event", event, tag="shop/done")
            await bench.index()
            assert bench.tags().count("shop/done") == 1
            await bench.keep_house("reactor")
            await bench.keep_house("reactor")
            (row,) = reactions(bench)
            assert (row.status, row.line, row.depth) == ("done", 3, 1)
            with bench.database.read() as connection:
                (job,) = jobs_before(connection, None, 10, JobFilter())
            assert (job.function, job.user, job.parent) == ("test.echo", "reactor", "j1")
            assert agent.jobs[0].kwargs == {"text": "shop/done 7"}

    run(scenario())


def test_the_job_of_a_reaction_names_its_returners(tmp_path: Path) -> None:
    async def scenario() -> None:
        text = "a:\n  local.test.echo:\n    - tgt: web1\n    - arg: [hi]\n    - ret: file_log,other\n"
        text += "    - ret_kwargs: {host: logs}\n"
        rules = [{"shop/*": str(tmp_path / "a.sls")}]
        async with reacting(tmp_path, {"a.sls": text}, rules) as (bench, agent):
            send(bench, "shop/done")
            await bench.keep_house("reactor")
            assert [job.returners for job in agent.jobs] == [["file_log", "other"]]
            assert [job.return_options for job in agent.jobs] == [{"ret_kwargs": {"host": "logs"}}]

    run(scenario())


def test_a_reaction_is_done_once_if_the_controller_ends_before_it_has_written_that(tmp_path: Path) -> None:
    """The cursor is put back to before the event, as after a crash: the same event gives the same job."""

    async def scenario() -> None:
        rules = [{"shop/*": str(tmp_path / "a.sls")}]
        async with reacting(tmp_path, {"a.sls": ECHO}, rules) as (bench, agent):
            with bench.database.read() as connection:
                before = read_setting(connection, CURSOR, int)
            send(bench, "shop/done", {"n": 1})
            await bench.keep_house("reactor")

            with bench.database.write() as connection:
                write_setting(connection, CURSOR, before)
            await bench.keep_house("reactor")
            assert len(agent.jobs) == 1
            assert len(reactions(bench)) == 1

    run(scenario())


def test_a_reaction_that_triggers_itself_is_stopped_with_an_event_and_a_row_of_the_audit(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        rules = [{"salt/job/*/new": str(tmp_path / "a.sls")}]
        files = {"a.sls": "again:\n  local.test.ping:\n    - tgt: web1\n"}
        async with reacting(tmp_path, files, rules, depth=4) as (bench, agent):
            await bench.fleet.submit(JOE, Submission(function="test.ping", target="web1"))
            for _ in range(10):
                await bench.keep_house("reactor")
            rows = reactions(bench)
            assert [row.status for row in rows] == ["done"] * 4 + ["stopped"]
            assert "triggers itself" in rows[-1].why
            assert bench.tags().count("saltern/reactor/stopped") == 1
            with bench.database.read() as connection:
                entries = [one for one in audit.entries(connection) if one.action == "reaction.stopped"]
            assert len(entries) == 1
            assert len(agent.jobs) == 5

    run(scenario())


def test_reactions_that_multiply_are_stopped(tmp_path: Path) -> None:
    async def scenario() -> None:
        rules = [{"salt/job/*/new": str(tmp_path / "a.sls")}]
        one = "{0}:\n  local.test.ping:\n    - tgt: web1\n"
        files = {"a.sls": one.format("x") + one.format("y") + one.format("z")}
        async with reacting(tmp_path, files, rules, depth=50, family=12) as (bench, agent):
            await bench.fleet.submit(JOE, Submission(function="test.ping", target="web1"))
            for _ in range(10):
                await bench.keep_house("reactor")
            assert len(agent.jobs) <= 1 + 12 + 3
            assert any("trigger each other" in row.why for row in reactions(bench))

    run(scenario())


def test_failures_are_events_with_the_line_and_do_not_keep_others_from_their_turn(tmp_path: Path) -> None:
    async def scenario() -> None:
        files = {
            "bad.sls": "a:\n  local.test.ping:\n    - tgt: {{ data.nope.x }}\n",
            "form.sls": "b:\n  local.test.ping: []\n",
            "none.sls": "c:\n  local.test.ping:\n    - tgt: nobody\n",
            "good.sls": ECHO,
        }
        rules = [{"shop/*": [str(tmp_path / name) for name in (*files, "missing.sls")]}]
        async with reacting(tmp_path, files, rules) as (bench, agent):
            send(bench, "shop/done", {"n": 1})
            await bench.keep_house("reactor")
            found = {Path(row.source).name: row for row in reactions(bench)}
            assert {name: row.status for name, row in found.items()} == {
                "bad.sls": "failed",
                "form.sls": "failed",
                "none.sls": "failed",
                "missing.sls": "failed",
                "good.sls": "done",
            }
            assert (found["bad.sls"].line, found["form.sls"].line) == (3, 2)
            assert bench.tags().count("saltern/reactor/failed") == 4
            assert len(agent.jobs) == 1

    run(scenario())


class Refuses:
    """A policy that allows a reactor one function."""

    def decide(self, who: Any, request: Request, matcher: Any, now: float) -> Decision:
        if who.name == "reactor" and request.function == "test.ping":
            return Decision(verdict=Verdict.ALLOWED, rule="pings")
        return Decision(verdict=Verdict.DENIED, why=f"{who.name} may not run {request.function}")


def test_the_policy_decides_what_a_reaction_may_do(tmp_path: Path) -> None:
    async def scenario() -> None:
        ping = "p:\n  local.test.ping:\n    - tgt: web1\n"
        elsewhere = f"q{ping[1:]}    - ret: mysql\n    - ret_kwargs: {{host: elsewhere}}\n"
        files = {"a.sls": ECHO, "b.sls": ping, "c.sls": elsewhere}
        rules = [{"shop/*": [str(tmp_path / name) for name in files]}]
        async with reacting(tmp_path, files, rules) as (bench, agent):
            bench.reactor.actor.access = Refuses()
            send(bench, "shop/done", {"n": 1})
            await bench.keep_house("reactor")
            first, second, third = reactions(bench)
            assert (first.status, second.status, third.status) == ("failed", "done", "failed")
            assert "reactor may not run test.echo" in first.why
            assert "reactor may not run mysql.returner" in third.why
            assert [job.function for job in agent.jobs] == ["test.ping"]
            assert agent.jobs[0].rule == "pings"

    run(scenario())


def test_what_would_follow_is_shown_and_nothing_is_done(tmp_path: Path) -> None:
    async def scenario() -> None:
        rules = [{"shop/*": str(tmp_path / "a.sls")}]
        async with reacting(tmp_path, {"a.sls": ECHO}, rules) as (bench, agent):
            found = await bench.reactor.foresee("shop/x", {"id": "web1", "data": {"n": 1}})
            assert (found.systems, found.refusals) == ([["web1"]], [""])
            assert found.reactions[0].kwargs == {"text": "shop/x 1"}
            assert (await bench.reactor.foresee("other", {})).sources == []
            assert not agent.jobs
            assert not reactions(bench)

    run(scenario())


def test_events_from_before_the_first_row_of_the_map_and_old_ones_are_left_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with reacting(tmp_path, {"a.sls": ECHO}, []) as (bench, agent):
            send(bench, "shop/done", {"n": 1})
            await bench.reactor.add("joe", "shop/*", str(tmp_path / "a.sls"))
            await bench.keep_house("reactor")
            assert not agent.jobs
            bench.clock.ahead = -7200
            send(bench, "shop/done", {"n": 2})
            bench.clock.ahead = 0
            send(bench, "shop/done", {"n": 3})
            await bench.keep_house("reactor")
            assert [job.kwargs["text"] for job in agent.jobs] == ["shop/done 3"]
            assert [row.status for row in reactions(bench)] == ["stopped", "done"]
            await bench.reactor.remove("joe", "shop/*")
            send(bench, "shop/done", {"n": 4})
            await bench.keep_house("reactor")
            assert len(agent.jobs) == 1

    run(scenario())


def test_a_return_is_in_the_data_of_its_event(tmp_path: Path) -> None:
    text = """
{% if data['success'] and data['fun'] == 'test.version' %}
next:
  local.test.echo:
    - tgt: {{ data['id'] }}
    - args: {text: "{{ data['return']['major'] }} {{ data['retcode'] }}"}
{% endif %}
"""

    async def scenario() -> None:

        rules = [{"salt/job/*/ret/*": str(tmp_path / "a.sls")}]
        async with reacting(tmp_path, {"a.sls": text}, rules) as (bench, agent):
            made = await bench.fleet.submit(JOE, Submission(function="test.version", target="web1"))
            await agent.give(made.jid, body=b'{"major": 3008}', size=15)
            await bench.index()
            await bench.keep_house("reactor")
            assert agent.jobs[-1].kwargs == {"text": "3008 0"}
            assert agent.jobs[-1].parent == made.jid

    run(scenario())


def test_a_flood_of_events_is_stored_whole_and_reacted_to(tmp_path: Path) -> None:
    async def scenario() -> None:
        rules = [{"shop/rare": str(tmp_path / "a.sls")}]
        async with reacting(tmp_path, {"a.sls": ECHO}, rules) as (bench, agent):
            for number in range(3000):
                tag = "shop/rare" if number % 1000 == 999 else "shop/usual"
                await agent.send("event", Event(tag=tag, data={"n": number}, uid=f"s.{number}"), tag=tag)
            await bench.index()
            await bench.keep_house("reactor")
            tags = bench.tags()
            assert (tags.count("shop/usual"), tags.count("shop/rare")) == (2997, 3)
            assert [job.kwargs["text"] for job in agent.jobs] == [f"shop/rare {n}999" for n in ("", 1, 2)]

    run(scenario())


def test_a_runner_that_cannot_be_asked_for_is_a_failure_and_not_a_crash(tmp_path: Path) -> None:
    async def scenario() -> None:
        rules = [{"shop/*": str(tmp_path / "a.sls")}]
        files = {"a.sls": "a:\n  runner.test.arg: []\nb:\n  caller.test.echo:\n    - args: [hi]\n"}
        async with reacting(tmp_path, files, rules) as (bench, _agent):
            send(bench, "shop/done")
            await bench.keep_house("reactor")
            first, second = reactions(bench)
            assert (first.kind, first.status) == ("runner", "failed")
            assert "no socket" in first.why
            assert (second.kind, second.status, second.jid) == ("caller", "done", "")

    run(scenario())


def test_what_ran_when_the_controller_ended_is_reported_as_not_known(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with reacting(tmp_path, {}, []) as (bench, _agent):
            row = NewReaction(
                token="t" * 64,
                event=1,
                root=1,
                depth=1,
                at=1.0,
                tag="x",
                source="a.sls",
                status="running",
                jid="r",
            )
            with bench.database.write() as connection:
                add_reactions(connection, [row])
            bench.singletons["reactor"].fence = None
            await bench.keep_house("reactor")
            (one,) = reactions(bench)
            assert (one.status, "unknown" in one.why) == ("failed", True)
            with bench.database.write() as connection:
                assert not end_reaction(connection, "r", "done", "")

    run(scenario())


def test_the_job_of_a_schedule_is_known_by_its_return_and_no_other_can_be_taken(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            web1, web2 = [await light_agent(bench, name) for name in ("web1", "web2")]
            await web1.give("local-1", function="test.echo", by="schedule:often")
            await web2.give("local-1", function="test.echo", by="schedule:often")
            await web2.give("local-2", function="test.echo", by="joe")
            await bench.index()
            with bench.database.read() as connection:
                (job,) = jobs_before(connection, None, 10, JobFilter())
            assert (job.jid, job.user, job.function) == ("local-1", "schedule:often on web1", "test.echo")
            assert bench.statuses("local-1") == {"web1": "returned"}
            assert bench.alarms.offences.reasons["foreign-job"] == 2
            assert "salt/job/local-1/ret/web1" in bench.tags()

    run(scenario())
