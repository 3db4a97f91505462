"""Bodies and answers about subscriptions."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from saltern.fleet.api.library_shapes import Name
from saltern.fleet.api.shapes import TEXT, ApiAnswer, Body, Word

Long = Annotated[str, Meta(max_length=2000, pattern=TEXT)]


class SubscriptionBody(Body, frozen=True, kw_only=True):
    """Who is notified: a web address or a mailbox; of what: patterns of names, and chains by name.

    ``secret`` is the key of the signatures (`whsec_` and base64); without it, the existing key or a new one.
    """

    name: Name
    kind: Literal["webhook", "mail"]
    address: Long
    events: Annotated[list[Word], Meta(max_length=50)] = []
    chains: Annotated[list[Word], Meta(max_length=200)] = []
    secret: Annotated[str, Meta(max_length=200, pattern=TEXT)] = ""
    enabled: bool = True
    client_token: str | None = None


class SubscriptionAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A subscription with its waiting and dead notifications, the last delivery, and the latest problem."""

    name: str
    kind: str
    address: str
    events: list[str]
    chains: list[str]
    enabled: bool
    author: str
    changed: float
    waiting: int = 0
    dead: int = 0
    last: float | None = None
    problem: str = ""


class SubscriptionMade(SubscriptionAnswer, frozen=True, kw_only=True):
    """``secret``: the key, once, if it was made now."""

    secret: str = ""


class DeliveryAnswer(ApiAnswer, frozen=True, kw_only=True):
    """One notification. ``status``: sent, waiting (until ``next_at``) or dead."""

    number: int
    id: str
    event: str
    run: str
    status: str
    created: float
    done: float | None
    next_at: float | None
    attempts: int
    problem: str


class Revived(ApiAnswer, frozen=True, kw_only=True):
    """How many are sent again."""

    again: int
