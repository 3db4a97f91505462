"""Reads and checks a batch of returns, records and events that agents sent over the streams. Pure.

The sender of a message is in its subject, which the broker guarantees. An invalid message is refused with a
reason, and is not delivered again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache

from msgspec import Struct, field
from msgspec.structs import replace

from saltern.fleet.bus.ports import Delivery
from saltern.fleet.protocol.codec import MAX_BODY, PART, BadMessage, decode
from saltern.fleet.protocol.ids import BadId, decode_token
from saltern.fleet.protocol.messages import Away, Event, Records, Return
from saltern.fleet.protocol.tags import is_allowed_tag

MOST_PARTS = math.ceil(MAX_BODY / PART)
NUL = "\x00"  # PostgreSQL cannot store it in a text
MOST_EXIT = 2**31 - 1


def clean(text: str) -> str:
    """A text that every database accepts."""
    return text.replace(NUL, "\N{REPLACEMENT CHARACTER}")


class Refusal(Struct, frozen=True):
    """A refused message: its sender, and one word for the reason."""

    system: str
    reason: str


class Batch(Struct):
    """The messages, each with the system that sent it."""

    returns: list[tuple[str, Return]] = field(default_factory=list)
    records: list[tuple[str, Records]] = field(default_factory=list)
    away: list[tuple[str, Away]] = field(default_factory=list)
    events: list[tuple[str, Event]] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


class Unfit(Exception):
    """A message that is well formed but invalid."""


def read_batch(deliveries: Iterable[Delivery]) -> Batch:
    batch = Batch()
    for delivery in deliveries:
        _, token, kind, *rest = delivery.kept.subject.split(".")
        system = system_of(token)
        try:
            if not system or kind not in _READERS:
                raise Unfit("bad-subject")
            _READERS[kind](batch, system, rest, delivery.kept.data)
        except BadMessage as problem:
            batch.refused.append(Refusal(system, problem.reason))
        except Unfit as problem:
            batch.refused.append(Refusal(system, str(problem)))
    return batch


@lru_cache(maxsize=65_536)
def system_of(token: str) -> str:
    """The id in a subject; empty if there is none."""
    try:
        return decode_token(token)
    except BadId:
        return ""


def _read_return(batch: Batch, system: str, rest: list[str], data: bytes) -> None:
    one = decode(Return, data)
    _check_jid(one.jid, rest)
    if one.parts > MOST_PARTS or one.size > MAX_BODY:
        raise Unfit("too-large")
    if one.part >= one.parts or abs(one.exit_code) > MOST_EXIT:
        raise Unfit("malformed")
    batch.returns.append((system, replace(one, why=clean(one.why)) if NUL in one.why else one))


def _read_records(batch: Batch, system: str, rest: list[str], data: bytes) -> None:
    one = decode(Records, data)
    _check_jid(one.jid, rest)
    batch.records.append((system, one))


def _read_away(batch: Batch, system: str, _rest: list[str], data: bytes) -> None:
    batch.away.append((system, decode(Away, data)))


def _read_event(batch: Batch, system: str, _rest: list[str], data: bytes) -> None:
    event = decode(Event, data)
    if NUL in event.tag or not is_allowed_tag(event.tag, system):
        raise Unfit("foreign-tag")
    batch.events.append((system, event))


_READERS: dict[str, Callable[[Batch, str, list[str], bytes], None]] = {
    "ret": _read_return,
    "rec": _read_records,
    "away": _read_away,
    "evt": _read_event,
}


def _check_jid(jid: str, rest: list[str]) -> None:
    if len(rest) != 1 or _token_text(rest[0]) != jid:
        raise Unfit("other-job")


@lru_cache(maxsize=8192)
def _token_text(token: str) -> str:
    try:
        return decode_token(token)
    except BadId:
        return ""
