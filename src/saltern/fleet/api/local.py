"""Access from the controller's own machine: root and the user of the controller may do everything."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping, Sequence

from saltern.fleet.api.ports import Decision, Peer, Principal

FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


class LocalAccess:
    """Trusts the UNIX socket alone. A request that came through a proxy is not the peer's own."""

    async def authenticate(self, headers: Mapping[str, str], peer: Peer | None) -> Principal | None:
        if peer is None or peer.uid not in (0, os.geteuid()) or any(name in headers for name in FORWARDED):
            return None
        return Principal(name=f"local:{user_name(peer.uid)}", roles=("admin",), via="socket")

    async def decide(
        self,
        who: Principal,
        action: str,
        *,
        function: str = "",  # noqa: ARG002
        systems: Sequence[str] = (),  # noqa: ARG002
        test: bool = False,  # noqa: ARG002
    ) -> Decision:
        if who.via == "socket":
            return Decision(allowed=True, rule="local")
        return Decision(allowed=False, why=f"{who.name} may not do {action!r}")


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
