"""The routes about custom events, reactions and the mine."""

from __future__ import annotations

from saltern.fleet.api.handlers import mine, reactor
from saltern.fleet.api.reactor_shapes import (
    EventBody,
    EventSent,
    ForeseenAnswer,
    ReactionsAnswer,
    ReactionsQuery,
    RuleAnswer,
    RuleBody,
    RuleQuery,
    RulesAnswer,
)
from saltern.fleet.api.route import Route, delete, get, post

REACTOR_ROUTES: tuple[Route, ...] = (
    post("/v1/events", "events.send", reactor.send_event, EventSent, body=EventBody, status=201),
    get("/v1/reactor", "reactor.read", reactor.list_rules, RulesAnswer),
    post("/v1/reactor", "reactor.write", reactor.add_rule, RuleAnswer, body=RuleBody, status=201),
    delete("/v1/reactor", "reactor.write", reactor.remove_rule, None, query=RuleQuery, status=204),
    post("/v1/reactor/test", "reactor.test", reactor.test_rules, ForeseenAnswer, body=EventBody),
    get("/v1/systems/{system}/mine", "facts.read", mine.get_mine, mine.MineValues),
    get("/v1/reactions", "reactor.read", reactor.list_reactions, ReactionsAnswer, query=ReactionsQuery),
)
