"""Where a controller listens, and the names by which others reach it. Ports are chosen once and then kept."""

from __future__ import annotations

from msgspec.structs import replace

from saltern.fleet.broker.config import Cluster
from saltern.fleet.controller.identity import FleetFile, save_file
from saltern.fleet.controller.machine import bracket_host, free_port, names_of_machine
from saltern.fleet.controller.members import ENOUGH, Member, routes
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.settings import ControllerSettings

PORTS = {"broker": 4222, "api": 4510, "cluster": 6222, "sites": 7422}


class Addresses:
    """With everything below one directory, it listens only on this machine, unless the configuration says
    otherwise.
    """

    def __init__(self, paths: ControllerPaths, settings: ControllerSettings, file: FleetFile) -> None:
        self._paths = paths
        self._settings = settings
        self._file = file
        self.host = settings.host or ("127.0.0.1" if paths.base else "0.0.0.0")
        self.names = settings.names or names_of_machine(self.host)

    def _port(self, what: str, wanted: int) -> int:
        """A port; if it is 0, a free one is chosen once and kept."""
        if wanted < 0:
            wanted = 0 if self._paths.base else PORTS[what]
        if wanted:
            return wanted
        if what not in self._file.ports:
            self._file = replace(self._file, ports={**self._file.ports, what: free_port(self.host)})
            save_file(self._paths.keys, self._file)
        return self._file.ports[what]

    @property
    def broker_port(self) -> int:
        return self._port("broker", self._settings.port)

    @property
    def cluster_port(self) -> int:
        return self._port("cluster", self._settings.cluster_port)

    @property
    def sites_port(self) -> int:
        """The port for links of sites, chosen with the first site."""
        return self._port("sites", -1)

    @property
    def api_port(self) -> int:
        return self._port("api", self._settings.api_port)

    def member(self) -> Member:
        """This controller's entry for the others."""
        servers = tuple(f"tls://{bracket_host(name)}:{self.broker_port}" for name in self.names)
        return Member(route=f"{bracket_host(self.names[-1])}:{self.cluster_port}", servers=servers)

    def cluster(self, known: dict[str, Member]) -> Cluster | None:
        """The cluster of the controllers' brokers; None if there is only one controller."""
        found = self._settings.cluster_routes or routes(known.values())
        if not found:
            return None
        return Cluster(
            name=self._file.fleet,
            host=self._settings.cluster_host or self.host,
            port=self.cluster_port,
            routes=found,
            replicas=min(ENOUGH, len(found)),
        )
