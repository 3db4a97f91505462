"""The facts of the machine: read by a worker, kept on disk, sent when they have changed."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from contextlib import suppress
from random import random
from typing import Any

import msgspec

from saltern.fleet.agent.ask import Asker
from saltern.fleet.agent.output import read_output
from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.spool import Spool
from saltern.fleet.agent.task import Task
from saltern.fleet.agent.worker_task import WorkerSettings
from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.ports import BusError
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.options import tree_options
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.protocol.codec import BadMessage
from saltern.fleet.protocol.envelope import Refused
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.messages import Facts, Received
from saltern.system import atomic

log = logging.getLogger(__name__)

EVERY = 3600.0  # seconds between two checks
SPREAD = 0.2
SOON = 5.0  # seconds after something that may have changed them
LOOK = "facts"  # the name of the folder, where jobs have their jid
TREE = "tree"  # in the spool: the newest tree


def digest_of(grains: dict[str, Any]) -> str:
    """A digest of grains that does not depend on their order."""
    return hashlib.sha256(msgspec.json.encode(grains, order="sorted")).hexdigest()


class CustomGrains:
    """The ``_grains`` of the newest tree that this agent knows, which are part of the machine's facts."""

    def __init__(self, files: AgentFiles | None, spool: Spool) -> None:
        self._files = files
        self._spool = spool
        self._seen: str | None = None  # a digest of those that were read last

    def use(self, tree: str) -> bool:
        """Record the newest tree; True if it has changed."""
        if not tree or tree == self._spool.get(TREE):
            return False
        self._spool.put(TREE, tree)
        return True

    async def have_changed(self) -> bool:
        """True if those of the tree differ from those that were read last."""
        return self._seen is not None and await self._digest() != self._seen

    async def options(self) -> dict[str, object]:
        """The options that a worker needs for them; empty if there are none."""
        self._seen = await self._digest()
        if not self._seen or self._files is None:
            return {}
        tree = self._spool.get(TREE)
        try:
            found = tree_options(await self._files.ensure(tree, LOOK), "")
        except NotFetched as problem:
            log.warning("the facts are read without the _grains of the tree: %s", problem)
            self._seen = ""
            return {}
        return {name: value for name, value in found.items() if name not in ("agent_socket", "agent_job")}

    def release(self) -> None:
        if self._files is not None:
            self._files.release(LOOK)

    async def _digest(self) -> str:
        tree = self._spool.get(TREE)
        if self._files is None or not tree:
            return ""
        try:
            return await self._files.digest_below(tree, "_grains/")
        except (NotFetched, BusError) as problem:
            log.info("the _grains of the tree are not known yet: %s", problem)
            return self._seen or ""


async def look(
    runner: Runner, settings: WorkerSettings, options: dict[str, object] | None = None
) -> dict[str, Any] | None:
    """The grains of this machine; None if they cannot be read now."""
    folder = runner.folder(LOOK)
    folder.remove()
    task = Task(
        jid=LOOK,
        function="grains.items",
        command="call",
        asks=True,
        config=settings.config,
        overrides={**settings.overrides, **(options or {})},
    )
    outcome = await runner.work(task)
    if outcome is None or outcome.code or not outcome.parts:
        log.warning("the facts of this machine cannot be read: %s", outcome.why if outcome else "killed")
        return None
    try:
        found = read_output(folder, outcome)
    except BadMessage as problem:
        log.warning("the facts of this machine cannot be read: %s", problem)
        return None
    folder.remove()
    return found if isinstance(found, dict) else None


class FactsSender:
    """Reads the facts, keeps them on disk, and sends them until a controller has them."""

    def __init__(
        self,
        ask: Asker,
        runner: Runner,
        spool: Spool,
        settings: WorkerSettings,
        path: str = "",
        files: AgentFiles | None = None,
    ) -> None:
        self._custom = CustomGrains(files, spool)
        self._other_tree = False
        self._ask = ask
        self._runner = runner
        self._spool = spool
        self._settings = settings
        self._path = path
        self._wanted = asyncio.Event()
        self._backoff = Backoff()
        self._look_again = True
        self._sent = ""

    def wake(self) -> None:
        """Try again to send: there is a connection."""
        self._wanted.set()

    def look_again(self) -> None:
        """Read the facts again, because something may have changed them."""
        self._look_again = True
        self._wanted.set()

    def use_tree(self, tree: str) -> bool:
        """Use this as the newest tree; its ``_grains`` may differ. True if the tree has changed."""
        if not self._custom.use(tree):
            return False
        self._other_tree = True
        self._wanted.set()
        return True

    def send_again(self) -> None:
        """Send the facts again, because the controller does not have them."""
        self._sent = ""
        self._wanted.set()

    async def run(self) -> None:
        """Read and send the facts at the start, when woken, and every hour."""
        attempt = 0
        grains: dict[str, Any] = {}
        while True:
            self._wanted.clear()
            if self._other_tree:
                self._other_tree = False
                self._look_again = await self._custom.have_changed() or self._look_again
            if self._look_again:
                self._look_again = False
                grains = await self._look() or {}
                self._write(grains)
            attempt = 0 if grains and await self._send(grains) else attempt + 1
            wait = self._backoff.delay(attempt - 1) + 1 if attempt else EVERY * (1 + SPREAD * random())
            if not await self._woken(wait) and (not attempt or not grains):
                self._look_again = True

    async def _look(self) -> dict[str, Any] | None:
        try:
            return await look(self._runner, self._settings, await self._custom.options())
        finally:
            self._custom.release()

    async def _woken(self, wait: float) -> bool:
        """Wait to be woken; False after the timeout. Many jobs in a row count as one reason to check."""
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._wanted.wait()
                if self._look_again:
                    await asyncio.sleep(SOON)
                return True
        return False

    async def _send(self, grains: dict[str, Any]) -> bool:
        """Send the facts if they differ from those sent last; False if that failed."""
        digest = digest_of(grains)
        if digest == self._sent:
            return True
        try:
            request = Facts(nonce=new_nonce(), digest=digest, grains=grains)
            received = await self._ask("facts", request, Received)
        except (BusError, Refused) as problem:
            log.info("the facts are not sent yet: %s", problem)
            return False
        except BadMessage as problem:
            log.warning("the facts cannot be sent: %s", problem)
        else:
            if received.problem:
                log.warning("the controller does not take the facts: %s", received.problem)
            else:
                self._spool.put("facts", digest)
        self._sent = digest
        return True

    def read(self) -> dict[str, Any]:
        """The last known facts."""
        try:
            with open(self._path, "rb") as file:
                found = msgspec.json.decode(file.read())
                return found if isinstance(found, dict) else {}
        except (OSError, msgspec.DecodeError):
            return {}

    def _write(self, grains: dict[str, Any]) -> None:
        if self._path and grains:
            os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
            atomic.write(self._path, msgspec.json.encode(grains), durable=False)
