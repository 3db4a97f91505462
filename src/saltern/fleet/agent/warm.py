"""The agent's end of the warm worker: started for the first job, and ended when none came for a while."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Callable, Sequence

from saltern.fleet.agent.scope_names import SCOPED
from saltern.fleet.bus.process_end import until_ended
from saltern.system import own_program

WARM = "saltern.cli.warm"
WAIT = 10.0  # seconds for an answer; it loads its code before the first one


class WarmWorker:
    """One process that forks. ``fork`` returns the process id of a job, or 0 if it cannot fork one."""

    def __init__(
        self, wrap: Callable[[str, Sequence[str]], list[str]], idle: float = 60.0, *, scoped: bool = False
    ) -> None:
        self._wrap = wrap
        self._more = (SCOPED,) if scoped else ()
        self._idle = idle
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._watching: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    @property
    def pid(self) -> int:
        """The process; 0 if there is none."""
        alive = self._process is not None and self._process.poll() is None
        return self._process.pid if alive and self._process else 0

    async def fork(self, folder: str) -> int:
        async with self._turn:
            for _ in range(2):  # a worker that has just ended is replaced once
                try:
                    async with asyncio.timeout(WAIT):
                        return await self._ask(folder)
                except (OSError, ValueError):
                    self.close()
                except TimeoutError:
                    break
            self.close()
            return 0

    async def _ask(self, folder: str) -> int:
        line = self._line if self.pid and self._line else self._start()
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(line, os.fsencode(folder) + b"\n")
        data = b""
        while not data.endswith(b"\n"):
            more = await loop.sock_recv(line, 64)
            if not more:
                raise OSError("the warm worker has ended")
            data += more
        if not (pid := int(data)):
            self.close()  # its code differs from the code on disk
        return pid

    def _start(self) -> socket.socket:
        self.close()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        command = own_program.command(WARM, (str(self._idle), *self._more))
        try:
            self._process = subprocess.Popen(
                self._wrap(f"warm-{os.getpid()}-{id(ours):x}", command),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env=own_program.environment(),
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._line = ours
        self._watching = asyncio.create_task(_reap(self._process))
        return ours

    def close(self) -> None:
        """Close its socket, which ends it. Jobs that it has forked continue."""
        if self._line is not None:
            self._line.close()
            self._line = None
        self._process = None

    async def end(self) -> None:
        """Close it, and wait for its end."""
        self.close()
        if self._watching is not None:
            await self._watching


async def _reap(process: subprocess.Popen[bytes]) -> None:
    """Reap the child when it ends."""
    await until_ended(process.pid)
    process.wait()
