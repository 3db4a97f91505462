"""Administration of systems: their keys, join tokens, groups."""

from __future__ import annotations

from msgspec import convert

from saltern.fleet.api.call import Call
from saltern.fleet.api.handlers.systems import get_system
from saltern.fleet.api.pages import Page, PageQuery, decode_cursor, make_page
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import (
    AcceptBody,
    GroupAnswer,
    GroupBody,
    NoBody,
    Poked,
    ResolveBody,
    Resolved,
    SystemAnswer,
    TokenAnswer,
    TokenBody,
    TokenMade,
    WhyBody,
)
from saltern.fleet.store import listings


async def accept_system(call: Call[NoQuery, AcceptBody]) -> SystemAnswer:
    """Accept the key of a system."""
    registry, id_ = call.desk.fleet.registry, call.path["system"]
    await registry.accept(call.who.name, id_, fingerprint=call.body.fingerprint)
    return await get_system(call)


async def reject_system(call: Call[NoQuery, WhyBody]) -> SystemAnswer:
    """Reject the key of a system that asks to join."""
    await call.desk.fleet.registry.reject(call.who.name, call.path["system"], why=call.body.why)
    return await get_system(call)


async def revoke_system(call: Call[NoQuery, WhyBody]) -> SystemAnswer:
    """End every credential of a system's key, at once."""
    await call.desk.fleet.registry.revoke(call.who.name, call.path["system"], why=call.body.why)
    return await get_system(call)


async def restore_system(call: Call[NoQuery, NoBody]) -> SystemAnswer:
    """Admit a revoked key again."""
    await call.desk.fleet.registry.restore(call.who.name, call.path["system"])
    return await get_system(call)


async def remove_system(call: Call[NoQuery, None]) -> None:
    """Delete a system and its facts. Its returns stay with their jobs."""
    await call.desk.fleet.registry.remove(call.who.name, call.path["system"])


async def resolve(call: Call[NoQuery, ResolveBody]) -> Resolved:
    """The systems that a target matches."""
    return Resolved(systems=await call.desk.fleet.resolve(call.body.target))


async def poke(call: Call[NoQuery, ResolveBody]) -> Poked:
    """Ask the systems of a target whether they are connected now."""
    found = await call.desk.fleet.poke(call.body.target)
    return Poked(there=sorted(found.there), away=sorted(found.away), silent=sorted(found.silent))


async def list_tokens(call: Call[PageQuery, None]) -> Page[TokenAnswer]:
    """Join tokens, without their secrets."""
    query = call.query
    after = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    rows = await call.read(listings.tokens_after, after, query.limit + 1)
    found = [convert(row, TokenAnswer, from_attributes=True) for row in rows]
    return make_page(found, query.limit, lambda one: (one.id,))


async def make_token(call: Call[NoQuery, TokenBody]) -> TokenMade:
    """Make a join token. It is shown only now."""
    ask = call.body
    made = await call.desk.fleet.registry.new_token(
        call.who.name, life=ask.life, uses=ask.uses, site=ask.site, takes=tuple(ask.takes)
    )
    return TokenMade(token=made)


async def remove_token(call: Call[NoQuery, None]) -> None:
    """Remove a join token, by its id."""
    await call.desk.fleet.registry.remove_token(call.who.name, call.path["token"])


async def list_groups(call: Call[PageQuery, None]) -> Page[GroupAnswer]:
    """Groups: names for targets."""
    query = call.query
    after = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    rows = await call.read(listings.groups_after, after, query.limit + 1)
    found = [GroupAnswer(name=row.name, target=row.expression) for row in rows]
    return make_page(found, query.limit, lambda one: (one.name,))


async def set_group(call: Call[NoQuery, GroupBody]) -> GroupAnswer:
    """Set the target of a group."""
    ask = call.body
    await call.desk.fleet.registry.set_group(call.who.name, ask.name, ask.target)
    return GroupAnswer(name=ask.name, target=ask.target)


async def remove_group(call: Call[NoQuery, None]) -> None:
    """Remove a group."""
    await call.desk.fleet.registry.remove_group(call.who.name, call.path["group"])
