"""Files of the fleet that a site keeps for its agents: served by the process that runs the site's broker."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from saltern.fleet.broker.site_renewal import own_connection, parts_of
from saltern.fleet.broker.site_server import ASKED, SiteServer
from saltern.fleet.broker.site_store import SiteStore
from saltern.fleet.broker.sites import Kit
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.identity.jwt import BadJwt, decode_user

MIB = 1024 * 1024
KEEP = 2048 * MIB  # bytes of files
FOLDER = "files"


def may_keep_files(kit: Kit) -> bool:
    """True if the credential of the kit allows the site to answer its agents. Pure."""
    try:
        rights = decode_user(parts_of(kit.own)[0]).nats
    except (BadJwt, ValueError):
        return False
    return ASKED.wild() in rights.get("sub", {}).get("allow", ())


async def keep_files(kit: Kit, folder: str, server: str, say: Callable[[str], None], limit: int) -> None:
    """Serve until it is cancelled; it comes back by itself with the broker."""
    if limit <= 0:
        return
    if not may_keep_files(kit):
        say(
            "this kit is of an earlier version, so no files are kept here: each agent gets them over the"
            f" link. saltern site add {kit.site} on the controller makes the kit again"
        )
        return
    store = await asyncio.to_thread(SiteStore, os.path.join(folder, FOLDER), limit)
    bus = await NatsBus.connect(own_connection(kit, server), wait=None)
    served = SiteServer(bus, store, say)
    try:
        await served.start()
        await asyncio.Event().wait()
    finally:
        await served.stop()
        await bus.close()
