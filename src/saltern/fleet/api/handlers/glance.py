"""The fleet at a glance: how many systems are in which state, what they have in common, the worst first."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from saltern import __version__
from saltern.fleet.api.call import Call
from saltern.fleet.api.pages import decode_cursor, encode_cursor
from saltern.fleet.api.run_shapes import (
    Facet,
    FacetValue,
    GlanceAnswer,
    GlanceQuery,
    StateAnswer,
    StatesAnswer,
    StatesQuery,
)
from saltern.fleet.controller.chains.run_views import chain_names
from saltern.fleet.store import chain_shapes
from saltern.fleet.store import glance as store
from saltern.fleet.store.chain_shapes import HoldingLeg
from saltern.fleet.store.database import Connection
from saltern.fleet.store.glance import FleetPresence, Light
from saltern.language.diagnostics import did_you_mean

DAY = 86_400.0
SHOWN = 6  # values of a facet
_GRAIN = re.compile(r"[GP]@([^:\s()]+):")
# Where a system is shown: what needs a person first.
ORDER = (
    "failed", "expired", "indeterminate", "silent", "paused", "waiting", "rebooting", "updating", "running",
    "delivered", "queued", "cancelled", "offline", "connected",
)  # fmt: skip
RANK = {state: number for number, state in enumerate(ORDER)}
FINE = "connected"


async def show_glance(call: Call[GlanceQuery, None]) -> GlanceAnswer:
    """How many systems a target matches, their states, and their facts."""
    fleet = await call.read(store.read_presence)
    if call.query.target in ("", "*") and not call.query.facts:
        return _glance(fleet, [*fleet.away.values()], fleet.accepted, call.desk.now(), fleet.versions)
    ids = await _ids(call, call.query.target)
    own = frozenset(ids)
    away = [one for one in fleet.away.values() if one.id in own]
    inventory = call.desk.fleet.inventory
    versions = await _versions(call, fleet, own) if call.query.versions else {}
    return msgspec.structs.replace(
        _glance(fleet, away, len(ids), call.desk.now(), versions),
        facets=_facets(call, own) if call.query.facts else [],
        hints=hints(call.query.target, inventory.grain_names() if not ids else ()),
    )


def _glance(
    fleet: FleetPresence, away: list[Light], matched: int, now: float, versions: dict[str, int]
) -> GlanceAnswer:
    """The counts: of all systems, and of those that the target matches."""
    found = Counter(presence(one, now) for one in away)
    return GlanceAnswer(
        total=fleet.accepted,
        matched=matched,
        connected=matched - len(away),
        rebooting=found["rebooting"],
        silent=found["silent"],
        gone=found["offline"],
        pending=fleet.pending,
        versions=versions,
        facets=[],
        hints=[],
    )


async def _versions(
    call: Call[GlanceQuery, None], fleet: FleetPresence, own: frozenset[str]
) -> dict[str, int]:
    """How many systems have which version of the agent."""
    if len(own) == fleet.accepted:
        return fleet.versions
    others = await call.read(store.other_versions, fleet.version)
    found = Counter(version for id_, version in others.items() if id_ in own)
    found[fleet.version] += len(own) - found.total()
    return {version: count for version, count in found.items() if count}


def presence(one: Light, now: float) -> str:
    """How a system is connected: connected, away as planned, silent for less than a day, or longer."""
    if one.online:
        return "connected"
    if one.back_by is not None and one.back_by > now:
        return "rebooting"
    return "silent" if one.seen_at is not None and now - one.seen_at < DAY else "offline"


def _facets(call: Call[GlanceQuery, None], own: frozenset[str]) -> list[Facet]:
    inventory = call.desk.fleet.inventory
    is_whole = len(own) == len(inventory)
    return facets(inventory.dividing_facts(), own, call.query.target, is_whole=is_whole)


def facets(
    facts: Mapping[str, Mapping[str, frozenset[str]]],
    own: frozenset[str],
    target: str,
    *,
    is_whole: bool = False,
) -> list[Facet]:
    """Facts that divide the systems: those with more than one value, or that some systems lack.

    ``is_whole``: the target matches all systems, and so all that have a value.
    """
    made = []
    for name, values in facts.items():
        counts = Counter(
            {value: len(members if is_whole else members & own) for value, members in values.items()}
        )
        common = [pair for pair in counts.most_common() if pair[1]]
        if len(common) > 1 or (common and common[0][1] < len(own)):
            shown = [_value(name, value, number, target) for value, number in common[:SHOWN]]
            rest = sum(number for _, number in common[SHOWN:])
            made.append(Facet(name=name, values=shown, more=max(0, len(common) - SHOWN), rest=rest))
    return made


def _value(name: str, value: str, number: int, target: str) -> FacetValue:
    own = f"G@{name}:{value}" if re.fullmatch(r"[\w.+-]+", value) else f"G@{name}:{value.replace(' ', '?')}"
    base = f"( {target} )" if re.search(r"\sor\s", target) else target
    narrowed = f"{base} and {own}" if target and target != "*" else own
    return FacetValue(value=value, count=number, target=narrowed)


def hints(target: str, known: Iterable[str]) -> list[str]:
    """Facts in a target that no system has."""
    names = sorted(set(known))
    found = []
    for asked in _GRAIN.findall(target) if names else ():
        if asked not in names:
            meant = did_you_mean(asked, names)
            found.append(f"no system has a fact {asked!r}" + (f": {meant}" if meant else ""))
    return found


async def list_states(call: Call[StatesQuery, None]) -> StatesAnswer:
    """Systems with their problems, those that need a person first."""
    ids = await _ids(call, call.query.target)
    found = await call.read(_read_states, ids, call.query, call.desk.now())
    inventory = call.desk.fleet.inventory
    return StatesAnswer(
        items=[_answer(row, found, inventory.brief(row.id)) for row in found.rows],
        next=encode_cursor(*found.last) if found.last else None,
        first=found.first + 1,
        total=found.total,
        states=found.counts,
    )


class _States(NamedTuple):
    """A page of systems. ``states`` has those that are not fine, of all that the target matches."""

    rows: list[Light]
    states: dict[str, str]
    legs: dict[str, HoldingLeg]
    chains: dict[str, str]
    first: int
    total: int
    counts: dict[str, int]
    last: tuple[int, str] | None  # the system after which the next page begins


def _read_states(connection: Connection, ids: list[str], query: StatesQuery, now: float) -> _States:
    """The systems that are not connected or that a leg holds, few of a large fleet; then one page of all."""
    legs = {leg.system: leg for leg in chain_shapes.holding_legs(connection, now - DAY)}
    away = store.read_away(connection)
    troubled = (away.keys() | legs.keys()) & frozenset(ids)
    states = {id_: _state(away.get(id_), legs.get(id_), now) for id_ in troubled}
    states = {id_: state for id_, state in states.items() if state != FINE}
    after = decode_cursor(query.cursor, tuple[int, str]) if query.cursor else (-1, "")
    first, page, total = _page(ids, states, query.state, after, query.limit)
    rows = store.light_systems(connection, [id_ for _, id_ in page])
    fine = {FINE: len(ids) - len(states)} if len(ids) > len(states) else {}
    return _States(
        rows=[rows[id_] for _, id_ in page if id_ in rows],
        states=states,
        legs=legs,
        chains=chain_names(connection, {legs[id_].chain for _, id_ in page if id_ in legs}),
        first=first,
        total=total,
        counts=fine | Counter(states.values()),
        last=page[-1] if first + len(page) < total else None,
    )


def _page(
    ids: list[str], states: Mapping[str, str], wanted: str, after: tuple[int, str], limit: int
) -> tuple[int, list[tuple[int, str]], int]:
    """Where a page begins, its systems, and their total number; those that need a person come first.

    Most systems need none: they come last, and ``ids`` has them in order.
    """
    rest = sorted((RANK[one], id_) for id_, one in states.items() if wanted in ("", one))
    fine = [id_ for id_ in ids if id_ not in states] if wanted in ("", FINE) else []
    first = bisect_right(rest, after)
    if first == len(rest) and after[0] >= RANK[FINE]:
        first += bisect_right(fine, after[1])
    page = rest[first : first + limit]
    at = max(0, first - len(rest))
    page += [(RANK[FINE], id_) for id_ in fine[at : at + limit - len(page)]]
    return first, page, len(rest) + len(fine)


def _state(away: Light | None, leg: HoldingLeg | None, now: float) -> str:
    """The worst of what its leg and its connection say."""
    here = presence(away, now) if away else FINE
    there = leg.status if leg is not None and leg.status in RANK else here
    return here if RANK[here] <= RANK[there] else there


def _answer(one: Light, page: _States, facts: dict[str, str]) -> StateAnswer:
    leg = page.legs.get(one.id)
    return StateAnswer(
        id=one.id,
        state=page.states.get(one.id, FINE),
        note=leg.waits_for if leg else "",
        run=leg.run if leg else "",
        chain=page.chains.get(leg.chain, "") if leg else "",
        online=one.online,
        seen_at=one.seen_at,
        back_by=one.back_by,
        version=one.version,
        kind=one.kind,
        needs=needs(one, facts),
        booted_at=booted_at(facts),
        facts=facts,
    )


def needs(one: Light, facts: Mapping[str, str]) -> list[str]:
    """What a person should give a system some time: by its facts, and by the version of its agent."""
    due = ["reboot"] if facts.get("reboot_due") == "True" else []
    return [*due, "agent update"] if one.version and one.version != __version__ else due


def booted_at(facts: Mapping[str, str]) -> float | None:
    """When it booted, by what it says of itself; None if that is no time."""
    text = facts.get("booted_at", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 11 else None


async def _ids(call: Call[Any, None], target: str) -> list[str]:
    if target and target != "*":
        return await call.desk.fleet.resolve(target)
    await call.desk.fleet.inventory.refresh()
    return call.desk.fleet.inventory.ids
