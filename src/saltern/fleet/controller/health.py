"""The health of a controller: the problems of each part, and the metrics for Prometheus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from time import process_time
from typing import Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from saltern import __version__
from saltern.fleet.bus.ports import Bus, BusError
from saltern.fleet.controller.alarms import Alarms
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.indexer import Indexer
from saltern.fleet.controller.presence import PresenceBoard
from saltern.fleet.controller.singleton import Singleton
from saltern.fleet.controller.sync import SyncDesk
from saltern.fleet.protocol.streams import STREAMS
from saltern.fleet.store.database import Connection
from saltern.fleet.store.returns import count_open
from saltern.fleet.store.systems import count_systems
from saltern.language.diagnostics import OperationError
from saltern.system.garbage import collections

SOON = 14.0  # days before the end of the certificate


class Watched(Protocol):
    """The parts of a controller that are checked."""

    bus: Bus
    calls: Calls
    hub: Hub
    board: PresenceBoard
    alarms: Alarms
    sync: SyncDesk
    indexers: list[Indexer]
    singletons: dict[str, Singleton]


class Health:
    """Used by the API. ``expires``: when the certificate of this controller expires."""

    def __init__(self, parts: Watched, *, now: Callable[[], float], expires: float = float("inf")) -> None:
        self.expires = expires
        self.members = ""  # what is wrong with the other controllers
        self.disk = ""  # what is wrong with the disk of the broker
        self._parts = parts
        self._now = now
        self._started = now()

    async def problems(self) -> dict[str, str]:
        """The problems by part; if it is empty, the controller is ready."""
        parts = self._parts
        found = {"broker": "" if parts.bus.connected else "there is no connection to the broker"}
        found["disk of the broker"] = self.disk
        found |= {one.options.stream.lower(): one.problem for one in parts.indexers}
        found |= {name: one.problem for name, one in parts.singletons.items()}
        return {name: problem for name, problem in found.items() if problem}

    @property
    def warnings(self) -> list[str]:
        """What works now, but needs attention."""
        days = (self.expires - self._now()) / 86_400
        ends = f"the certificate ends in {max(0.0, days):.0f} days: put root.key on a controller again"
        return [one for one in (self.members, ends if days < SOON else "") if one]

    async def metrics(self) -> bytes:
        """The page that Prometheus reads."""
        gauges = await self._gauges()
        registry = CollectorRegistry()
        registry.register(_Page(gauges, self._counters()))
        return generate_latest(registry)

    async def _gauges(self) -> dict[str, tuple[str, dict[str, float]]]:
        """Name → its description, and the value by label; an empty label means no label."""
        parts = self._parts
        gauges: dict[str, tuple[str, dict[str, float]]] = {
            "up_seconds": ("seconds since the controller started", {"": self._now() - self._started}),
            "broker_connected": ("1 with a connection to the broker", {"": float(parts.bus.connected)}),
            "systems_online": ("systems that are connected", {"": float(len(parts.board.online))}),
            "followers": ("readers of notices", {"": float(parts.hub.following)}),
            "lease_held": (
                "1 if this controller does this work now",
                {name: float(one.fence is not None) for name, one in parts.singletons.items()},
            ),
            "certificate_seconds": ("seconds until the certificate ends", {"": self.expires - self._now()}),
            "warnings": ("what needs attention", {"": float(len(self.warnings))}),
            "stream_messages": ("messages in a stream", await self._streams()),
            "process_memory_bytes": ("memory of the controller", {"": float(_resident())}),
        }
        try:
            states, open_jobs = await parts.calls.read(_counts)
            gauges["systems"] = ("systems by the state of their key", states)
            gauges["jobs_open"] = ("jobs that have not ended", {"": float(open_jobs)})
        except OperationError:
            pass  # unknown values are left out
        return gauges

    async def _streams(self) -> dict[str, float]:
        found = {}
        for name in STREAMS:
            try:
                found[name] = float((await self._parts.bus.stream_state(name)).messages)
            except BusError:
                continue
        return found

    def _counters(self) -> dict[str, tuple[str, dict[str, float]]]:
        parts = self._parts
        return {
            "returns_stored": (
                "returns that were stored",
                {"": float(sum(one.stored for one in parts.indexers))},
            ),
            "syncs": ("syncs of agents that were answered", {"": float(parts.sync.synced)}),
            "process_cpu_seconds": ("seconds of CPU that the controller has used", {"": process_time()}),
            "garbage_collections": ("how often memory was tidied up, by generation", collections()),
            "refused": (
                "messages that were refused, by reason",
                {reason: float(number) for reason, number in parts.alarms.offences.reasons.items()},
            ),
        }


LABELS = {
    "lease_held": "work",
    "stream_messages": "stream",
    "systems": "state",
    "refused": "reason",
    "garbage_collections": "generation",
}


class _Page(Collector):
    def __init__(
        self,
        gauges: dict[str, tuple[str, dict[str, float]]],
        counters: dict[str, tuple[str, dict[str, float]]],
    ) -> None:
        self._gauges = gauges
        self._counters = counters

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("saltern_info", f"version {__version__}", value=1)
        for kind, rows in ((GaugeMetricFamily, self._gauges), (CounterMetricFamily, self._counters)):
            for name, (about, values) in rows.items():
                yield _family(kind, name, about, values)


def _family(
    kind: type[GaugeMetricFamily | CounterMetricFamily], name: str, about: str, values: dict[str, float]
) -> Metric:
    label = LABELS.get(name)
    family = kind(f"saltern_{name}", about, labels=[label] if label else [])
    for key, value in values.items():
        family.add_metric([key] if label else [], value)
    return family


def _resident() -> int:
    """Bytes in memory."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _counts(connection: Connection) -> tuple[dict[str, float], int]:
    return count_systems(connection), count_open(connection)
