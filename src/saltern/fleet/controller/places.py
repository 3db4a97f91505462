"""Where a controller keeps what it has: below one directory, or in the places of the machine."""

from __future__ import annotations

import os

from msgspec import Struct

from saltern.config.settings import Settings, state_directory

CONFIG = "/etc/saltern/controller.yaml"
RUN = "/run/saltern"


class ControllerPlaces(Struct, frozen=True, kw_only=True):
    """``base`` is set if everything is below one directory."""

    config: str
    state: str
    socket: str
    base: str = ""

    @property
    def keys(self) -> str:
        return os.path.join(self.state, "keys")

    @property
    def broker(self) -> str:
        return os.path.join(self.state, "broker")

    @property
    def database(self) -> str:
        return os.path.join(self.state, "fleet.db")

    @property
    def lock(self) -> str:
        return os.path.join(self.state, "lock")

    @property
    def files(self) -> str:
        """What is known of published files, and copies of git remotes."""
        return os.path.join(self.state, "files")

    def root(self, kind: str) -> str:
        """The directory of files (``salt``) or of pillar, if the configuration names none."""
        return os.path.join(self.base or "/srv", kind)


def controller_places(directory: str | None) -> ControllerPlaces:
    """Below ``directory``; without one, the places of the machine for root, and those of the user else."""
    if directory:
        base = os.path.abspath(directory)
        return ControllerPlaces(
            config=os.path.join(base, "controller.yaml"),
            state=os.path.join(base, "controller"),
            socket=os.path.join(base, "controller.sock"),
            base=base,
        )
    state = os.path.join(state_directory(Settings()), "controller")
    if os.geteuid() == 0:
        return ControllerPlaces(config=CONFIG, state=state, socket=os.path.join(RUN, "controller.sock"))
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return ControllerPlaces(
        config=os.path.join(home, "saltern", "controller.yaml"),
        state=state,
        socket=os.path.join(os.environ.get("XDG_RUNTIME_DIR") or state, "saltern-controller.sock"),
    )
