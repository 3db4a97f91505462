"""``saltern controller``: the controller of a fleet."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.language.diagnostics import did_you_mean

if TYPE_CHECKING:
    from saltern.fleet.controller.places import ControllerPlaces

ABOUT = """\
Run the controller of a fleet: broker, database and API in one. Without a word it runs until it is stopped."""
EPILOG = """\
examples:
  saltern controller                             run it; as root with /etc/saltern/controller.yaml
  saltern controller --directory /tmp/fleet      everything below one directory, without privileges"""


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    args.verb, *args.words = args.words or ["run"]
    if args.verb not in VERBS:
        hint = did_you_mean(args.verb, VERBS) or f"there are: {', '.join(VERBS)}"
        print(f"saltern controller: nothing is called {args.verb!r}; {hint}", file=sys.stderr)
        return exits.SURROUNDINGS
    verb = VERBS[args.verb]
    if len(args.words) != len(verb.takes):
        print(f"saltern controller {args.verb}: give {' '.join(verb.takes) or 'no words'}", file=sys.stderr)
        return exits.SURROUNDINGS
    from saltern.fleet.controller.places import controller_places

    return verb.run(args, controller_places(args.directory))


def _say(text: str) -> None:
    print(f"saltern: {text}", file=sys.stderr, flush=True)


def _run(_args: SimpleNamespace, places: ControllerPlaces) -> int:
    from saltern.fleet.controller.settings import load_settings
    from saltern.fleet.process import run

    run(places, load_settings(places), _say)
    return exits.OK


class Verb(Struct, frozen=True):
    """What it does, and the words that it takes."""

    run: Callable[[SimpleNamespace, ControllerPlaces], int]
    takes: tuple[str, ...] = ()


VERBS: dict[str, Verb] = {"run": Verb(_run)}
LINE = CommandLine(
    command="controller",
    about=ABOUT,
    epilog=EPILOG,
    words=(
        Word(dest="words", metavar="VERB", many=True, help="what to do, and what it needs; run by default"),
    ),
    rows=(
        Row(
            flag="--directory",
            dest="directory",
            metavar="DIR",
            help="keep everything below this directory, the configuration (controller.yaml), too",
        ),
    ),
)
