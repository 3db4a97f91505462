"""Who is notified of what happens to chains, and what was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import json

from saltern.fleet.api.call import Call
from saltern.fleet.api.pages import Page, PageQuery, cut_page, decode_cursor, make_page
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import NoBody
from saltern.fleet.api.subscription_shapes import (
    DeliveryAnswer,
    Revived,
    SubscriptionAnswer,
    SubscriptionBody,
    SubscriptionMade,
)
from saltern.fleet.controller import subscriptions as desk
from saltern.fleet.store import subscriptions as store
from saltern.fleet.store.subscriptions import Notification, Subscription

T = TypeVar("T")


async def list_subscriptions(call: Call[PageQuery, None]) -> Page[SubscriptionAnswer]:
    """Subscriptions by name, each with its waiting and dead notifications; keys and paths are not shown."""
    rows, counts = await call.read(store.list_subscriptions), await call.read(store.counts)
    found = [SubscriptionAnswer(**_shown_fields(one), **counts.get(one.name, {})) for one in rows]
    return cut_page(found, call.query, lambda one: one.name)


async def set_subscription(call: Call[NoQuery, SubscriptionBody]) -> SubscriptionMade:
    """Store a subscription under its name. A key that is made for it is returned here, once."""
    body, now = call.body, call.desk.now()
    new = Subscription(
        name=body.name,
        kind=body.kind,
        address=body.address,
        events=tuple(body.events),
        chains=tuple(body.chains),
        secret=body.secret,
        enabled=body.enabled,
        author=call.who.name,
        changed=now,
    )
    known = await call.read(store.subscription_named, body.name)
    made = await _write(call, desk.keep, call.who.name, new, call.desk.fleet.destinations, now)
    is_new = made.secret not in (body.secret, known.secret if known else "")
    return SubscriptionMade(**_shown_fields(made), secret=made.secret if is_new else "")


async def remove_subscription(call: Call[NoQuery, None]) -> None:
    """Remove a subscription; notifications that wait for it are not sent."""
    await _write(call, desk.drop, call.who.name, call.path["subscription"], call.desk.now())


async def list_deliveries(call: Call[PageQuery, None]) -> Page[DeliveryAnswer]:
    """Notifications to a subscriber: sent, waiting and dead, the newest first."""
    name, query = call.path["subscription"], call.query
    if await call.read(store.subscription_named, name) is None:
        raise desk.unknown_subscription(name)
    before = decode_cursor(query.cursor, tuple[int])[0] if query.cursor else 0
    rows = await call.read(store.notifications_of, name, before=max(before, 0), limit=query.limit + 1)
    return make_page([_delivery(one) for one in rows], query.limit, lambda one: (one.number,))


async def retry_subscription(call: Call[NoQuery, NoBody]) -> Revived:
    """Send dead notifications again."""
    number = await _write(call, desk.revive, call.who.name, call.path["subscription"], call.desk.now())
    return Revived(again=number)


async def _write(call: Call[Any, Any], work: Callable[..., T], *arguments: Any) -> T:
    def run() -> T:
        with call.desk.fleet.database.write() as connection:
            return work(connection, *arguments)

    return await call.ask(run)


def _shown_fields(one: Subscription) -> dict[str, Any]:
    same = ("name", "kind", "enabled", "author", "changed")
    return {
        **{name: getattr(one, name) for name in same},
        "address": desk.shown_address(one),
        "events": list(one.events),
        "chains": list(one.chains),
    }


def _delivery(one: Notification) -> DeliveryAnswer:
    same = ("number", "event", "status", "created", "done", "next_at", "attempts", "problem")
    body = json.decode(one.body)
    return DeliveryAnswer(id=body["id"], run=body["run"], **{name: getattr(one, name) for name in same})
