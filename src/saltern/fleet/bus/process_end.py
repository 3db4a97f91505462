"""Wait for the end of any process, reported by the kernel."""

from __future__ import annotations

import asyncio
import os

LOOK = 0.2  # seconds between two checks where the kernel has no pidfd


async def until_ended(pid: int) -> None:
    """Return when the process has ended; it need not be a child of ours."""
    try:
        file = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    except OSError:  # a kernel before 5.3
        return await _poll(pid)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(file, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(file)
        os.close(file)
    return None


async def _poll(pid: int) -> None:
    while os.path.exists(f"/proc/{pid}") and not _is_zombie(pid):
        await asyncio.sleep(LOOK)


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return True
