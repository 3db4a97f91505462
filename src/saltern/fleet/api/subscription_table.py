"""``SUBSCRIPTION_ROUTES``: who is notified of what happens to chains."""

from __future__ import annotations

from saltern.fleet.api.handlers import subscriptions
from saltern.fleet.api.pages import Page, PageQuery
from saltern.fleet.api.route import Route, delete, get, post
from saltern.fleet.api.shapes import NoBody
from saltern.fleet.api.subscription_shapes import (
    DeliveryAnswer,
    Revived,
    SubscriptionAnswer,
    SubscriptionBody,
    SubscriptionMade,
)

ONE = "/v1/subscriptions/{subscription}"
READ, WRITE = "subscriptions.read", "subscriptions.write"
SUBSCRIPTION_ROUTES: tuple[Route, ...] = (
    get(
        "/v1/subscriptions",
        READ,
        subscriptions.list_subscriptions,
        Page[SubscriptionAnswer],
        query=PageQuery,
    ),
    post("/v1/subscriptions", WRITE, subscriptions.set_subscription, SubscriptionMade, body=SubscriptionBody),
    delete(ONE, WRITE, subscriptions.remove_subscription, None, status=204),
    get(f"{ONE}/deliveries", READ, subscriptions.list_deliveries, Page[DeliveryAnswer], query=PageQuery),
    post(f"{ONE}/retry", WRITE, subscriptions.retry_subscription, Revived, body=NoBody),
)
