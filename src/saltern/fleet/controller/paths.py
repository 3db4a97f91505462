"""The paths of a controller: below one directory, or in the directories of the machine."""

from __future__ import annotations

import os

from msgspec import Struct

from saltern.fleet.identity.directories import directories_of


class ControllerPaths(Struct, frozen=True, kw_only=True):
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
        """State about published files, and copies of git remotes."""
        return os.path.join(self.state, "files")

    @property
    def ssh(self) -> str:
        """What is sent to systems without an agent."""
        return os.path.join(self.state, "ssh")

    def root(self, kind: str) -> str:
        """The directory of files (``salt``) or of pillar, if the configuration names none."""
        return os.path.join(self.base or "/srv", kind)


def controller_paths(directory: str | None) -> ControllerPaths:
    """The paths below ``directory``; without one, in the directories of the machine or the user."""
    return ControllerPaths(**directories_of("controller", directory))
