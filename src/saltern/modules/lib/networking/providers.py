"""Choose the network files of this machine."""

from __future__ import annotations

import os
import shutil

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking.model import Networking

# Network managers on machines without ifup: name, program, and a directory of theirs.
OTHERS = {
    "Debian": ("netplan", "netplan", "/etc/netplan"),
    "RedHat": ("NetworkManager", "nmcli", "/run/NetworkManager"),
}


def kept_elsewhere(family: str) -> str:
    """The network manager that reads other files than those written here; empty if there is none."""
    if family not in OTHERS or shutil.which("ifup"):
        return ""
    name, program, place = OTHERS[family]
    return name if shutil.which(program) and os.path.isdir(place) else ""


def choose_networking(ctx: Context) -> Networking:
    """The network files of this machine. Raises ``Refused`` on an unknown system."""
    family = str(ctx.grains.get("os_family", ""))
    if manager := kept_elsewhere(family):
        raise Refused(f"the network of this machine is managed by {manager}, whose files are not supported")
    if family == "Debian":
        from saltern.modules.lib.networking.ifupdown import Ifupdown

        return Ifupdown(ctx)
    if family == "RedHat":
        from saltern.modules.lib.networking.ifcfg import Ifcfg

        return Ifcfg(ctx)
    raise Refused(f"network files are supported for Debian and RedHat, not for {family or 'this system'}")
