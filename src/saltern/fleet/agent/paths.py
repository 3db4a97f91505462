"""The paths of an agent: below one directory, or in the directories of the machine."""

from __future__ import annotations

import os

from msgspec import Struct

from saltern.fleet.identity.directories import directories_of


class AgentPaths(Struct, frozen=True, kw_only=True):
    """``state`` is the agent's own directory; ``base`` is set if everything is below one directory."""

    config: str
    state: str
    socket: str
    base: str = ""

    @property
    def keys(self) -> str:
        return os.path.join(self.state, "keys")

    @property
    def spool(self) -> str:
        return os.path.join(self.state, "spool.db")

    @property
    def jobs(self) -> str:
        return os.path.join(self.state, "jobs")

    @property
    def files(self) -> str:
        """Trees and files that were fetched."""
        return os.path.join(self.state, "files")

    @property
    def pillar(self) -> str:
        """The last pillar, sealed."""
        return os.path.join(self.state, "pillar")

    @property
    def facts(self) -> str:
        return os.path.join(self.state, "facts.json")

    @property
    def log(self) -> str:
        return os.path.join(self.state, "log")

    @property
    def deny(self) -> str:
        """The local deny list, beside the configuration."""
        return os.path.join(os.path.dirname(self.config), "agent.d", "deny.yaml")

    def overrides(self, id: str) -> dict[str, object]:
        """Options of the engine that workers get, over those of the configuration."""
        if not self.base:
            return {"id": id}
        return {
            "id": id,
            "state_dir": os.path.join(self.base, "state"),
            "cachedir": os.path.join(self.base, "cache"),
        }


def agent_paths(directory: str | None) -> AgentPaths:
    """The paths below ``directory``; without one, in the directories of the machine or the user."""
    return AgentPaths(**directories_of("agent", directory))
