"""Identifies callers on the controller's UNIX socket: root and the controller's own user are admins."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.fleet.access.ports import Peer, Principal
from saltern.system.foreign import name_of

FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


def local_admin(headers: Mapping[str, str], peer: Peer) -> Principal | None:
    """The admin on the socket; None for everyone else."""
    if peer.uid not in (0, os.geteuid()) or is_forwarded(headers):
        return None
    return Principal(name=f"local:{name_of(peer.uid)}", roles=("admin",), via="socket")


def is_forwarded(headers: Mapping[str, str]) -> bool:
    """True if a proxy forwarded the request: it then does not come from the user of the socket."""
    return any(name in headers for name in FORWARDED)
