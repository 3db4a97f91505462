"""The moments of a run: a fold over its events that continues where it stopped last time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct

from saltern.fleet.store import chain_gates, chain_runs, chain_shapes
from saltern.fleet.store.chain_shapes import BAD_LEGS
from saltern.fleet.store.database import Connection

KEPT = 64  # runs whose fold is kept
SETTLED = 30.0  # seconds after which no earlier event is still being written
Moment = Mapping[str, Any]


class Folded(Struct, frozen=True):
    """The result of the events of a run up to a number."""

    number: int = 0
    begun: frozenset[int] = frozenset()
    bad: frozenset[str] = frozenset()
    found: tuple[Moment, ...] = ()


_KNOWN: WeakKeyDictionary[object, OrderedDict[str, Folded]] = WeakKeyDictionary()  # by database


def moments(connection: Connection, run: str, now: float) -> list[Moment] | None:
    """The start of a run, each wave, the first failures, orders, its end."""
    row = chain_runs.run_row(connection, run)
    if row is None:
        return None
    known = _KNOWN.setdefault(connection.engine, OrderedDict())
    before = known.get(run, Folded())
    events = chain_shapes.run_events(connection, run, before.number)
    waves = chain_shapes.leg_waves(connection, run) if events else {}
    settled = [*takewhile(lambda one: one["at"] < now - SETTLED, events)]
    kept = fold_moments(before, settled, waves)
    _keep(known, run, kept)
    after = fold_moments(kept, events[len(settled) :], waves)
    asked = {"at": row["created"], "what": f"asked for by {row['author']}", "kind": "run"}
    return sorted([asked, *after.found, *_orders(connection, run)], key=lambda one: one["at"])


def _keep(known: OrderedDict[str, Folded], run: str, folded: Folded) -> None:
    known[run] = folded
    known.move_to_end(run)
    while len(known) > KEPT:
        known.popitem(last=False)


def fold_moments(before: Folded, events: Iterable[Moment], waves: Mapping[str, int]) -> Folded:
    """The fold after more events. ``waves``: the wave of each system, from 0 on. Pure."""
    number, begun, bad, found = before.number, set(before.begun), set(before.bad), [*before.found]
    for event in events:
        number, at, data = event["number"], event["at"], event["data"]
        status = str(data.get("status", ""))
        if "id" not in data:
            found += [{"at": at, "what": _describe_change(status, data), "kind": "status"}] if status else []
            continue
        wave = waves.get(str(data["id"]), -1) + 1
        if wave not in begun and status not in ("pending", "queued"):
            begun.add(wave)
            found.append({"at": at, "what": f"wave {wave} begins", "kind": "wave"})
        if status in BAD_LEGS and status not in bad:
            bad.add(status)
            found.append({"at": at, "what": f"the first {status}: {data['id']}", "kind": "failure"})
    return Folded(number, frozenset(begun), frozenset(bad), tuple(found))


def _describe_change(status: str, data: Mapping[str, Any]) -> str:
    """A change of a run, or of one of its gates, as text."""
    if "gate" in data:
        return f"gate {data['gate']}: {status}"
    return f"{status}: {data['why']}" if data.get("why") else status


def _orders(connection: Connection, run: str) -> Iterable[Moment]:
    """What people ordered and decided."""
    for one in chain_runs.order_rows(connection, run):
        if one["who"]:
            yield {"at": one["at"], "what": f"{one['verb']} by {one['who']}", "kind": "order"}
    for one in chain_gates.vote_rows(connection, run):
        word = "approved" if one["approves"] else "rejected"
        yield {"at": one["at"], "what": f"{word} by {one['who']}", "kind": "order"}
