"""Ending tasks for certain."""

from __future__ import annotations

import asyncio
from typing import Any

AGAIN = 0.2  # seconds


async def end(task: asyncio.Task[Any] | None) -> None:
    """Cancel a task, and return when it has ended.

    One cancellation is not enough: ``asyncio.wait_for`` of Python 3.11, which the client library uses, loses
    one that arrives in the moment in which it has a result.
    """
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN)
    if task is not None and not task.cancelled():
        task.exception()
