"""Retries a host that accepts no more logins at the moment, after growing pauses."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from saltern.fleet.ssh.problems import Unreached

T = TypeVar("T")
BUSY = "busy"
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)  # seconds, on average


async def when_free(attempt: Callable[[], Awaitable[T]]) -> T:
    """The result of the attempt. If the host refuses it for lack of capacity, it is repeated: nothing was
    begun.

    The pauses are random, so that attempts refused together are not repeated together.
    """
    for pause in PAUSES:
        try:
            return await attempt()
        except Unreached as problem:
            if problem.kind != BUSY:
                raise
        await asyncio.sleep(pause * random.uniform(0.5, 1.5))
    return await attempt()
