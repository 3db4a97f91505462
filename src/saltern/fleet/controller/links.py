"""The brokers that a controller's own is linked with: those of other controllers, and those of sites.

They are followed while the controller runs. The first one of a fleet becomes one of a cluster when a second
controller has started: for some seconds nothing is sent, and nothing is lost.
"""

from __future__ import annotations

import logging

from msgspec.structs import replace

from saltern.fleet.broker.config import Cluster
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
        brokers = servers(found.values())
        self._inform(brokers, cluster.replicas)
        await regroup(self._broker, cluster, brokers, wait=self._wait)
        self._parts.health.members = ""
        self._known = found

    def _inform(self, brokers: tuple[str, ...], replicas: int) -> None:
        """Agents get the addresses of these brokers, and streams are kept so many times."""
        parts = self._parts
        parts.options = replace(parts.options, servers=brokers, replicas=replicas)
        parts.sync.options = replace(parts.sync.options, servers=brokers)
        if parts.trees is not None:
            parts.trees.replicas = replicas

    async def follow_sites(self) -> None:
        """Have the broker take links of sites from the first one on."""
        sites = read_sites(self._broker.folder)
        if sites is not None and sites.port != self._broker.sites_port:
            log.warning("the broker takes links of sites on port %d from now on", sites.port)
            await self._broker.restart()


async def regroup(broker: EmbeddedBroker, cluster: Cluster, peers: tuple[str, ...], *, wait: float) -> None:
    """Make a broker one of this cluster. A single one begins anew without streams: agents and the database
    have what is in them. One of a cluster only reads its configuration again.
    """
    was, broker.peers = broker.settings.cluster, peers
    broker.settings = replace(broker.settings, cluster=cluster)
    if was is None:
        await broker.restart()
    else:
        broker.read_again()
    await broker.prepare_streams(wait=wait)


def _started(known: dict[str, Member]) -> set[str]:
    return {name for name, one in known.items() if one.started}
