"""The fleet's files and pillar for what a machine does by itself: those of the newest tree."""

from __future__ import annotations

import logging

from saltern.fleet.agent.spool import Spool
from saltern.fleet.bus.ports import BusError
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.options import tree_options
from saltern.fleet.files.problems import NotFetched

log = logging.getLogger(__name__)
TREE = "tree"  # in the spool: the newest one that was named
HOLDER = "local"


class LocalTree:
    """Options for a worker that reads the tree; none until a controller has named one."""

    def __init__(self, files: AgentFiles | None, spool: Spool, socket: str) -> None:
        self._files = files
        self._spool = spool
        self._socket = socket

    @property
    def digest(self) -> str:
        return self._spool.get(TREE) if self._files is not None else ""

    async def options(self) -> dict[str, object]:
        if self._files is None or not self.digest:
            return {}
        try:
            return tree_options(await self._files.ensure(self.digest, HOLDER), self._socket)
        except (NotFetched, BusError) as problem:
            log.info("what this machine does by itself is read without the files of the fleet: %s", problem)
            return {}

    def release(self) -> None:
        if self._files is not None:
            self._files.release(HOLDER)
