"""An agent on a bus in memory: what it obeys, what it sends, and what it does when messages are lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from tests.fleet.agent.light import LightFleet, issuer
from tests.fleet.harness import run, until

from saltern.fleet.agent.agent import Agent
from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.faults import Faults
from saltern.fleet.bus.poke import Poker
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Audience, Control
from saltern.fleet.protocol.subjects import SUBJECTS

ID = "web1.example"
JOB = SUBJECTS["job"].of(id=ID)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is lost in these tests is asked for again soon."""
    monkeypatch.setattr("saltern.fleet.agent.sync.TIMEOUT", 0.3)
    monkeypatch.setattr("saltern.fleet.agent.outbox.TIMEOUT", 0.3)
    monkeypatch.setattr("saltern.fleet.bus.backoff.Backoff.delay", lambda *_: 0.02)


def with_agent(tmp_path: Path, scenario: Callable[[LightFleet, Agent], Awaitable[None]]) -> None:
    async def whole() -> None:
        fleet = LightFleet(tmp_path)
        await fleet.start()
        agent = await fleet.agent(ID)
        try:
            await until(lambda: fleet.controller.syncs)
            await scenario(fleet, agent)
        finally:
            await fleet.stop(agent)

    run(whole())


def test_obeys_only_what_a_controller_of_its_fleet_signed_for_it_now(tmp_path: Path) -> None:
    async def scenario(fleet: LightFleet, agent: Agent) -> None:
        controller, now = fleet.controller, time.time()
        job = controller.job("cmd.run", "x")
        stranger = replace(issuer(now), key=SigningKey.new())
        good = controller.sign(job, ID)
        bad = {
            "bad-signature": [
                stranger.issue(job, Audience(ids=[ID]), now=now, life=60),
                good.replace(b"cmd", b"xmd"),
            ],
            "expired": [controller.sign(job, ID, life=1, issued=now - 3600)],
            "from-future": [controller.sign(job, ID, issued=now + 3600)],
            "not-addressed": [controller.sign(job, "web2")],
            "malformed": [b"garbage", b"", good[:-10]],
            "wrong-kind": [controller.sign(Control(action="sync"), ID)],
        }
        for data in (one for many in bad.values() for one in many if one):
            await controller.bus.publish(JOB, data)
        await until(lambda: sum(agent.inbox.refusals.values()) == 8)
        assert set(agent.inbox.refusals) == set(bad)
        assert not agent.spool.counts()
        for _ in range(3):
            await controller.bus.publish(JOB, good)
        await controller.returned(ID, job.jid)
        await until(lambda: agent.inbox.refusals["known"] == 2)
        assert fleet.runners[ID].worked[job.jid] == 1

    with_agent(tmp_path, scenario)


def test_keeps_a_return_until_a_sync_confirms_it(tmp_path: Path) -> None:
    async def scenario(fleet: LightFleet, agent: Agent) -> None:
        fleet.controller.confirms = False
        jid = await fleet.controller.send(ID, "test.echo", "a")
        await fleet.controller.returned(ID, jid)
        agent.syncer.wake()
        await until(lambda: jid in fleet.controller.syncs[-1][1].unconfirmed)
        assert agent.spool.unconfirmed_jids() == [jid]
        fleet.controller.confirms = True
        agent.syncer.wake()
        await until(lambda: not agent.spool.unconfirmed_jids())
        assert agent.spool.is_known(jid)

    with_agent(tmp_path, scenario)


def test_a_broker_that_lost_its_disk_gets_the_returns_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saltern.fleet.agent.outbox.RESEND", 0.05)

    async def scenario(fleet: LightFleet, agent: Agent) -> None:
        controller = fleet.controller
        controller.confirms = False
        jid = await controller.send(ID, "test.echo", "a")
        await controller.returned(ID, jid)
        fleet.hub.stop(lose_disk=True)
        controller.parts.clear()
        fleet.hub.start()
        await make_streams(controller.bus)
        controller.read()

        def is_back() -> bool:
            agent.syncer.wake()
            return (ID, jid) in controller.parts

        await until(is_back)

    with_agent(tmp_path, scenario)


def test_a_job_runs_after_the_one_that_it_names_and_questions_do_not_wait(tmp_path: Path) -> None:
    async def scenario(fleet: LightFleet, agent: Agent) -> None:
        controller, runner = fleet.controller, fleet.runners[ID]
        runner.holds["state.apply"] = asyncio.Event()
        first = await controller.send(ID, "state.apply", "a")
        await until(lambda: runner.worked[first])
        second = await controller.send(ID, "pkg.install", "x")
        question = await controller.send(ID, "test.echo", "q")
        waits = await controller.send(ID, "test.echo", "w", after=first)
        await controller.returned(ID, question)
        assert not runner.worked[second] + runner.worked[waits]
        assert {entry.jid for entry in agent.spool.open_jobs()} == {first, second, waits}
        runner.holds["state.apply"].set()
        await controller.returned(ID, second)
        await controller.returned(ID, waits)
        assert agent.jobs.running == []

    with_agent(tmp_path, scenario)


def test_answers_pokes_at_its_own_subject_only(tmp_path: Path) -> None:
    async def scenario(fleet: LightFleet, agent: Agent) -> None:
        poker = Poker(fleet.controller.bus, "c1")
        await poker.start()
        found = await poker.poke([ID, "nowhere"], timeout=5)
        assert [alive.instance for alive in found.there[ID]] == [agent.instance]
        assert found.away == {"nowhere"}
        stolen: list[bytes] = []

        async def take(message: object) -> None:
            stolen.append(message.data)  # type: ignore[attr-defined]

        await fleet.controller.bus.subscribe("dn.db1.job", take)
        await fleet.controller.bus.publish(SUBJECTS["control"].of(id=ID), reply="dn.db1.job")
        assert (await poker.poke([ID], timeout=5)).there
        assert not stolen

    with_agent(tmp_path, scenario)


def test_refuses_with_a_reason_what_it_may_not_or_cannot_take(tmp_path: Path) -> None:
    async def scenario(fleet: LightFleet, agent: Agent) -> None:
        controller = fleet.controller
        agent.inbox._denied = lambda: ("cmd.*",)
        denied = await controller.returned(ID, await controller.send(ID, "cmd.run", "x"))
        assert (denied.status, "deny list" in denied.why) == ("refused", True)
        agent.inbox._free = lambda _path: 4096
        full = await controller.returned(ID, await controller.send(ID, "pkg.install", "x"))
        assert (full.status, "is full" in full.why) == ("refused", True)
        ping = await controller.returned(ID, await controller.send(ID, "test.ping"))
        assert ping.status == "returned"
        agent.inbox._free = lambda _path: 1 << 30
        controller.refused[ID] = "another machine is at work as this one"
        agent.syncer.wake()
        await until(lambda: agent.inbox.refused)
        jid = await controller.send(ID, "pkg.install", "x")
        await until(lambda: agent.inbox.refusals["refused"])
        assert (ID, jid) not in controller.parts  # a return would end the job of the first machine
        assert not agent.spool.open_jobs()

    with_agent(tmp_path, scenario)


def test_a_clock_that_is_wrong_by_a_day_is_noticed_and_corrected(tmp_path: Path) -> None:
    async def scenario(fleet: LightFleet, agent: Agent) -> None:
        await until(lambda: agent.clock.latest)  # the answer to its first question would correct the clock
        agent.clock.local = lambda: time.time() - 86_400
        job = fleet.controller.job("test.echo", 1)
        await fleet.controller.bus.publish(JOB, fleet.controller.sign(job, ID))
        await until(lambda: agent.inbox.refusals["from-future"])
        agent.syncer.wake()
        await until(lambda: agent.clock.is_wrong)
        assert abs(agent.clock.now() - time.time()) < 60
        jid = await fleet.controller.send(ID, "test.echo", 2)
        assert (await fleet.controller.returned(ID, jid)).status == "returned"
        agent.clock.local = time.time
        agent.syncer.wake()
        await until(lambda: not agent.clock.is_wrong)

    with_agent(tmp_path, scenario)


def test_jobs_that_were_missed_or_cancelled_come_with_the_sync(tmp_path: Path) -> None:
    async def scenario(fleet: LightFleet, agent: Agent) -> None:
        controller, runner = fleet.controller, fleet.runners[ID]
        runner.holds["state.apply"] = asyncio.Event()
        jobs = [controller.job("state.apply", name) for name in "ab"]
        controller.missed[ID] = {job.jid: controller.sign(job, ID) for job in jobs}
        agent.syncer.wake()
        await until(lambda: runner.worked[jobs[0].jid])
        controller.cancelled = [job.jid for job in jobs]
        agent.syncer.wake()
        assert (await controller.returned(ID, jobs[1].jid)).status == "cancelled"
        assert runner.cancelled == [(jobs[0].jid, False)]

    with_agent(tmp_path, scenario)


@pytest.mark.parametrize("seed", range(3))
def test_every_job_runs_once_and_returns_once_whatever_the_bus_does(tmp_path: Path, seed: int) -> None:
    """Messages are lost, doubled and late, agents end and start again: what is missed comes with a sync."""

    async def scenario() -> None:
        chance = Random(seed)
        fleet = LightFleet(tmp_path, seed)
        await fleet.start()
        ids = [f"s{number}" for number in range(4)]
        agents = {id: await fleet.agent(id) for id in ids}
        fleet.hub.faults = Faults(loss=0.2, duplicate=0.2, delay=0.02)
        sent: list[tuple[str, str]] = []
        for _ in range(10):
            for id in ids:
                job = fleet.controller.job(chance.choice(["test.echo", "pkg.install"]), id)
                data = fleet.controller.sign(job, id)
                fleet.controller.missed.setdefault(id, {})[job.jid] = data
                sent.append((id, job.jid))
                await fleet.controller.bus.publish(SUBJECTS["job"].of(id=id), data)
            victim = chance.choice(ids)
            await agents[victim].close()
            agents[victim].spool.close()
            await agents[victim].bus.close()
            agents[victim] = await fleet.agent(victim)
        fleet.hub.faults = Faults()
        for agent in agents.values():
            agent.syncer.wake()
        for id, jid in sent:
            await fleet.controller.returned(id, jid)
        for id, jid in sent:
            assert fleet.runners[id].worked[jid] == 1, jid
            assert fleet.controller.parts[id, jid][0].status == "returned"
        await fleet.stop(*agents.values())

    run(scenario())
