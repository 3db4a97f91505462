"""A host that takes no more logins at the moment is tried again, after longer and longer pauses."""

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
    """What the attempt gives. One that the host refuses for lack of room is repeated: nothing was begun.

    The pauses differ, so that those who were refused together do not come together again.
    """
    for pause in PAUSES:
        try:
            return await attempt()
        except Unreached as problem:
            if problem.kind != BUSY:
                raise
        await asyncio.sleep(pause * random.uniform(0.5, 1.5))
    return await attempt()
