"""The fleet at a glance: how many systems are how, what they have in common, the worst first."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

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
from saltern.fleet.store.glance import Light
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


async def show_glance(call: Call[GlanceQuery, None]) -> GlanceAnswer:
    """How many systems a target means, how they are, and what facts they have."""
    ids = await _ids(call, call.query.target)
    fleet = await call.read(store.read_presence)
    now = call.desk.now()
    own = frozenset(ids)
    others = [one for one in fleet.others.values() if one.id in own]
    found = Counter(presence(one, now) for one in others)
    inventory = call.desk.fleet.inventory
    return GlanceAnswer(
        total=fleet.accepted,
        matched=len(ids),
        connected=found["connected"] + len(ids) - len(others),
        rebooting=found["rebooting"],
        silent=found["silent"],
        gone=found["offline"],
        pending=fleet.pending,
        versions=versions(others, fleet.version, len(ids)),
        facets=facets(inventory.dividing_facts(), own, call.query.target),
        hints=hints(call.query.target, inventory.grain_names() if not ids else ()),
    )


def versions(others: Iterable[Light], usual: str, number: int) -> dict[str, int]:
    """How many systems have which agent; all but the others have the usual one."""
    found = Counter(one.version for one in others)
    found[usual] += number - found.total()
    return {version: count for version, count in found.items() if count}


def presence(one: Light, now: float) -> str:
    """How a system is connected: here, away as planned, silent since less than a day, or longer."""
    if one.online:
        return "connected"
    if one.back_by is not None and one.back_by > now:
        return "rebooting"
    return "silent" if one.seen_at is not None and now - one.seen_at < DAY else "offline"


def facets(
    facts: Mapping[str, Mapping[str, frozenset[str]]], own: frozenset[str], target: str
) -> list[Facet]:
    """Facts that divide the systems: those with more than one value, or that are not everywhere."""
    made = []
    for name, values in facts.items():
        counts = Counter({value: len(members & own) for value, members in values.items()})
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
    """Facts that a target asks for and no system has."""
    names = sorted(set(known))
    found = []
    for asked in _GRAIN.findall(target) if names else ():
        if asked not in names:
            meant = did_you_mean(asked, names)
            found.append(f"no system has a fact {asked!r}" + (f": {meant}" if meant else ""))
    return found


async def list_states(call: Call[StatesQuery, None]) -> StatesAnswer:
    """Systems with what is the matter with them, those that need a person first."""
    query, now = call.query, call.desk.now()
    ids = await _ids(call, query.target)
    fleet = await call.read(store.read_presence)
    held = await call.read(chain_shapes.holding_legs, now - DAY)
    legs = {row["system"]: row for row in held}
    states = dict.fromkeys(ids, "connected")
    for id_ in states.keys() & (fleet.others.keys() | legs.keys()):
        states[id_] = _state(fleet.of(id_), legs.get(id_), now)
    chosen = _sorted(states, query.state)
    after = decode_cursor(query.cursor, tuple[int, str]) if query.cursor else (-1, "")
    first = bisect_right(chosen, after)
    page = chosen[first : first + query.limit]
    rows = await call.read(store.light_systems, [id_ for _, id_ in page])
    names = await call.read(chain_names, {legs[id_]["chain"] for _, id_ in page if id_ in legs})
    items = [_answer(call, rows[id_], states[id_], legs.get(id_), names) for _, id_ in page if id_ in rows]
    return StatesAnswer(
        items=items,
        next=encode_cursor(*page[-1]) if first + len(page) < len(chosen) else None,
        first=first + 1,
        total=len(chosen),
        states=dict(Counter(states.values())),
    )


def _sorted(states: Mapping[str, str], wanted: str) -> list[tuple[int, str]]:
    """Systems of a state, or all: what needs a person first. Most need none, and are sorted by id already."""
    fine = [(RANK["connected"], id_) for id_, state in states.items() if state == "connected"]
    rest = sorted((RANK[state], id_) for id_, state in states.items() if state != "connected")
    whole = [*rest, *fine]  # nothing is behind what is connected
    return whole if not wanted else [one for one in whole if states[one[1]] == wanted]


def _state(one: Light, leg: Mapping[str, Any] | None, now: float) -> str:
    """The worst of what its leg and its connection say."""
    here = presence(one, now)
    there = str(leg["status"]) if leg is not None and leg["status"] in RANK else here
    return min(here, there, key=lambda state: RANK[state])


def _answer(
    call: Call[StatesQuery, None],
    one: Light,
    state: str,
    leg: Mapping[str, Any] | None,
    names: Mapping[str, str],
) -> StateAnswer:
    return StateAnswer(
        id=one.id,
        state=state,
        note=str(leg["waits_for"]) if leg else "",
        run=str(leg["run"]) if leg else "",
        chain=names.get(str(leg["chain"]), "") if leg else "",
        online=one.online,
        seen_at=one.seen_at,
        back_by=one.back_by,
        version=one.version,
        kind=one.kind,
        facts=dict(call.desk.fleet.inventory.brief(one.id)),
    )


async def _ids(call: Call[Any, None], target: str) -> list[str]:
    if target and target != "*":
        return await call.desk.fleet.resolve(target)
    await call.desk.fleet.inventory.refresh()
    return call.desk.fleet.inventory.ids
