"""The brokers that a controller's own is linked with: those of other controllers, and those of sites.

Links are updated while the controller runs. The first broker of a fleet joins a cluster when a second
controller has started: for some seconds nothing is sent, and nothing is lost.
"""

from __future__ import annotations

import logging

from msgspec.structs import replace

from saltern.fleet.broker.config import Cluster
from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.broker.sites import read_sites
from saltern.fleet.controller.addresses import Addresses
from saltern.fleet.controller.members import Member, members, removed_controllers, server_name, servers
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
        self._dropped: set[str] = set()

    async def follow_members(self) -> None:
        """Have the broker join the brokers of controllers that have started since."""
        found = await self._parts.calls.look(members)
        cluster = self._addresses.cluster(found)
        if cluster == self._broker.settings.cluster and not self._parts.health.members:
            await self._drop_removed(found)
            return
        if not self._parts.health.members:  # otherwise it is tried again
            log.warning("%s", change_of(_started_members(self._known), _started_members(found)))
        self._parts.health.members = "the brokers of the controllers are connected"
        brokers = servers(found.values())
        self._inform(brokers, cluster.replicas if cluster else 1)
        await self._regroup(cluster, brokers, found)
        self._parts.health.members = ""
        self._known = found

    async def _regroup(
        self, cluster: Cluster | None, brokers: tuple[str, ...], found: dict[str, Member]
    ) -> None:
        if cluster is None:
            await alone(self._broker)
            return
        await join_cluster(self._broker, cluster, brokers)
        await self._drop_removed(found)
        await self._broker.prepare_streams(wait=self._wait)

    async def _drop_removed(self, found: dict[str, Member]) -> None:
        """Drop the brokers of removed controllers: then two of two are a majority, and the next one that
        joins replaces them.
        """
        gone = (await self._parts.calls.look(removed_controllers)).keys() - found.keys() - self._dropped
        if self._broker.settings.cluster is not None:
            for name in sorted(gone):
                await self._broker.system.drop_peer(server_name(name))
                log.warning("the broker of the controller %s no longer counts in the cluster", name)
        self._dropped |= gone

    def _inform(self, brokers: tuple[str, ...], replicas: int) -> None:
        """Give agents the addresses of these brokers, and keep each stream ``replicas`` times."""
        parts = self._parts
        parts.options = replace(parts.options, servers=brokers, replicas=replicas)
        parts.sync.options = replace(parts.sync.options, servers=brokers)
        if parts.trees is not None:
            parts.trees.replicas = replicas

    async def follow_sites(self) -> None:
        """Have the broker accept links of sites once there is a site."""
        sites = read_sites(self._broker.folder)
        if sites is not None and sites.port != self._broker.sites_port:
            log.warning("the broker now accepts links of sites on port %d", sites.port)
            await self._broker.restart()


def change_of(before: set[str], now: set[str]) -> str:
    """The log line for a change of the linked controllers. Pure."""
    if gone := sorted(before - now):
        return f"the broker leaves the brokers of the controllers {', '.join(gone)}"
    new = ", ".join(sorted(now - before)) or "that have moved"
    return f"the broker joins the brokers of the controllers {new}"


async def alone(broker: EmbeddedBroker) -> None:
    """Make the last broker of a cluster a single one, which starts without streams."""
    broker.peers = ()
    broker.settings = replace(broker.settings, cluster=None)
    await broker.restart()


async def join_cluster(broker: EmbeddedBroker, cluster: Cluster, peers: tuple[str, ...]) -> None:
    """Have a broker join this cluster. A single one restarts without streams: agents and the database have
    what is in them. One of a cluster only reads its configuration again.
    """
    was, broker.peers = broker.settings.cluster, peers
    broker.settings = replace(broker.settings, cluster=cluster)
    if was is None:
        await broker.restart()
    else:
        broker.read_again()


def _started_members(known: dict[str, Member]) -> set[str]:
    return {name for name, one in known.items() if one.started}
