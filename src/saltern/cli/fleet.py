"""``saltern fleet``: the systems of a fleet, their keys, tokens, groups and facts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from types import SimpleNamespace
from typing import Any

from msgspec import Struct

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.connect import connect
from saltern.cli.options import CONTROLLER_ROW, output_rows
from saltern.fleet.client.client import Client
from saltern.fleet.view.status import overview
from saltern.fleet.view.tables import list_lines
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.report.colours import terminal_width
from saltern.report.outputs import options_for, write_data
from saltern.report.text import safe_line

ABOUT = """\
Show which systems are connected or away, what is running and what failed. With words:

  status                        the same
  systems [TARGET]              list the systems
  keys [STATE]                  list the keys: pending, accepted, rejected, revoked
  keys accept|reject SYSTEM …   accept or reject systems that ask to join; compare the fingerprints first
  keys revoke SYSTEM …          end the membership of systems, at once
  keys restore SYSTEM …         undo that
  keys remove SYSTEM …          delete systems; the same name may join again with another key
  tokens                        list the tokens that systems can join with
  tokens new                    make a token: --uses, --expires, --site
  tokens remove TOKEN …         make tokens invalid
  groups                        list the groups
  groups set NAME TARGET        make a group: --on @NAME then selects TARGET
  groups remove NAME …          delete groups
  facts SYSTEM [GRAIN …]        the grains of a system, as it reports them
  roster check [FILE …]         list the systems of rosters, and report every mistake; without FILE, those
                                of the controller on this machine
  demo                          a controller and five agents on this machine, in a temporary directory"""
EPILOG = """\
examples:
  saltern fleet
  saltern fleet systems 'G@os:Debian'
  saltern fleet keys accept web7
  saltern fleet tokens new --uses 20 --expires 3600
"""
DAY = 86_400
RECENT = 20  # jobs that the overview looks at

LINE = CommandLine(
    command="fleet",
    about=ABOUT,
    epilog=EPILOG,
    words=(Word(dest="words", metavar="FLEET", many=True, help="what to show or to do"),),
    rows=(
        Row(flag="--site", dest="site", metavar="NAME", help="tokens new: for agents that join at this site"),
        Row(
            flag="--uses", dest="uses", metavar="NUMBER", help="tokens new: how many systems may join with it"
        ),
        Row(flag="--expires", dest="expires", metavar="SECONDS", help="tokens new: how long it is valid"),
        Row(flag="--why", dest="why", metavar="TEXT", help="keys reject, revoke: a reason, for the audit"),
        Row(
            flag="--fingerprint",
            dest="fingerprint",
            metavar="TEXT",
            help="keys accept: only if the key has this fingerprint, as `saltern agent join` printed it",
        ),
        Row(
            flag="--keep",
            dest="keep",
            kind="on",
            default=False,
            help="demo: leave it running until Ctrl-C, to look around",
        ),
        Row(
            flag="--console",
            dest="console",
            kind="on",
            default=False,
            help="demo: with activity, for the console in a browser, until Ctrl-C",
        ),
        CONTROLLER_ROW,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    name, *words = args.words or ["status"]
    verb = VERBS.get(name)
    if verb is None:
        fix = did_you_mean(name, VERBS) or f"there are {', '.join(VERBS)}"
        raise OperationError(
            Diagnostic(code="option-choice", what=f"`saltern fleet` has no {name!r}", fix=fix)
        )
    if name == "demo":
        from saltern.cli.fleet_demo import demo

        return demo(keep=args.keep, colour=args.color, console=args.console)
    if name == "roster":
        from saltern.cli.fleet_roster import check_roster

        return check_roster(words)
    with connect(args) as client:
        return verb(args, client, words)


def show_rows(args: SimpleNamespace, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
    """Print a list: as a table for people, or as data."""
    found = list(rows)
    if args.out == "nested":
        for line in list_lines(name, found, time.time(), terminal_width(sys.stdout)):
            print(line)
    else:
        _data(args, found)
    return exits.OK


def _data(args: SimpleNamespace, value: object, label: str = "") -> None:
    write_data(value, sys.stdout, options_for(sys.stdout, colour=args.color, label=label), args.out)


def _status(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    _at_most("status", words, 0)
    systems = list(client.systems.list())
    recent = list(islice(client.jobs.list(), RECENT))
    known = {job["jid"] for job in recent}
    recent += [job for job in client.jobs.list(open=True) if job["jid"] not in known]
    jobs = [client.jobs.get(job["jid"]) for job in recent]
    if args.out != "nested":
        _data(args, {"systems": systems, "jobs": jobs})
        return exits.OK
    for line in overview(systems, jobs, time.time(), terminal_width(sys.stdout)):
        print(line)
    return exits.OK


def _systems(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    _at_most("systems", words, 1)
    return show_rows(args, "systems", client.systems.list(target=words[0] if words else ""))


def _facts(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    if not words:
        raise _wrong("facts", "name a system")
    system, *names = words
    grains = client.systems.facts(system)["grains"]
    chosen = {name: grains.get(name) for name in names} if names else grains
    _data(args, chosen, label=system)
    return exits.OK


class Decision(Struct, frozen=True):
    """A decision about a key: the method of the client, the option that it takes, and what is printed."""

    act: Callable[[Client], Callable[..., Any]]
    done: str
    takes: str = ""


DECISIONS = {
    "accept": Decision(lambda client: client.systems.accept, "accepted", "fingerprint"),
    "reject": Decision(lambda client: client.systems.reject, "rejected", "why"),
    "revoke": Decision(lambda client: client.systems.revoke, "revoked", "why"),
    "restore": Decision(lambda client: client.systems.restore, "accepted again"),
    "remove": Decision(lambda client: client.systems.remove, "removed"),
}


def _keys(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    if not words or words[0] not in DECISIONS:
        _at_most("keys", words, 1)
        return show_rows(args, "keys", client.systems.list(state=words[0] if words else ""))
    name, *systems = words
    if not systems:
        raise _wrong(f"keys {name}", "name at least one system")
    decision = DECISIONS[name]
    given = getattr(args, decision.takes) if decision.takes else None
    options = {decision.takes: given} if given else {}
    for system in systems:
        decision.act(client)(system, **options)
        print(f"{safe_line(system)}: {decision.done}")
    return exits.OK


def _tokens(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    if not words:
        return show_rows(args, "tokens", client.tokens.list())
    if words == ["new"]:
        uses, life = _number("--uses", args.uses, 1), _number("--expires", args.expires, DAY)
        print(client.tokens.make(uses=uses, life=life, site=args.site or ""))
        print("saltern: run on the system that is to join: saltern agent join TOKEN", file=sys.stderr)
        return exits.OK
    return _remove("tokens", client.tokens.remove, words)


def _groups(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    if not words:
        return show_rows(args, "groups", client.groups.list())
    if words[0] == "set":
        if len(words) != 3:
            raise _wrong("groups set", "give a name and a target")
        client.groups.set(words[1].removeprefix("@"), words[2])
        return exits.OK
    return _remove("groups", client.groups.remove, words)


def _remove(what: str, remove: Callable[[str], Any], words: list[str]) -> int:
    if words[0] != "remove" or len(words) < 2:
        raise _wrong(
            what, f"there are: {what}, {what} {'new' if what == 'tokens' else 'set'}, {what} remove NAME"
        )
    for name in words[1:]:
        remove(name.removeprefix("@"))
    return exits.OK


def _at_most(verb: str, words: list[str], most: int) -> None:
    if len(words) > most:
        raise _wrong(verb, f"{words[most]!r} is not expected here")


def _wrong(verb: str, what: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="option-shape", what=f"saltern fleet {verb}: {what}", fix="saltern fleet --help says more"
        )
    )


def _number(flag: str, text: str | None, usual: int) -> int:
    if text is None:
        return usual
    if not text.isdecimal() or not int(text):
        raise OperationError(
            Diagnostic(code="option-shape", what=f"{flag} needs a whole number, not {text!r}")
        )
    return int(text)


VERBS: dict[str, Callable[[SimpleNamespace, Client, list[str]], int]] = {
    "status": _status,
    "systems": _systems,
    "keys": _keys,
    "tokens": _tokens,
    "groups": _groups,
    "facts": _facts,
    "roster": _status,
    "demo": _status,
}
