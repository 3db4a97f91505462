"""The service ``publish`` over the bus in memory: what a system may ask of others, and what it gets."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fleet.controller.kit import Bench, LightAgent, light_agent, running_bench
from tests.fleet.harness import run

from saltern.fleet.access.peers import read_peers
from saltern.fleet.access.ports import Decision, Matcher, Principal, Request, Verdict
from saltern.fleet.controller.peers import DEEPEST, PeerOptions
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import verify
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.peer_messages import PublishAnswer, PublishRequest
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.store import job_queries
from saltern.fleet.store.events import read_events


async def ask(agent: LightAgent, **fields: Any) -> PublishAnswer:
    request = PublishRequest(nonce=new_nonce(), **fields)
    reply = await agent.bus.request(SUBJECTS["publish"].of(id=agent.id), encode(request), timeout=10)
    found = verify(reply.data, agent.trust, me=agent.id, now=time.time(), nonce=request.nonce)
    return found.of(PublishAnswer)


async def three(bench: Bench, **rules: Any) -> list[LightAgent]:
    options = {name: read_peers(value) for name, value in rules.items()}
    bench.peers._options = PeerOptions(**options)
    rows = [("web1", "Debian"), ("web2", "Fedora"), ("db1", "Debian")]
    return [await light_agent(bench, name, {"os": os}) for name, os in rows]


def refusals(bench: Bench) -> list[str]:
    with bench.database.read() as connection:
        events = read_events(connection, 0, "saltern/alarm").events
    return [str(one.data["why"]) for one in events if one.data["reason"] == "peer"]


TARGETS = [
    ("*", "glob", ["db1", "web1", "web2"]),
    ("web*", "glob", ["web1", "web2"]),
    ("web2,db1", "list", ["db1", "web2"]),
    ("os:Debian", "grain", ["db1", "web1"]),
    ("os:(Deb|Fed).*", "grain_pcre", ["db1", "web1", "web2"]),
    (r"web\d", "pcre", ["web1", "web2"]),
    ("G@os:Debian and not db1", "compound", ["web1"]),
    ("none*", "glob", []),
]


def test_a_job_goes_to_the_systems_of_every_kind_of_target(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            web1, _, _ = await three(bench, publish={"web1": ["test.*"]})
            for target, kind, expected in TARGETS:
                found = await ask(web1, function="test.echo", args=["x"], target=target, matcher=kind)
                assert (sorted(found.systems), found.problem) == (expected, ""), target
                assert found.done is (not expected)
            assert (await ask(web1, function="test.ping", target="( a", matcher="compound")).problem
            assert (await ask(web1, function="test.ping", target="*", matcher="nonsense")).problem

    run(scenario())


def test_returns_are_given_as_they_come_and_to_nobody_else(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            web1, web2, db1 = await three(bench, publish={".*": [".*"]})
            made = await ask(web1, function="test.echo", args=["x"], target="web2,db1", matcher="list")
            assert [job.user for job in web2.jobs] == ["system:web1"]
            assert await ask(web1, jid=made.jid) == PublishAnswer(jid=made.jid, systems=["db1", "web2"])
            await web2.give(str(made.jid), body=b'"x"', size=3)
            await bench.index()
            half = await ask(web1, jid=made.jid)
            assert (half.returns, half.done) == ({"web2": {"ret": "x"}}, False)
            await db1.give(str(made.jid), "refused", why="root says no", body=b"", size=0)
            await bench.index()
            whole = await ask(web1, jid=made.jid)
            assert whole.returns == {"web2": {"ret": "x"}, "db1": {"ret": "root says no"}}
            assert whole.done
            assert (await ask(db1, jid=made.jid)).problem
            assert not (await ask(db1, jid=made.jid)).returns

    run(scenario())


def test_a_return_that_is_too_large_leaves_room_for_the_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            web1, web2, db1 = await three(bench, publish={".*": [".*"]})
            made = await ask(web1, function="test.echo", target="web2,db1", matcher="list")
            large = msgspec.json.encode("x" * 710_000)
            await db1.give(str(made.jid), body=large[:400_000], size=len(large), parts=2)
            await db1.give(str(made.jid), part=1, body=large[400_000:], size=len(large), parts=2)
            await web2.give(str(made.jid))
            await bench.index()
            found = await ask(web1, jid=made.jid)
            assert found.returns["web2"] == {"ret": True}
            assert "too large" in found.returns["db1"]["ret"]

    run(scenario())


REFUSED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"function": "test.ping", "target": "*"}),
    ({"publish": {"db.*": [".*"]}}, {"function": "test.ping", "target": "*"}),
    ({"publish": {"web1": ["test.*"]}}, {"function": "cmd.run", "target": "*"}),
    ({"publish": {".*": [{"web*": ["test.*"]}]}}, {"function": "test.ping", "target": "*"}),
    ({"publish": {".*": [{"( x": ["test.*"]}]}}, {"function": "test.ping", "target": "web2"}),
    ({"publish": {".*": [".*"]}}, {"function": "publish.publish", "target": "*"}),
    ({"publish": {".*": [".*"]}}, {"function": "test.ping,cmd.run", "target": "*"}),
    ({"publish": {".*": [".*"]}}, {"function": "manage.up", "runner": True}),
    ({"run": {".*": ["jobs.*"]}}, {"function": "manage.up", "runner": True}),
    ({"run": {".*": [{"*": ["manage.up"]}]}}, {"function": "manage.up", "runner": True}),
]


@pytest.mark.parametrize(("rules", "request_"), REFUSED)
def test_what_no_rule_allows_is_refused_reported_and_never_sent(
    tmp_path: Path, rules: dict[str, Any], request_: dict[str, Any]
) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            web1, web2, _ = await three(bench, **rules)
            found = await ask(web1, **request_)
            assert found.refused
            assert not found.jid
            await bench.alarms.settle()
            (why,) = refusals(bench)
            assert request_["function"] in why
            assert not web2.jobs

    run(scenario())


class Forbids:
    """A policy that forbids one person, or wants an approval."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.asked: list[tuple[str, str, tuple[str, ...]]] = []

    def decide(self, who: Principal, request: Request, matcher: Matcher, now: float) -> Decision:
        self.asked.append((who.name, request.function, request.systems))
        return Decision(verdict=self.verdict, rule="r1", why="the policy says no")


@pytest.mark.parametrize("verdict", [Verdict.DENIED, Verdict.NEEDS_APPROVAL])
def test_the_policy_can_forbid_what_peer_allows(tmp_path: Path, verdict: Verdict) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            web1, _, _ = await three(bench, publish={".*": [".*"]}, run={".*": [".*"]})
            bench.peers.access = policy = Forbids(verdict)
            assert "the policy says no" in (await ask(web1, function="test.ping", target="db1")).refused
            assert "the policy says no" in (await ask(web1, function="manage.up", runner=True)).refused
            assert policy.asked == [
                ("system:web1", "test.ping", ("db1",)),
                ("system:web1", "runner.manage.up", ()),
            ]

    run(scenario())


def test_jobs_that_call_each_other_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agents = (await three(bench, publish={".*": [".*"]}))[:2]
            parent, made = None, 0
            for number in range(DEEPEST + 3):
                agent, other = agents[number % 2], agents[1 - number % 2]
                found = await ask(agent, function="state.apply", target=other.id, parent=parent)
                if found.refused:
                    break
                parent, made = found.jid, made + 1
            assert made == DEEPEST
            assert "calls itself" in found.refused
            foreign = await ask(agents[0], function="test.ping", target="db1", parent=parent)
            assert not foreign.refused, "a job of another system is no parent"
            with bench.database.read() as connection:
                row = job_queries.job(connection, str(foreign.jid))
            assert row is not None
            assert row.parent is None or row.parent == parent

    run(scenario())


def test_systems_that_are_away_are_not_waited_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            web1, web2, _ = await three(bench, publish={".*": [".*"]})
            await web2.bus.close()
            found = await ask(web1, function="test.ping", target="*")
            assert sorted(found.systems) == ["db1", "web1"]
            only = await ask(web1, function="test.ping", target="web2")
            assert (only.systems, only.done, only.problem) == ([], True, "")

    run(scenario())
