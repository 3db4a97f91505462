"""A leg as a numbered report to its controller, so that an older report never replaces a newer one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import json

from saltern.chains.legs import KnownLeg, Legs
from saltern.chains.results import shorten
from saltern.chains.segment_view import SegmentView
from saltern.chains.show import as_data, unrecorded_action
from saltern.chains.statuses import Step
from saltern.cli.worker_follower import JobFollower
from saltern.config.settings import Settings
from saltern.language import secrets
from saltern.language.diagnostics import OperationError
from saltern.system import atomic, live

STEP = 1_000_000  # the range of numbers that one record of the leg leaves for its segment
OFTEN = 0.5  # seconds between two reports of a running leg
MANY = 200  # actions of a chain: with more, a report costs too much for each of them
HEAD = (
    "status",
    "seq",
    "applied",
    "waits_for",
    "quarantined",
    "down_in",
    "back_in",
    "boot",
    "boots",
    "build",
)
COMMENT = 500  # characters of a comment while the leg runs
OUTPUT = 8_000  # characters of one stream, and of all streams, while the leg runs
ALL_OUTPUT = 24_000
Printed = dict[str, tuple[int, bytes]]  # by stream: how many bytes are left out, and the rest


def report_of_leg(known: KnownLeg, settings: Settings) -> dict[str, Any]:
    """The data of a leg with its number, which grows with each record of the leg and of its open segment, and
    when an action begins, since that is recorded only when it acts.
    """
    view = SegmentView(known, settings)
    inner = 2 * view.records + bool(unrecorded_action(known, settings, view))
    data = as_data(known, settings, view)
    return {**data, "seq": known.state.records * STEP + inner, "applied": known.state.order}


class LegReport:
    """Reports of a leg while a worker runs it, in the folder of the job; the agent sends them."""

    def __init__(self, follower: JobFollower, settings: Settings, token: str, *, actions: int) -> None:
        self._follower = follower
        self._settings = settings
        self._token = token
        self._is_short = actions <= MANY
        self._at = float("-inf")
        self._is_due = False  # something has changed since the last report
        self._printed: Printed = {}

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Report the output of programs while they run, until the block ends."""
        with live.watch(self._follower.live_prefix, self.note_output):
            yield

    def note_output(self) -> None:
        """Report what the running program has printed, if there is new output, and what is due."""
        found = {name: live.read(f"{self._follower.live_prefix}.{name}") for name in live.STREAMS}
        if found != self._printed or self._is_due:
            self._printed = found
            self.note(now=True, printed=found)

    def note(self, *, now: bool = False, begins: bool = False, printed: Printed | None = None) -> None:
        """Write a report; not too often, unless it must be ``now``, or an action ``begins``: no other event
        may come for hours. ``printed`` is the output of the running program.
        """
        tick = time.monotonic()
        self._is_due = True
        if not (now or (begins and self._is_short)) and tick - self._at < OFTEN:
            return
        self._at = tick
        legs = Legs(self._settings).all()
        known = next((one for one in legs if one.head.get("token") == self._token), None)
        if known is None:
            return
        try:
            data = report_of_leg(known, self._settings)
        except OperationError:
            return  # the journal is being written; the next report has the change
        atomic.write(self._follower.leg_file, json.encode(short_leg(data, printed or {})), durable=False)
        self._is_due = False


def short_leg(data: dict[str, Any], printed: Printed) -> dict[str, Any]:
    """A running leg without long texts, which the return will have in full. ``printed``: the output of the
    running program so far, with how much is left out before it.
    """
    names = ("action", "status", "changed", "attempts", "took", "started", "ended", "exit_code")
    rows = [
        {
            **{name: row[name] for name in names if name in row},
            "comment": str(row.get("comment", ""))[:COMMENT],
            **_live_output(row, printed),
        }
        for row in data["steps"]
    ]
    room = ALL_OUTPUT
    for row in reversed(rows):  # the newest first
        sizes = row["output_size"]
        row["output"] = {
            name: shorten(text, OUTPUT, sizes.get(name, 0)) for name, text in row["output"].items()
        }
        room -= sum(map(len, row["output"].values()))
        row["output"] = row["output"] if room >= 0 else {}
    return {**{name: data[name] for name in HEAD if name in data}, "steps": rows}


def _live_output(row: dict[str, Any], printed: Printed) -> dict[str, Any]:
    if row["status"] != Step.RUNNING.value:
        return {"output": row.get("output") or {}, "output_size": row.get("output_size") or {}}
    texts = {name: (before, _whole_lines(before, data)) for name, (before, data) in printed.items()}
    return {
        "output": {name: text for name, (_, text) in texts.items() if text},
        "output_size": {name: before + len(text) for name, (before, text) in texts.items() if text},
    }


def _whole_lines(left_out: int, data: bytes) -> str:
    """Whole lines only, with secrets masked: part of a secret would not be recognised."""
    begin = data.find(b"\n") + 1 if left_out else 0
    return secrets.mask(data[begin : data.rfind(b"\n") + 1].decode("utf-8", "replace"))
