"""What a job needs before its worker is started: the tree that it names."""

from __future__ import annotations

from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.options import tree_options
from saltern.fleet.protocol.messages import Job


class JobSupply:
    """Makes the tree of a job ready, and keeps it until the job has ended."""

    def __init__(self, files: AgentFiles, socket: str) -> None:
        self._files = files
        self._socket = socket

    async def options(self, job: Job) -> dict[str, object]:
        """Options for the worker. A job without a tree uses the files and the pillar of the agent's
        machine.
        """
        if not job.tree:
            return {}
        return tree_options(await self._files.ensure(job.tree, job.jid), self._socket, job.jid)

    def release(self, jid: str) -> None:
        self._files.release(jid)
