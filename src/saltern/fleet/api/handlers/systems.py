"""Systems: lists, one of them, its facts."""

from __future__ import annotations

from typing import Any

from msgspec import convert

from saltern.fleet.api.call import Call
from saltern.fleet.api.pages import Page, decode_cursor, make_page
from saltern.fleet.api.problems import unknown
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import FactsAnswer, SystemAnswer, SystemsQuery
from saltern.fleet.store import listings
from saltern.fleet.store import systems as store
from saltern.fleet.store.systems import System


async def list_systems(call: Call[SystemsQuery, None]) -> Page[SystemAnswer]:
    """Systems by id, or those that a target matches."""
    query = call.query
    after = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    found: list[System]
    if query.target:
        ids = sorted(id_ for id_ in await call.desk.fleet.resolve(query.target) if id_ > after)
        found = await call.read(listings.systems_of, ids, query.limit + 1, state=query.state)
    else:
        found = await call.read(listings.systems_after, after, query.limit + 1, state=query.state)
    return make_page([_answer(one) for one in found], query.limit, lambda one: (one.id,))


async def get_system(call: Call[NoQuery, Any]) -> SystemAnswer:
    """One system."""
    if found := await call.read(store.system, call.path["system"]):
        return _answer(found)
    raise unknown("system", call.path["system"])


async def get_facts(call: Call[NoQuery, None]) -> FactsAnswer:
    """The grains of a system."""
    if found := await call.read(listings.facts_of, call.path["system"]):
        return convert(found, FactsAnswer, from_attributes=True)
    raise unknown("system with facts", call.path["system"])


def _answer(system: System) -> SystemAnswer:
    return convert(system, SystemAnswer, from_attributes=True)
