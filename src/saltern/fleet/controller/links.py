"""The brokers that a controller's own is linked with: those of other controllers, and those of sites.

They are followed while the controller runs. The first one of a fleet becomes one of a cluster when a second
controller has started: for some seconds nothing is sent, and nothing is lost.
"""

from __future__ import annotations

import logging

from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.broker.sites import read_sites
from saltern.fleet.controller.addresses import Addresses
from saltern.fleet.controller.members import Member, members, servers
from saltern.fleet.controller.parts import Parts

log = logging.getLogger(__name__)


class Links:
    """``known`` are the controllers that the broker was started with; ``wait``: seconds for the others."""

    def __init__(
        self,
        broker: EmbeddedBroker,
        parts: Parts,
        addresses: Addresses,
        known: dict[str, Member],
        *,
        wait: float,
    ) -> None:
        self._broker = broker
        self._parts = parts
        self._addresses = addresses
        self._known = known
        self._wait = wait

    async def follow_members(self) -> None:
        """Have the broker join those of controllers that have started since."""
        found = await self._parts.calls.read(members)
        cluster = self._addresses.cluster(found)
        if cluster is None or (cluster == self._broker.settings.cluster and not self._parts.health.members):
            return
        new = sorted(_started(found) - _started(self._known))
        log.warning("the broker joins those of the controllers %s", ", ".join(new) or "that have moved")
        self._parts.health.members = "the brokers of the controllers find each other"
        self._parts.regroup(servers(found.values()), cluster.replicas)
        await self._broker.regroup(cluster, servers(found.values()), wait=self._wait)
        self._parts.health.members = ""
        self._known = found

    async def follow_sites(self) -> None:
        """Have the broker take links of sites from the first one on."""
        sites = read_sites(self._broker.folder)
        if sites is not None and sites.port != self._broker.sites_port:
            log.warning("the broker takes links of sites on port %d from now on", sites.port)
            await self._broker.restart()


def _started(known: dict[str, Member]) -> set[str]:
    return {name for name, one in known.items() if one.started}
