"""Which files this machine keeps its network in."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking.model import Networking


def networking(ctx: Context) -> Networking:
    """Raises ``Refused`` on a system whose files are not known."""
    family = str(ctx.grains.get("os_family", ""))
    if family == "Debian":
        from saltern.modules.lib.networking.ifupdown import Ifupdown

        return Ifupdown(ctx)
    if family == "RedHat":
        from saltern.modules.lib.networking.ifcfg import Ifcfg

        return Ifcfg(ctx)
    raise Refused(f"network files are known for Debian and RedHat, not for {family or 'this system'}")
