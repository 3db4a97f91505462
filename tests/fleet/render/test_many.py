"""Two hundred systems that call back at the same time, while their controller is killed: each waits, and gets
its own block. The systems share one process; each has a key and a connection of its own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from pathlib import Path

from bench.fleet_local import BenchFleet, running_fleet
from bench.fleet_measure import tree
from bench.fleet_render import FILE, TEXT, System, joined
from tests.fleet.harness import run

from saltern.fleet.identity.token import read_token
from saltern.render.remote import Question, Sent

SYSTEMS = 200
AFTER = 40  # answers after which the controller is killed
HELD = (
    20  # systems that ask for their block only then: however fast the others are, some ask in vain at first
)
MOST = 4  # processes that render


async def answer(system: System, question: Question) -> Sent:
    """As a run does: a controller that does not answer is waited for."""
    while True:
        try:
            return await system.ask(question)
        except RuntimeError as problem:
            if "'away'" not in str(problem):
                raise
            await asyncio.sleep(0.2)


async def _all_call_back(fleet: BenchFleet) -> tuple[list[str], int]:
    """The states that each system was sent, and how many processes rendered at most."""
    systems = await joined(read_token(fleet.token(SYSTEMS), time.time()), SYSTEMS)
    answered, killed = 0, asyncio.Event()

    async def call_back(number: int, system: System) -> str:
        nonlocal answered
        scope = (await answer(system, FILE)).scope
        previous = {"comment": f"no {number}", "changes": {}}
        if number < HELD:
            await killed.wait()
        sent = await answer(system, Question(scope=scope, block="later", previous=previous))
        answered += 1
        return repr(sent.data)

    async def kill_in_the_middle() -> int:
        while answered < AFTER:
            await asyncio.sleep(0.02)
        found = _renderers(fleet)
        await asyncio.to_thread(fleet.end, "controller", how=signal.SIGKILL)
        killed.set()
        assert answered < SYSTEMS
        await asyncio.to_thread(fleet.start_controller)
        return found

    try:
        with fleet.client() as client:
            jid = client.jobs.submit("state.apply", "*", args=["app"])["jid"]
        for one in systems:
            one.jid = jid
        killing = asyncio.create_task(kill_in_the_middle())
        found = await asyncio.gather(*(call_back(number, one) for number, one in enumerate(systems)))
        return found, max(await killing, _renderers(fleet))
    finally:
        for one in systems:
            await one.bus.close()


def _renderers(fleet: BenchFleet) -> int:
    """Processes of the controller that render now."""
    lines = [Path(f"/proc/{pid}/cmdline") for pid in tree(fleet.controller())]
    return sum(b"fleet.render.worker" in path.read_bytes() for path in lines if path.exists())


def test_two_hundred_systems_call_back_at_once_while_the_controller_is_killed() -> None:
    with tempfile.TemporaryDirectory(prefix="sr-") as place, running_fleet(Path(place, "f")) as fleet:
        fleet.write("controller/salt/app.sls", TEXT)
        found, processes = run(_all_call_back(fleet), 300)
    for number, data in enumerate(found):
        assert f"second no {number}'" in data
        assert f"/srv/light{number:05}/no {number}" in data
    assert 0 < processes <= min(MOST, os.cpu_count() or 1)
