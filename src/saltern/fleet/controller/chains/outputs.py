"""The output of actions, per system, attempt and stream: taken from reports, stored within limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from saltern.fleet.chains.model import LegState
from saltern.fleet.controller.chains.reports import clean
from saltern.fleet.store import chain_outputs
from saltern.fleet.store.database import Connection

STREAMS = ("stdout", "stderr")
MOST = 65_536  # characters of one stream that are stored
MOST_OF_LEG = 1_000_000  # characters of all streams of one report; of what is longer, only the end
LITTLE = 2_000  # characters of each stream that are then kept
MOST_ATTEMPTS = 1_000_000

Row = dict[str, Any]


def output_rows(leg: LegState, body: object) -> list[Row]:
    """The rows for the table from a report of the leg. Anything invalid is left out: it does not affect the
    leg. Pure.
    """
    places = {step.id: number for number, step in enumerate(leg.plan)}
    room = MOST_OF_LEG
    found: list[Row] = []
    for said in _steps(body):
        if (number := places.get(str(said.get("action")))) is None or (attempt := _attempt(said)) < 1:
            continue
        for stream, text, size in _streams(said):
            kept = text[-MOST:] if room >= min(len(text), MOST) else text[-LITTLE:]
            room = max(0, room - len(kept))
            place = {"leg": leg.id, "step": number, "attempt": attempt, "stream": stream}
            cut = len(kept) < max(size, len(text))
            found.append({**place, "size": max(size, len(text)), "cut": cut, "data": kept.encode()})
    return found


def _steps(body: object) -> Iterator[Mapping[str, Any]]:
    steps = body.get("steps") if isinstance(body, Mapping) else None
    return (one for one in (steps if isinstance(steps, list) else ()) if isinstance(one, Mapping))


def _attempt(said: Mapping[str, Any]) -> int:
    number = said.get("attempts")
    return (
        number if isinstance(number, int) and not isinstance(number, bool) and number < MOST_ATTEMPTS else 0
    )


def _streams(said: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    texts, sizes = said.get("output"), said.get("output_size")
    for stream in STREAMS:
        text = texts.get(stream) if isinstance(texts, Mapping) else None
        size = sizes.get(stream) if isinstance(sizes, Mapping) else 0
        if isinstance(text, str) and text:
            yield stream, clean(text).encode(errors="replace").decode(), _size(size)


def _size(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**62 else 0


def newer(
    known: Mapping[tuple[Any, ...], tuple[int, bool]], rows: Iterable[Row], *, final: bool
) -> list[Row]:
    """The rows that contain more than the stored ones: a report during an action has only the end of its
    output, the return has all of it. Pure.
    """
    found = []
    for row in rows:
        size, cut = known.get((row["step"], row["attempt"], row["stream"]), (-1, True))
        more = row["size"] > size or (row["size"] == size and cut and not row["cut"])
        if more or (final and (row["size"], row["cut"]) != (size, cut)):
            found.append(row)
    return found


def store_outputs(connection: Connection, leg: LegState, body: object, *, final: bool) -> None:
    """Store the output of actions from a report."""
    if rows := output_rows(leg, body):
        known = chain_outputs.sizes(connection, leg.id)
        chain_outputs.put_outputs(connection, newer(known, rows, final=final))
