"""The broker as a process: start it, find it again after a crash of the controller, stop or retire it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import suppress
from signal import SIGHUP, SIGKILL, SIGTERM, SIGUSR2, Signals

from saltern.fleet.broker.binary import Binary
from saltern.fleet.broker.config import LOG_FILE, PID_FILE
from saltern.fleet.bus.process_end import until_ended
from saltern.language.diagnostics import Diagnostic, OperationError

READY = 30.0  # seconds; a broker with much to recover takes long
STOP = 15.0
LAME_DUCK = 60.0
ERRORS_FILE = "broker.err"


class BrokerProcess:
    """One server process. It outlives a controller that is killed, and the next ``start`` takes it over."""

    def __init__(self, binary: Binary, config: str, folder: str, address: tuple[str, int]) -> None:
        self.binary = binary
        self._config = config
        self._folder = folder
        self._address = address
        self._child: subprocess.Popen[bytes] | None = None
        self._adopted = 0

    @property
    def pid(self) -> int:
        return self._child.pid if self._child is not None else self._adopted

    @property
    def adopted(self) -> bool:
        """True if an earlier controller started it."""
        return bool(self._adopted)

    @property
    def alive(self) -> bool:
        if self._child is not None:
            return self._child.poll() is None
        return bool(self._adopted) and _runs(self._adopted, self._config)

    async def start(self) -> None:
        """Return when clients can connect."""
        self._adopted = left_running(self._folder, self._config)
        if not self._adopted:
            self._spawn()
        await self._until_ready()

    def _spawn(self) -> None:
        path = os.path.join(self._folder, ERRORS_FILE)
        try:
            with open(path, "wb") as errors:
                self._child = subprocess.Popen(
                    [self.binary.path, "-c", self._config],
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                    start_new_session=True,  # Ctrl-C at the controller must not reach the broker
                    cwd=self._folder,
                )
        except OSError as problem:
            raise _start_error(f"{self.binary.path} cannot be started: {problem.strerror}") from None

    async def _until_ready(self) -> None:
        try:
            async with asyncio.timeout(READY):
                while not (await _greets(self._address) and self.alive):
                    if not self.alive:
                        raise _start_error(f"the broker ended at once: {_last_words(self._folder)}")
                    await asyncio.sleep(0.01)
        except TimeoutError:
            await self.kill()
            where = f"{self._address[0]}:{self._address[1]}"
            raise _start_error(f"the broker does not answer on {where} after {READY:.0f} s") from None

    async def wait(self) -> None:
        """Return when it has ended."""
        if self._child is not None:
            await until_ended(self._child.pid)
            self._child.wait()
            return
        while self.alive:
            await asyncio.sleep(0.05)

    def release(self) -> None:
        """Let it run on its own: do not wait for it as a child any more."""
        if self._child is not None:
            self._adopted, child = self._child.pid, self._child
            child.returncode = 0  # so that nothing warns of a child that was not waited for
            self._child = None

    def _send(self, number: Signals) -> None:
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def reload(self) -> None:
        """Read the configuration again."""
        self._send(SIGHUP)

    async def stop(self) -> None:
        """End it; stored messages are synced. If it does not end, kill it."""
        await self._end(SIGTERM, STOP)

    async def retire(self) -> None:
        """Lame duck mode: it takes no new clients, disconnects the others one after the other, and ends."""
        await self._end(SIGUSR2, LAME_DUCK)

    async def kill(self) -> None:
        await self._end(SIGKILL, STOP)

    async def _end(self, number: Signals, patience: float) -> None:
        self._send(number)
        try:
            async with asyncio.timeout(patience):
                await self.wait()
        except TimeoutError:
            self._send(SIGKILL)
            await self.wait()


def left_running(folder: str, config: str) -> int:
    """The process id of a broker that an earlier controller left running with this configuration, or 0."""
    try:
        with open(os.path.join(folder, PID_FILE), encoding="ascii") as file:
            pid = int(file.read())
    except (OSError, ValueError):
        return 0
    return pid if _runs(pid, config) else 0


def _runs(pid: int, config: str) -> bool:
    """True if the process runs with this configuration."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return False
    return os.fsencode(config) in words


async def _greets(address: tuple[str, int]) -> bool:
    """True if the broker sends its greeting, which comes before TLS: then clients can connect."""
    try:
        reader, writer = await asyncio.open_connection(*address)
    except OSError:
        return False
    try:
        async with asyncio.timeout(2):
            return (await reader.read(4)) == b"INFO"
    except (OSError, TimeoutError):
        return False
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _last_words(folder: str) -> str:
    for name in (ERRORS_FILE, LOG_FILE):
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file.read()[-4000:].splitlines() if line.strip()]
        except OSError:
            continue
        if fatal := [line for line in lines if name == ERRORS_FILE or "[FTL]" in line]:
            return fatal[-1]
    return "it said nothing"


async def end_left(process: BrokerProcess) -> None:
    """End a broker that an earlier controller left running with this configuration."""
    process._adopted = left_running(process._folder, process._config)
    await process.stop()


def _start_error(what: str) -> OperationError:
    fix = "free the port, or name another one; the log of the broker is beside its configuration"
    return OperationError(Diagnostic(code="fleet-broker-failed", what=what, fix=fix))
