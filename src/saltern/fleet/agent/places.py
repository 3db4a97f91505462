"""Where an agent keeps what it has: below one directory, or in the places of the machine."""

from __future__ import annotations

import os

from msgspec import Struct

from saltern.config.settings import Settings, state_directory

CONFIG = "/etc/saltern/agent.yaml"
RUN = "/run/saltern"


class AgentPlaces(Struct, frozen=True, kw_only=True):
    """``state`` is the agent's own; ``base`` is set if everything is below one directory."""

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


def agent_places(directory: str | None) -> AgentPlaces:
    """Below ``directory``; without one, the places of the machine for root, and those of the user else."""
    if directory:
        base = os.path.abspath(directory)
        return AgentPlaces(
            base=base,
            config=os.path.join(base, "agent.yaml"),
            state=os.path.join(base, "agent"),
            socket=os.path.join(base, "agent.sock"),
        )
    state = os.path.join(state_directory(Settings()), "agent")
    if os.geteuid() == 0:
        return AgentPlaces(config=CONFIG, state=state, socket=os.path.join(RUN, "agent.sock"))
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return AgentPlaces(
        config=os.path.join(home, "saltern", "agent.yaml"),
        state=state,
        socket=os.path.join(os.environ.get("XDG_RUNTIME_DIR") or state, "saltern-agent.sock"),
    )
