"""Events of hosts without an agent, as a controller takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.fleet.databases import sqlite_database

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.ssh.questions import HostQuestions
from saltern.fleet.protocol.pace import Pace
from saltern.fleet.protocol.peer_messages import MineAnswer, MineRequest
from saltern.fleet.store.events import read_events

BURST = 3


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def no_mine(_host: str, _request: MineRequest) -> MineAnswer:
    raise AssertionError


@asynccontextmanager
async def asked(directory: Path, clock: Clock) -> AsyncIterator[tuple[HostQuestions, Calls]]:
    database = sqlite_database(directory / "fleet.db")
    calls = Calls(database)

    def new_pace() -> Pace:
        return Pace(100.0, BURST, clock)

    yield HostQuestions(calls, Hub(calls), no_mine, now=clock, new_pace=new_pace), calls
    calls.close()


def send(questions: HostQuestions, host: str, number: int) -> Coroutine[Any, Any, dict[str, Any]]:
    return questions.answer(host, {"ask": "event", "tag": f"shop/{number}", "data": {}})


def test_a_host_that_sends_too_many_waits_and_holds_no_other(tmp_path: Path) -> None:
    clock = Clock()

    async def main() -> list[str]:
        async with asked(tmp_path, clock) as (questions, calls):
            for number in range(BURST):
                assert await send(questions, "web1", number) == {}
            late = asyncio.create_task(send(questions, "web1", BURST))
            assert await send(questions, "web2", 9) == {}
            assert not late.done()
            clock.now += 1.0
            assert await late == {}
            return [event.tag for event in (await calls.read(read_events, 0)).events]

    assert sorted(asyncio.run(main())) == ["shop/0", "shop/1", "shop/2", "shop/3", "shop/9"]


def test_what_is_refused_takes_no_room(tmp_path: Path) -> None:
    async def main() -> None:
        async with asked(tmp_path, Clock()) as (questions, _):
            for _ in range(2 * BURST):
                answer = await questions.answer("web1", {"ask": "event", "tag": "salt/job/1/ret", "data": {}})
                assert "the controller's own" in answer["problem"]
            assert await send(questions, "web1", 0) == {}

    asyncio.run(main())
