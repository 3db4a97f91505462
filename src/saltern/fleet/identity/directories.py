"""Where a process of the fleet keeps its files: below one directory, or in the machine's directories."""

from __future__ import annotations

import os
from typing import TypedDict

from saltern.config.settings import Settings, state_directory

CONFIG = "/etc/saltern"
RUN = "/run/saltern"


class Directories(TypedDict):
    """``base`` is set if everything is below one directory."""

    config: str
    state: str
    socket: str
    base: str


def directories_of(role: str, directory: str | None) -> Directories:
    """The directories of an ``agent`` or ``controller``: below ``directory``; without one, the machine's for
    root, and the user's for everyone else.
    """
    if directory:
        base = os.path.abspath(directory)
        config, socket = os.path.join(base, f"{role}.yaml"), os.path.join(base, f"{role}.sock")
        return Directories(config=config, state=os.path.join(base, role), socket=socket, base=base)
    state = os.path.join(state_directory(Settings()), role)
    if os.geteuid() == 0:
        config, socket = os.path.join(CONFIG, f"{role}.yaml"), os.path.join(RUN, f"{role}.sock")
    else:
        home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
        config = os.path.join(home, "saltern", f"{role}.yaml")
        socket = os.path.join(os.environ.get("XDG_RUNTIME_DIR") or state, f"saltern-{role}.sock")
    return Directories(config=config, state=state, socket=socket, base="")
