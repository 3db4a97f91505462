"""The same work for many items, some at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

PARALLEL = 32
T = TypeVar("T")


async def each(items: Iterable[T], work: Callable[[T], Awaitable[None]], parallel: int = PARALLEL) -> None:
    """Do the work for all items, ``parallel`` at a time; the first failure ends it."""
    left = iter(items)

    async def worker() -> None:
        for item in left:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(parallel):
                group.create_task(worker())
    except ExceptionGroup as problems:
        raise problems.exceptions[0] from None
