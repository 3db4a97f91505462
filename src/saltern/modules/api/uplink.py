"""The connection from a run to the agent of its machine, and through it to the controllers of the fleet.

A worker of an agent, and its child processes, find the agent's socket in the environment. A person who
calls a function by hand reaches the agent at its default path.
"""

from __future__ import annotations

import os
from typing import Any

from saltern.modules.api.refused import Refused

# Not names of options: a saltern that a state starts has its own roots and pillar.
SOCKET = "SALTERN_WORKER_SOCKET"
JOB = "SALTERN_WORKER_JOB"
USUAL = "/run/saltern/agent.sock"
WAIT = 60.0  # seconds for an agent that is restarted


class Uplink:
    """Sends requests to the agent. ``is_there`` is false on a machine outside a fleet."""

    __slots__ = ("_path", "_trust")

    def __init__(self, path: str = "", *, trust: bool = True) -> None:
        """Without ``trust`` nothing leaves the machine."""
        self._path = path
        self._trust = trust

    @property
    def path(self) -> str:
        if not self._trust:
            return ""
        given = self._path or os.environ.get(SOCKET, "")
        return given or (USUAL if os.access(USUAL, os.W_OK) else "")

    @property
    def is_there(self) -> bool:
        return bool(self.path)

    def ask(self, what: str, **question: object) -> dict[str, Any]:
        """The agent's response. Raises ``Refused`` with a problem that it reports."""
        from saltern.sources.agent_socket import ask

        answer = ask(self.path, {"ask": what, "jid": os.environ.get(JOB, ""), **question}, wait=WAIT)
        if problem := answer.get("problem"):
            raise Refused(str(problem))
        return answer
