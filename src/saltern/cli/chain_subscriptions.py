"""``saltern chain subscribe`` and related verbs: notifications about chains."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from saltern.cli import exits
from saltern.cli.chain_file import read_text
from saltern.fleet.view.words import moment
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.outputs import options_for, write_data
from saltern.report.text import emit, safe_line

if TYPE_CHECKING:
    from saltern.fleet.client.client import Client

SHOWN = 50  # notifications of one subscriber that are listed


def subscribe(args: SimpleNamespace, client: Client) -> int:
    """Store a subscription; print its signing key if the key was made now."""
    if bool(args.webhook) == bool(args.mail):
        what = "name one receiver: --webhook URL or --mail ADDRESS"
        raise OperationError(Diagnostic(code="option-shape", what=what))
    kind, address = ("webhook", args.webhook) if args.webhook else ("mail", args.mail)
    options = {"events": args.event or [], "chains": args.of_chain or []}
    if args.key_file:
        options["secret"] = read_text(args.key_file).strip()
    made = client.subscriptions.set(args.words[0], kind, address, **options)
    if args.out != "nested":
        return _data(args, made)
    print(f"{made['name']}: {made['address']} is notified of {', '.join(made['events'])}")
    if made["secret"]:
        print(f"key: {made['secret']}")
        print("saltern: the key is shown once; receivers check signatures with it", file=sys.stderr)
    return exits.OK


def show_subscriptions(args: SimpleNamespace, client: Client) -> int:
    """Print all subscriptions; of a named subscription, its deliveries."""
    rows: list[dict[str, Any]]
    if args.words:
        rows = list(islice(client.subscriptions.deliveries(args.words[0]), SHOWN))
        lines = delivery_lines(rows, time.time())
    else:
        rows = list(client.subscriptions.list())
        lines = subscription_lines(rows, time.time())
    if args.out != "nested":
        return _data(args, rows)
    emit(sys.stdout, "".join(f"{line}\n" for line in lines))
    return exits.OK


def unsubscribe(args: SimpleNamespace, client: Client) -> int:
    client.subscriptions.remove(args.words[0])
    print(f"{args.words[0]} is removed")
    return exits.OK


def redeliver(args: SimpleNamespace, client: Client) -> int:
    print(f"{client.subscriptions.retry(args.words[0])} notifications are sent again")
    return exits.OK


def subscription_lines(rows: Sequence[dict[str, Any]], now: float) -> Iterator[str]:
    """One line for each subscription, and why deliveries failed."""
    if not rows:
        yield "there are no subscriptions"
    for row in rows:
        last = f"last sent {moment(row['last'], now)}" if row["last"] else "nothing was sent yet"
        counts = [f"{row[name]} {name}" for name in ("waiting", "dead") if row[name]]
        of = f" of {', '.join(row['chains'])}" if row["chains"] else ""
        yield safe_line(
            f"{row['name']}: {row['kind']} {row['address']}, {', '.join(row['events'])}{of}; "
            + ", ".join([last, *counts])
        )
        if row["problem"]:
            yield safe_line(f"  {row['problem']}")
        if row["dead"]:
            yield f"  saltern chain redeliver {safe_line(row['name'])} sends the failed notifications again"


def delivery_lines(rows: Sequence[dict[str, Any]], now: float) -> Iterator[str]:
    """One line for each delivery, the newest first."""
    if not rows:
        yield "no notification was due yet"
    for row in rows:
        again = f", again {moment(row['next_at'], now)}" if row["next_at"] else ""
        tries = f", attempt {row['attempts']}" if row["attempts"] > 1 else ""
        why = f": {row['problem']}" if row["problem"] else ""
        head = f"{moment(row['created'], now)}  {row['event']} of {row['run']}: {row['status']}"
        yield safe_line(f"{head}{tries}{again}{why}")


def _data(args: SimpleNamespace, value: object) -> int:
    write_data(value, sys.stdout, options_for(sys.stdout, colour=args.color, label=""), args.out)
    return exits.OK
