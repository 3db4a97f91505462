"""Work that is repeated: when it is woken, after a while, and after failures less and less often."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.ports import BusError


async def is_set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until an event is set, at most so long; False if the time is over. ``None``: without a limit."""
    if event.is_set():
        return True
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False


async def repeat(
    work: Callable[[], Awaitable[float | None]],
    wanted: asyncio.Event,
    backoff: Backoff,
    *,
    failed: Callable[[Exception], None],
    errors: tuple[type[Exception], ...] = (BusError,),
) -> None:
    """Call ``work`` for ever: again when ``wanted`` is set, at the latest after the seconds that it returns.

    Each of ``errors`` is handed to ``failed``, and the next attempt waits as long as ``backoff`` says.
    """
    attempt = 0
    while True:
        wanted.clear()
        try:
            wait = await work()
            attempt = 0
        except errors as problem:
            failed(problem)
            wait = backoff.delay(attempt)
            attempt += 1
        await is_set_within(wanted, wait)
