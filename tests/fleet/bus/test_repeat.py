"""Work that is repeated: when it is woken, after a while, and after failures."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.ports import BusError
from saltern.fleet.bus.repeat import is_set_within, repeat

AT_ONCE = Backoff(steps=(0.0,))
NEVER = Backoff(steps=(3600.0,))


class Work:
    """Answers that are given in turn; an error is raised. The last one ends the test."""

    def __init__(self, *answers: float | Exception | None) -> None:
        self.answers = [*answers]
        self.wanted = asyncio.Event()
        self.over = asyncio.Event()
        self.failures: list[Exception] = []

    async def __call__(self) -> float | None:
        answer = self.answers.pop(0)
        if not self.answers:
            self.over.set()
        if isinstance(answer, Exception):
            raise answer
        return answer


async def _run(work: Work, backoff: Backoff) -> None:
    task = asyncio.create_task(repeat(work, work.wanted, backoff, failed=work.failures.append))
    over = asyncio.create_task(work.over.wait())
    await asyncio.wait({task, over}, return_when=asyncio.FIRST_COMPLETED)
    for one in (task, over):
        one.cancel()
        with suppress(asyncio.CancelledError):
            await one


def test_it_is_done_again_after_the_seconds_that_it_says() -> None:
    async def test() -> None:
        work = Work(0.0, 0.0, None)
        await _run(work, NEVER)
        assert work.answers == []

    asyncio.run(test())


def test_work_that_needs_no_time_waits_until_it_is_woken() -> None:
    async def test() -> None:
        work = Work(None, None)
        task = asyncio.create_task(_run(work, AT_ONCE))
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(work.answers) == 1
        work.wanted.set()
        await task
        assert work.answers == []

    asyncio.run(test())


def test_a_failure_is_reported_and_tried_again() -> None:
    async def test() -> None:
        problem = BusError("no broker")
        work = Work(problem, 0.0, None)
        await _run(work, AT_ONCE)
        assert work.failures == [problem]
        assert work.answers == []

    asyncio.run(test())


def test_an_error_that_is_not_expected_ends_it() -> None:
    async def test() -> str:
        work = Work(ValueError("a defect"), None)
        try:
            await repeat(work, work.wanted, AT_ONCE, failed=work.failures.append)
        except ValueError as problem:
            return str(problem)
        return ""

    assert asyncio.run(test()) == "a defect"


def test_an_event_that_is_not_set_in_time_is_false() -> None:
    async def test() -> tuple[bool, bool]:
        event = asyncio.Event()
        before = await is_set_within(event, 0.0)
        event.set()
        return before, await is_set_within(event, None)

    assert asyncio.run(test()) == (False, True)
