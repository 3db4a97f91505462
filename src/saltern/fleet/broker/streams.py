"""Makes all streams of the fleet, or changes them to match the table."""

from __future__ import annotations

from saltern.fleet.bus.ports import Bus
from saltern.fleet.protocol.streams import STREAMS
from saltern.fleet.protocol.subjects import subjects_of


async def make_streams(bus: Bus, *, replicas: int = 1) -> None:
    """Make all streams. Safe at any time, and needed after each restart: the disk of the broker may
    be new.
    """
    for stream in STREAMS.values():
        await bus.make_stream(stream, subjects_of(stream.name), replicas=replicas)
