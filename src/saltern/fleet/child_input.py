"""Writes to the input of a child process."""

from __future__ import annotations

import asyncio


async def write_input(stream: asyncio.StreamWriter, data: bytes | memoryview) -> None:
    """Write all of it. Raises ``BrokenPipeError`` or ``ConnectionResetError`` if the child has closed its
    input or has ended: uvloop raises an error of its own for a pipe that it has closed by then.
    """
    try:
        stream.write(data)
        await stream.drain()
    except RuntimeError as problem:
        raise BrokenPipeError(str(problem)) from None
