"""The mine over the bus in memory: what systems publish, and who may read it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.controller.kit import Bench, LightAgent, light_agent, running_bench
from tests.fleet.harness import run

from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import verify
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.peer_messages import MineAnswer, MineRequest
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.modules.lib.mine import Published, read_definition


async def ask(agent: LightAgent, **fields: Any) -> MineAnswer:
    request = MineRequest(nonce=new_nonce(), **fields)
    reply = await agent.bus.request(SUBJECTS["mine"].of(id=agent.id), encode(request), timeout=10)
    return verify(reply.data, agent.trust, me=agent.id, now=time.time(), nonce=request.nonce).of(MineAnswer)


async def three(bench: Bench) -> list[LightAgent]:
    rows = [("web1", "Debian"), ("web2", "Fedora"), ("db1", "Debian")]
    return [await light_agent(bench, name, {"os": os}) for name, os in rows]


TARGETS = [
    ("*", "glob", {"web1", "web2", "db1"}),
    ("web*", "glob", {"web1", "web2"}),
    ("web1,db1", "list", {"web1", "db1"}),
    ("os:Debian", "grain", {"web1", "db1"}),
    ("os:(Deb|Fed).*", "grain_pcre", {"web1", "web2", "db1"}),
    (r"web\d", "pcre", {"web1", "web2"}),
    ("G@os:Debian and not db1", "compound", {"web1"}),
    ("nothing", "glob", set()),
]


def test_values_are_read_by_every_kind_of_target(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agents = await three(bench)
            for agent in agents:
                assert not (await ask(agent, store={"net.ip": [agent.id], "up": True})).problem
            for target, kind, expected in TARGETS:
                found = await ask(agents[0], target=target, matcher=kind, functions=["net.ip"])
                assert found.data == {"net.ip": {name: [name] for name in expected}}, (target, found)
            both = await ask(agents[0], target="web1", functions=["net.ip", "up", "other"])
            assert both.data == {"net.ip": {"web1": ["web1"]}, "up": {"web1": True}, "other": {}}
            for target, kind in (("role:x", "pillar"), ("( a", "compound"), ("x", "nonsense"), ("", "glob")):
                assert (await ask(agents[0], target=target, matcher=kind, functions=["up"])).problem

    run(scenario())


def test_only_those_that_a_value_is_meant_for_can_read_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            web1, web2, db1 = await three(bench)
            allowed = {"key": "G@os:Debian", "broken": "( x", "own": "nobody"}
            await ask(web1, store={"key": 1, "broken": 2, "own": 3, "free": 4}, allowed=allowed)
            names = ["key", "broken", "own", "free"]

            async def seen(agent: LightAgent) -> set[str]:
                answer = await ask(agent, target="web1", functions=names)
                return {name for name, values in answer.data.items() if values}

            assert await seen(db1) == {"key", "free"}
            assert await seen(web2) == {"free"}
            assert await seen(web1) == set(names)

    run(scenario())


def test_values_are_replaced_removed_and_cleared_for_their_own_system_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            web1, web2, _ = await three(bench)

            async def seen() -> dict[str, Any]:
                return (await ask(web2, target="*", functions=["a", "b"])).data

            await ask(web1, store={"a": 1, "b": 1})
            await ask(web2, store={"a": 2})
            await ask(web1, store={"a": 3})
            assert await seen() == {"a": {"web1": 3, "web2": 2}, "b": {"web1": 1}}
            await ask(web1, remove=["b"])
            assert await seen() == {"a": {"web1": 3, "web2": 2}, "b": {}}
            await ask(web1, store={"b": 5}, clear=True)
            assert await seen() == {"a": {"web2": 2}, "b": {"web1": 5}}
            await ask(web1, clear=True)
            assert await seen() == {"a": {"web2": 2}, "b": {}}
            assert (await ask(web1, store=dict.fromkeys(map(str, range(300)), 1))).problem
            assert (await ask(web1, target="*")).problem

    run(scenario())


DEFINITIONS: list[tuple[object, Published]] = [
    ([], Published(name="f.g", function="f.g")),
    (None, Published(name="f.g", function="f.g")),
    (["eth0", 1], Published(name="f.g", function="f.g", args=["eth0", 1])),
    ({"interface": "eth0"}, Published(name="f.g", function="f.g", kwargs={"interface": "eth0"})),
    (
        [{"mine_function": "x.y"}, "eth0", {"cidr": "10.0.0.0/8"}],
        Published(name="f.g", function="x.y", args=["eth0"], kwargs={"cidr": "10.0.0.0/8"}),
    ),
    (
        {"mine_function": "x.y", "allow_tgt": "role:web", "allow_tgt_type": "grain"},
        Published(name="f.g", function="x.y", allowed="G@role:web"),
    ),
    (
        [{"allow_tgt": ["a", "b"], "allow_tgt_type": "list"}],
        Published(name="f.g", function="f.g", allowed="L@a,b"),
    ),
]


@pytest.mark.parametrize(("given", "meant"), DEFINITIONS)
def test_every_form_of_a_mine_function_is_read(given: object, meant: Published) -> None:
    assert read_definition("f.g", given) == meant
