"""Which files this machine keeps its network in."""

from __future__ import annotations

import os
import shutil

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking.model import Networking

# Who keeps the network where there is no ifup: its name, its program, and a directory that it has.
OTHERS = {
    "Debian": ("netplan", "netplan", "/etc/netplan"),
    "RedHat": ("NetworkManager", "nmcli", "/run/NetworkManager"),
}


def kept_elsewhere(family: str) -> str:
    """What reads other files than those that are written here; empty: nothing does."""
    if family not in OTHERS or shutil.which("ifup"):
        return ""
    name, program, place = OTHERS[family]
    return name if shutil.which(program) and os.path.isdir(place) else ""


def networking(ctx: Context) -> Networking:
    """Raises ``Refused`` on a system whose files are not known."""
    family = str(ctx.grains.get("os_family", ""))
    if manager := kept_elsewhere(family):
        raise Refused(f"the network of this machine is kept by {manager}, whose files are not known here")
    if family == "Debian":
        from saltern.modules.lib.networking.ifupdown import Ifupdown

        return Ifupdown(ctx)
    if family == "RedHat":
        from saltern.modules.lib.networking.ifcfg import Ifcfg

        return Ifcfg(ctx)
    raise Refused(f"network files are known for Debian and RedHat, not for {family or 'this system'}")
