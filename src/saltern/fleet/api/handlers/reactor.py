"""Custom events, and reactions to events."""

from __future__ import annotations

from msgspec import convert
from msgspec.structs import replace

from saltern.fleet.api.call import Call
from saltern.fleet.api.problems import ApiError
from saltern.fleet.api.reactor_shapes import (
    EventBody,
    EventSent,
    ForeseenAnswer,
    ForeseenReaction,
    ReactionAnswer,
    ReactionsAnswer,
    ReactionsQuery,
    RuleAnswer,
    RuleBody,
    RuleQuery,
    RulesAnswer,
    WrongAnswer,
)
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.secret_arguments import conceal_arguments
from saltern.fleet.controller.sent_events import sent_event, store_sent
from saltern.fleet.protocol.tags import RESERVED
from saltern.fleet.store.reactions import last_reactions
from saltern.language.diagnostics import Diagnostic


async def send_event(call: Call[NoQuery, EventBody]) -> EventSent:
    """Send a custom event."""
    tag = call.body.tag
    if tag.startswith(RESERVED) or not tag.strip("/") or "\x00" in tag:
        what = f"the tag {tag!r} is empty or reserved for the controller"
        fix = "choose one that does not begin with 'salt/' or 'saltern/'"
        raise ApiError(422, Diagnostic(code="event-tag", what=what, fix=fix))
    event = sent_event(call.who.name, tag, call.body.data, call.client_token, call.desk.now())
    event = replace(event, cause=call.body.cause)
    number = await call.ask(store_sent, call.desk.fleet.database, event)
    call.desk.fleet.hub.wake()
    return EventSent(number=number)


async def list_rules(call: Call[NoQuery, None]) -> RulesAnswer:
    """The map of the reactor: patterns of tags, and the files that define the reactions."""
    rows = await call.desk.fleet.reactor.rows()
    return RulesAnswer(items=[RuleAnswer(tag=one.pattern, sources=list(one.sources)) for one in rows])


async def add_rule(call: Call[NoQuery, RuleBody]) -> RuleAnswer:
    """Add a row to the map of the reactor."""
    made = await call.desk.fleet.reactor.add(call.who.name, call.body.tag, list(call.body.sources))
    return RuleAnswer(tag=made.pattern, sources=list(made.sources))


async def remove_rule(call: Call[RuleQuery, None]) -> None:
    """Remove a row that was added to the map of the reactor."""
    await call.desk.fleet.reactor.remove(call.who.name, call.query.tag)


async def test_rules(call: Call[NoQuery, EventBody]) -> ForeseenAnswer:
    """The reactions that an event would cause; nothing is done."""
    found = await call.desk.fleet.reactor.foresee(call.body.tag, call.body.data)
    reactions = [
        ForeseenReaction(
            source=one.source,
            line=one.line,
            name=one.name,
            kind=one.kind,
            function=one.function,
            target=one.target,
            args=one.args,
            kwargs=conceal_arguments(one.kwargs),
            systems=systems,
            refused=why,
        )
        for one, systems, why in zip(found.reactions, found.systems, found.refusals, strict=True)
    ]
    wrong = [convert(one, WrongAnswer, from_attributes=True) for one in found.wrong]
    return ForeseenAnswer(sources=found.sources, reactions=reactions, wrong=wrong)


async def list_reactions(call: Call[ReactionsQuery, None]) -> ReactionsAnswer:
    """Reactions to events, the newest first."""
    rows = await call.read(last_reactions, call.query.limit, call.query.before)
    return ReactionsAnswer(items=[convert(one, ReactionAnswer, from_attributes=True) for one in rows])
