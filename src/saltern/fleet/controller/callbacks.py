"""Notifications of a controller: stored with the change they report, sent by the holder of the lease.

They are sent at least once: if a controller ends after a delivery and before recording it, the next one sends
it again, with the same id.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct, json

from saltern.fleet.callbacks.mail import MailServer, mail_of, send_mail
from saltern.fleet.callbacks.occurrences import Occurrence, wants
from saltern.fleet.callbacks.reach import Destinations
from saltern.fleet.callbacks.retry import next_attempt
from saltern.fleet.callbacks.webhook import NotSent, post
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.singleton import Hold
from saltern.fleet.store import chain_runs, subscriptions
from saltern.fleet.store.chains import chain_named
from saltern.fleet.store.database import Connection
from saltern.fleet.store.subscriptions import Notification, Subscription
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)
AT_ONCE = 20  # deliveries of one round
PROBLEM = 500  # characters of a reason that are kept


class CallbackOptions(Struct, frozen=True, kw_only=True):
    """Where callbacks may go, which certificates they trust, and the mail server."""

    reach: Destinations = Destinations()
    ca: str = ""
    mail: MailServer = MailServer()


def notify(connection: Connection, run: str, found: Sequence[Occurrence], now: float) -> None:
    """Store the notifications about a run, in the transaction of the change itself."""
    if not found or not (
        enabled := [one for one in subscriptions.list_subscriptions(connection) if one.enabled]
    ):
        return
    row = chain_runs.run_row(connection, run)
    if row is None:
        return
    chain = chain_named(connection, row["chain"])
    head = {
        "run": run,
        "chain": chain.name if chain else row["chain"],
        "version": row["version"],
        "author": row["author"],
        "target": row["target"],
        "at": now,
    }
    subscriptions.add_notifications(connection, notification_rows(enabled, head, found, now))


def notification_rows(
    enabled: Iterable[Subscription], head: dict[str, Any], found: Sequence[Occurrence], now: float
) -> list[dict[str, Any]]:
    """The notifications for each subscriber, each with its own id. Pure, except for the ids."""
    rows: list[dict[str, Any]] = []
    for one in enabled:
        if one.chains and head["chain"] not in one.chains:
            continue
        for thing in found:
            if wants(one.events, thing.name):
                body = {"id": f"msg_{uuid.uuid4().hex}", "event": thing.name, **head, **thing.data}
                row = {"subscription": one.name, "event": thing.name, "body": json.encode(body)}
                rows.append({**row, "created": now, "next_at": now})
    return rows


class Callbacks:
    """The work of one round: send everything that is due at once, and store the results."""

    def __init__(self, calls: Calls, options: CallbackOptions, *, now: Callable[[], float]) -> None:
        self._calls = calls
        self._options = options
        self._now = now

    async def __call__(self, hold: Hold) -> None:
        due = await hold.look(subscriptions.due_notifications, self._now(), AT_ONCE)
        if not due:
            return
        known = {one.name: one for one in await self._calls.read(subscriptions.list_subscriptions)}
        await asyncio.gather(*(self._deliver(hold, one, known.get(one.subscription)) for one in due))

    async def _deliver(self, hold: Hold, one: Notification, to: Subscription | None) -> None:
        values: dict[str, Any] = {"attempts": one.attempts + 1}
        try:
            if to is None:
                raise NotSent("the subscription was removed", for_good=True)
            await asyncio.to_thread(self._send, one, to)
            values |= {"done": self._now(), "next_at": None, "problem": ""}
        except (NotSent, OperationError) as problem:
            for_good = isinstance(problem, NotSent) and problem.for_good
            again = next_attempt(one.attempts + 1, self._now(), for_good=for_good)
            values |= {"next_at": again, "problem": str(problem)[:PROBLEM].replace("\x00", "")}
            level = logging.INFO if again is not None else logging.WARNING
            log.log(level, "callback %s to %s: %s", one.number, one.subscription, values["problem"])
        await hold.write(subscriptions.set_result, one.number, values)

    def _send(self, one: Notification, to: Subscription) -> None:
        body = json.decode(one.body)
        if to.kind == "mail":
            send_mail(self._options.mail, mail_of(body, to.address, self._options.mail.sender))
            return
        options = self._options
        post(
            to.address,
            one.body,
            id_=body["id"],
            key=to.secret,
            now=self._now(),
            reach=options.reach,
            ca=options.ca,
        )
