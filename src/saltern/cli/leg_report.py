"""A leg as its controller gets it: numbered, so that an older report never replaces a newer one."""

from __future__ import annotations

import time
from typing import Any

from msgspec import json

from saltern.chains.legs import KnownLeg, Legs
from saltern.chains.show import as_data
from saltern.cli.worker_follower import JobFollower
from saltern.config.settings import Settings
from saltern.journal.runs import Runs
from saltern.language.diagnostics import OperationError
from saltern.system import atomic

STEP = 1_000_000  # records of a segment that the numbers of one record of the leg leave room for
OFTEN = 0.5  # seconds between two reports of a leg at work
HEAD = ("status", "seq", "applied", "waits_for", "quarantined")
COMMENT = 500  # characters of a comment while it is at work


def report_of_leg(known: KnownLeg, data: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The data of a leg with its number: it grows with each record of the leg, and of its open segment."""
    segment, inner = known.state.segment, 0
    if segment is not None:
        runs = Runs(settings)
        if segment.jid in runs.jids() and not runs.is_damaged(segment.jid):
            inner = runs.state(segment.jid).records
    return {**data, "seq": known.state.records * STEP + inner, "applied": known.state.order}


class LegReport:
    """What is known of a leg while a worker drives it, in the folder of the job: the agent sends it."""

    def __init__(self, follower: JobFollower, settings: Settings, token: str) -> None:
        self._follower = follower
        self._settings = settings
        self._token = token
        self._at = float("-inf")

    def note(self, *, now: bool = False) -> None:
        """Write it down; not too often, unless it must be seen ``now``."""
        tick = time.monotonic()
        if not now and tick - self._at < OFTEN:
            return
        self._at = tick
        legs = Legs(self._settings).all()
        known = next((one for one in legs if one.head.get("token") == self._token), None)
        if known is None:
            return
        try:
            data = report_of_leg(known, as_data(known, self._settings), self._settings)
        except OperationError:
            return  # a journal in the middle of a change; the next report has it
        atomic.write(self._follower.leg_file, json.encode(_short(data)), durable=False)


def _short(data: dict[str, Any]) -> dict[str, Any]:
    """Without what is long: the return has all of it."""
    names = ("action", "status", "changed", "attempts", "took", "started", "ended")
    rows = [
        {
            **{name: row[name] for name in names if name in row},
            "comment": str(row.get("comment", ""))[:COMMENT],
        }
        for row in data["steps"]
    ]
    return {**{name: data[name] for name in HEAD}, "steps": rows}
