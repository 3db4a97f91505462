"""Bodies and answers about custom events and reactions."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

Tag = Annotated[str, Meta(min_length=1, max_length=512)]
Cause = Annotated[str, Meta(max_length=64)]


class EventBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event to be sent: a tag, and data. `cause` is the job or the reaction that caused it: it reveals
    reactions that trigger themselves."""

    tag: Tag
    data: dict[str, Any] = {}
    cause: Cause = ""
    client_token: str | None = None


class EventSent(Struct, frozen=True, kw_only=True):
    """The event is stored under this number."""

    number: int


class RuleAnswer(Struct, frozen=True, kw_only=True):
    """A row of the map: the reactor runs these files for events whose tag matches."""

    tag: str
    sources: list[str]


class RuleBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row to be added."""

    tag: Tag
    sources: Annotated[list[Annotated[str, Meta(min_length=1, max_length=4096)]], Meta(min_length=1)]
    client_token: str | None = None


class RulesAnswer(Struct, frozen=True, kw_only=True):
    """The map that is in force."""

    items: list[RuleAnswer]


class RuleQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tag of the row."""

    tag: Tag


class ForeseenReaction(Struct, frozen=True, kw_only=True):
    """What would be done, and on which systems; or why it would be refused."""

    source: str
    line: int
    name: str
    kind: str
    function: str
    target: str
    args: list[Any]
    kwargs: dict[str, Any]
    systems: list[str]
    refused: str


class WrongAnswer(Struct, frozen=True, kw_only=True):
    """A mistake in a reactor file."""

    source: str
    line: int
    why: str


class ForeseenAnswer(Struct, frozen=True, kw_only=True):
    """The reactions that an event would cause."""

    sources: list[str]
    reactions: list[ForeseenReaction]
    wrong: list[WrongAnswer]


class ReactionAnswer(Struct, frozen=True, kw_only=True):
    """A reaction. ``status`` is ``done``, ``running``, ``failed`` or ``stopped``; ``depth`` counts the
    reactions that led to it.
    """

    number: int
    at: float
    event: int
    tag: str
    source: str
    line: int
    name: str
    kind: str
    function: str
    target: str
    status: str
    why: str
    jid: str
    depth: int


class ReactionsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``before``: only reactions with a smaller number."""

    before: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class ReactionsAnswer(Struct, frozen=True, kw_only=True):
    """Reactions, the newest first."""

    items: list[ReactionAnswer]
