"""Runs the beacons of this machine at their intervals, and sends what they report."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from saltern.fleet.agent.beacons.table import BEACONS, Check, find_check
from saltern.fleet.bus.repeat import is_set_within
from saltern.language.beacon_options import options_of

log = logging.getLogger(__name__)

USUAL = 1.0  # seconds between two checks of a beacon without an interval
Send = Callable[[str, dict[str, Any]], str]


class Beacon(Struct, kw_only=True):
    """A configured beacon. ``state`` belongs to its check; ``said`` is what it reported last, by tag."""

    name: str
    check: Check
    config: dict[str, Any]
    due: float = 0.0
    state: dict[str, Any] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def interval(self) -> float:
        try:
            return max(0.5, float(self.config.get("interval") or USUAL))
        except (TypeError, ValueError):
            return USUAL


# Beacons that determine themselves what has changed.
BY_CHANGE = frozenset({"inotify", "load", "log", "service", "systemd"})


def news(beacon: Beacon, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The payloads to report: with ``onchangeonly`` those that differ from the last check. Pure, except that
    it records them.
    """
    kind = str(beacon.config.get("beacon_module") or beacon.name)
    if not beacon.config.get("onchangeonly") or kind in BY_CHANGE:
        return found
    first, before = not beacon.said, beacon.said
    now = {str(one.get("mount", index)): one for index, one in enumerate(found)}
    beacon.said = now or {"": {}}
    if first and not beacon.config.get("emitatstartup", True):
        return []
    return [one for key, one in now.items() if before.get(key) != one]


class Beacons:
    """All beacons of an agent. ``send`` stores an event; ``busy``: a job is changing something now."""

    def __init__(
        self,
        id: str,
        send: Send,
        *,
        busy: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._id = id
        self._send = send
        self._busy = busy
        self._clock = clock
        self._wanted = asyncio.Event()
        self._known: dict[str, Beacon] = {}

    def use(self, given: dict[str, Any]) -> None:
        """Apply the configuration; a beacon whose options are the same keeps its state."""
        wanted = {} if given.get("enabled") is False else given
        found: dict[str, Beacon] = {}
        for name, options in wanted.items():
            config = options_of(options)
            if name == "enabled" or config.get("enabled") is False:
                continue
            check = find_check(str(config.get("beacon_module") or name))
            if check is None:
                log.warning("no beacon is called %r; there are %s", name, ", ".join(BEACONS))
                continue
            old = self._known.get(name)
            same = old is not None and old.config == config
            found[name] = old if same and old else Beacon(name=name, check=check, config=config)
        self._known = found
        self._wanted.set()

    async def run(self) -> None:
        """Check the beacons for ever; idle while there are none."""
        while True:
            self._wanted.clear()
            for beacon in [*self._known.values()]:
                if beacon.due <= self._clock():
                    await self._look(beacon)
            wait = min((one.due - self._clock() for one in self._known.values()), default=None)
            await is_set_within(self._wanted, None if wait is None else max(0.05, wait))

    async def _look(self, beacon: Beacon) -> None:
        beacon.due = self._clock() + beacon.interval
        if beacon.config.get("disable_during_state_run") and self._busy():
            return
        try:
            found = await asyncio.to_thread(beacon.check, beacon.config, beacon.state)
            beacon.problem = ""
        except Exception as problem:
            if str(problem) != beacon.problem:
                log.warning("the beacon %r failed: %s: %s", beacon.name, type(problem).__name__, problem)
            beacon.problem = str(problem)
            return
        for payload in news(beacon, found):
            self._report(beacon, payload)

    def _report(self, beacon: Beacon, payload: dict[str, Any]) -> None:
        """Send a payload as in Salt: its ``tag`` is appended to the tag of the event."""
        data = dict(payload)
        tag = f"salt/beacon/{self._id}/{beacon.name}/{data.pop('tag', '')}"
        if problem := self._send(tag[:512], {**data, "beacon_name": beacon.name}):
            log.warning("%s", problem)
