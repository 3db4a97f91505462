"""Resumes orchestrations whose process died, when the controller starts.

The rule: an orchestration that broke, was not stopped by its user, was not replaced by a newer one, and whose
job is still open, continues in a process of its own, as the person who started it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

import msgspec

from saltern.fleet.access.ports import Principal
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.orchestrations import FUNCTION
from saltern.fleet.store import job_queries
from saltern.journal.summaries import Summary, resumed_at_boot
from saltern.language.diagnostics import OperationError
from saltern.system import own_program

log = logging.getLogger(__name__)

Secret = Callable[[Principal], str]
Person = Callable[[str], Principal]


class BrokenOrchestrations:
    """Resumes them. ``person`` returns the principal of a name; ``secret`` is the credential of their
    process.
    """

    def __init__(self, calls: Calls, socket: str, person: Person, secret: Secret) -> None:
        self._calls = calls
        self._socket = socket
        self._person = person
        self._secret = secret

    async def run(self) -> None:
        """Resume them; errors are logged, and do not end the controller."""
        try:
            await self.resume()
        except (OperationError, OSError) as problem:
            log.error("orchestrations that broke are not resumed: %s", problem)

    async def resume(self) -> list[str]:
        """Start a process for each; return the numbers of those that were started."""
        known = list(await self._known_orchestrations())
        users = {one.jid: user for one in known if (user := await self._user_of(one.jid))}
        for user in users.values():
            self._secret(self._person(user))  # also for running ones, which continue to use it
        broken = [jid for jid in resumed_at_boot(known) if jid in users]
        for jid in broken:
            await self._start(jid, users[jid])
        return broken

    async def _user_of(self, jid: str) -> str:
        """Who started it, if it is open and not part of another one."""
        row = await self._calls.read(job_queries.job, jid)
        is_own = row is not None and row.function == FUNCTION and row.ended is None and not row.parent
        return row.user if row is not None and is_own else ""

    async def _known_orchestrations(self) -> Iterable[Summary]:
        """The orchestrations of this machine, the newest first, from the command that lists them."""
        command = ["orchestrate", "--list", "--out", "json", "--controller", self._socket]
        process = await asyncio.create_subprocess_exec(
            *own_program.command("saltern", command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=own_program.environment(),
            cwd="/",
        )
        try:
            out, _ = await process.communicate()
            return _summaries(out)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _start(self, jid: str, user: str) -> None:
        """Start a process that outlives this controller, like one started by a person."""
        log.warning("the orchestration %s broke; it is resumed as %s", jid, user)
        command = ["orchestrate", "--resume", jid, "--controller", self._socket, "--out", "quiet"]
        await asyncio.create_subprocess_exec(
            *own_program.command("saltern", command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=None,
            env=own_program.environment(SALTERN_TOKEN=self._secret(self._person(user))),
            cwd="/",
            start_new_session=True,
        )


def _summaries(out: bytes) -> list[Summary]:
    """The output of the command; empty if it could not list them."""
    try:
        found = msgspec.json.decode(out)["local"] if out else []
        return msgspec.convert([row for row in found if "status" in row], list[Summary])
    except (msgspec.DecodeError, msgspec.ValidationError, KeyError, TypeError) as problem:
        log.warning("orchestrations of this machine cannot be listed: %s", problem)
        return []
