"""``saltern events``: what happens in the fleet, as it happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, parse
from saltern.cli.connect import connect
from saltern.cli.options import CONTROLLER_ROW
from saltern.report.salt import dumps
from saltern.report.text import safe_line, tame
from saltern.system.clock import bounded

LINE = CommandLine(
    command="events",
    about="Print what happens in the fleet, as it happens, until Ctrl-C.",
    epilog="Tags are Salt's where Salt has one (salt/job/JID/ret/ID), and others begin with saltern/.",
    words=(),
    rows=(
        Row(flag="--tag", dest="tag", metavar="GLOB", default="*", help="only events whose tag matches"),
        Row(
            flag="--after",
            dest="after",
            metavar="NUMBER",
            help="begin after the event of this number; 0: all",
        ),
        Row(
            flag="--no-follow",
            dest="follow",
            kind="off",
            default=True,
            help="print those that are stored, and end",
        ),
        CONTROLLER_ROW,
        Row(
            flag="--out",
            dest="out",
            metavar="FORMAT",
            choices=("human", "jsonl"),
            default="human",
            help="human, jsonl (default: human)",
        ),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    after = int(args.after) if args.after and args.after.isdecimal() else None
    with connect(args) as client:
        if not args.follow:
            for event in client.events(after=after or 0, tag=args.tag):
                _print(args, event)
            return exits.OK
        try:
            for event in client.follow(after=after, tag=args.tag):
                if event["kind"] == "event":
                    _print(args, event)
        except KeyboardInterrupt:
            pass
    return exits.OK


def _print(args: SimpleNamespace, event: Mapping[str, Any]) -> None:
    """One line, at once: a reader may wait for it."""
    if args.out == "jsonl":
        print(tame(dumps(dict(event)).decode()))
    else:
        at = time.strftime("%H:%M:%S", time.localtime(bounded(event["at"])))
        print(safe_line(f"{at} {event['tag']} {dumps(event['data']).decode()}"))
    sys.stdout.flush()
