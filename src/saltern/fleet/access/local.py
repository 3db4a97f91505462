"""Access from the controller's own machine: root and the user of the controller may do everything."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping

from saltern.fleet.access.ports import Decision, Matcher, Peer, Principal, Request, Verdict

FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


class LocalAccess:
    """Trusts the UNIX socket alone. A request that came through a proxy is not the peer's own."""

    def authenticate(self, headers: Mapping[str, str], peer: Peer, now: float) -> Principal | None:  # noqa: ARG002
        if peer.uid not in (0, os.geteuid()) or any(name in headers for name in FORWARDED):
            return None
        return Principal(name=f"local:{user_name(peer.uid)}", roles=("admin",), via="socket")

    def decide(self, who: Principal, request: Request, matcher: Matcher, now: float) -> Decision:  # noqa: ARG002
        verdict = Verdict.ALLOWED if who.has("admin") else Verdict.DENIED
        return Decision(verdict=verdict, rule="local", code="not-allowed")


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
