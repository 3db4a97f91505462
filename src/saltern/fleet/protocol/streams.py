"""``STREAMS``: what the broker stores, for how long, and how durably. Nothing of value is stored only here.

There is no consumer and no bucket for each agent: an agent asks a controller what it missed. Streams whose
messages come out of an agent's spool are not synced with each message; the agent keeps its copy until the
controller has stored it.
"""

from __future__ import annotations

from msgspec import Struct

DAY = 86_400.0
MIB = 1024 * 1024


class Stream(Struct, frozen=True, kw_only=True):
    """One stream. ``synced``: a message is on disk before it is acknowledged, and survives a power
    failure.
    """

    name: str
    max_age: float
    max_bytes: int
    duplicates: float = 600.0
    synced: bool = True
    compressed: bool = False
    last_only: bool = False
    direct: bool = False
    refuses_when_full: bool = False  # otherwise the oldest message is dropped
    about: str


STREAMS: dict[str, Stream] = {
    row.name: row
    for row in (
        Stream(
            name="JOBS",
            max_age=7 * DAY,
            max_bytes=512 * MIB,
            direct=True,
            about="jobs, for the agents that were away; written before they are sent, by the database",
        ),
        Stream(
            name="RETURNS",
            max_age=3 * DAY,
            max_bytes=2048 * MIB,
            duplicates=3600.0,
            synced=False,
            compressed=True,
            about="returns and journals on their way to the database; agents keep them until they are stored",
        ),
        Stream(
            name="EVENTS",
            max_age=DAY,
            max_bytes=512 * MIB,
            synced=False,
            about="events on their way to the database and to reactors",
        ),
        Stream(
            name="BLOBS",
            max_age=0.0,
            max_bytes=8192 * MIB,
            synced=False,
            last_only=True,
            direct=True,
            refuses_when_full=True,
            about="pieces of files by their hash; made again from the roots if they are lost",
        ),
    )
}
