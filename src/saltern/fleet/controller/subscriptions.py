"""Subscriptions of a controller: checks, stores and audits them."""

from __future__ import annotations

import re

from msgspec.structs import replace

from saltern.fleet.callbacks.occurrences import USUAL, check_patterns
from saltern.fleet.callbacks.reach import Destinations, check_url, masked_url, wrong_address
from saltern.fleet.callbacks.webhook import key_bytes, new_key
from saltern.fleet.store import audit, subscriptions
from saltern.fleet.store.database import Connection
from saltern.fleet.store.subscriptions import Subscription
from saltern.language.diagnostics import Diagnostic, OperationError

MAILBOX = re.compile(r"[^\s@<>,;:\"()\[\]\\]+@[^\s@<>,;:\"()\[\]\\]+")


def keep(
    connection: Connection, who: str, new: Subscription, reach: Destinations, now: float
) -> Subscription:
    """Store a subscription; a webhook without a key keeps its existing key, or gets a new one."""
    new = check_subscription(replace(new, events=new.events or USUAL), reach)
    before = subscriptions.subscription_named(connection, new.name)
    if new.kind == "webhook" and not new.secret:
        known = before.secret if before is not None and before.kind == "webhook" else ""
        new = replace(new, secret=known or new_key())
    subscriptions.put_subscription(connection, new)
    detail = {"name": new.name, "kind": new.kind, "address": shown_address(new), "events": list(new.events)}
    audit.append(connection, who, "subscription.set", detail, now)
    return new


def check_subscription(new: Subscription, reach: Destinations) -> Subscription:
    """Refuse a subscription that could never be delivered, or must not be."""
    check_patterns(new.events)
    if new.kind == "webhook":
        check_url(new.address, reach)
    elif not MAILBOX.fullmatch(new.address):
        raise wrong_address(new.address, "it is not one mailbox", "write it as ops@example.org")
    if new.kind == "webhook" and new.secret:
        try:
            key_bytes(new.secret)
        except ValueError:
            what, fix = "the key is not 24 to 64 bytes in base64", "leave it out: one is made"
            raise OperationError(Diagnostic(code="subscription-key", what=what, fix=fix)) from None
    return new


def drop(connection: Connection, who: str, name: str, now: float) -> None:
    """Remove a subscription and its waiting notifications."""
    if not subscriptions.remove_subscription(connection, name):
        raise unknown_subscription(name)
    audit.append(connection, who, "subscription.remove", {"name": name}, now)


def revive(connection: Connection, who: str, name: str, now: float) -> int:
    """Send dead notifications again."""
    if subscriptions.subscription_named(connection, name) is None:
        raise unknown_subscription(name)
    audit.append(connection, who, "subscription.retry", {"name": name}, now)
    return subscriptions.revive(connection, name, now)


def shown_address(one: Subscription) -> str:
    return masked_url(one.address) if one.kind == "webhook" else one.address


def unknown_subscription(name: str) -> OperationError:
    what, fix = f"no subscription is called {name!r}", "saltern chain subscriptions shows them"
    return OperationError(Diagnostic(code="subscription-unknown", what=what, fix=fix))
