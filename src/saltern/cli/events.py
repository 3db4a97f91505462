"""``saltern events``: print events of the fleet as they happen, and send events."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.connect import connect
from saltern.cli.event_data import data_of
from saltern.cli.options import CONTROLLER_ROW
from saltern.fleet.client.client import Client
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.salt import dumps
from saltern.report.text import safe_line, tame
from saltern.system.clock import clamp_moment

LINE = CommandLine(
    command="events",
    about="""\
Print what happens in the fleet, as it happens, until Ctrl-C. With words:

  send TAG [DATA]     send an event; DATA is YAML, or NAME=VALUE words""",
    epilog="""\
Tags are Salt's where Salt has one (salt/job/JID/ret/ID), and others begin with saltern/.

examples:
  saltern events --tag 'salt/job/*/ret/*'
  saltern events send shop/deploy/done '{version: 7}'""",
    words=(Word(dest="words", metavar="VERB", many=True, help="send; without a word, print events"),),
    rows=(
        Row(flag="--tag", dest="tag", metavar="GLOB", default="*", help="only events whose tag matches"),
        Row(
            flag="--after",
            dest="after",
            metavar="NUMBER",
            help="begin after the event with this number; 0: print all",
        ),
        Row(
            flag="--no-follow",
            dest="follow",
            kind="off",
            default=True,
            help="print the stored events, and exit",
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
        if args.words:
            return _send(client, args.words)
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


def _send(client: Client, words: list[str]) -> int:
    if words[0] != "send" or len(words) < 2:
        what = "`saltern events` takes no words, or send, a tag and data"
        raise OperationError(
            Diagnostic(code="option-choice", what=what, fix="saltern events send TAG [DATA]")
        )
    number = client.send_event(words[1], data_of(words[2:]))
    print(f"event {number}")
    return exits.OK


def _print(args: SimpleNamespace, event: Mapping[str, Any]) -> None:
    """Print an event as one line and flush it: a reader may be waiting."""
    if args.out == "jsonl":
        print(tame(dumps(dict(event)).decode()))
    else:
        at = time.strftime("%H:%M:%S", time.localtime(clamp_moment(event["at"])))
        print(safe_line(f"{at} {event['tag']} {dumps(event['data']).decode()}"))
    sys.stdout.flush()
