"""``saltern reactor``: show, test and edit the reactions to events."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from saltern.cli import exits
from saltern.cli.access_output import Verb, run_verb
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.event_data import data_of
from saltern.cli.options import CONTROLLER_ROW
from saltern.fleet.client.client import Client
from saltern.report.salt import dumps
from saltern.report.text import safe_line, tame
from saltern.system.clock import clamp_moment

SHOWN = 5  # systems that are named
LINE = CommandLine(
    command="reactor",
    about="""\
Reactions to events: rows of `reactor` in the configuration of the controller map tags to files.
With words:

  last                  the last reactions: what was done, and what failed at which line
  list                  the map that is in force
  test TAG [DATA]       show the reactions to an event, without running them
  add TAG FILE...       add a row to the map
  remove TAG            remove a row that was added""",
    epilog="""\
examples:
  saltern reactor test salt/minion/web1/start '{id: web1}'
  saltern reactor add 'shop/deploy/*' salt://reactor/deploy.sls""",
    words=(Word(dest="words", metavar="VERB", many=True, help="what to show or to do; last by default"),),
    rows=(
        Row(
            flag="--limit",
            dest="limit",
            metavar="NUMBER",
            default="20",
            help="last: how many reactions to show (default: 20)",
        ),
        CONTROLLER_ROW,
        Row(
            flag="--out",
            dest="out",
            metavar="FORMAT",
            choices=("human", "json"),
            default="human",
            help="human, json (default: human)",
        ),
    ),
)


def main(argv: list[str]) -> int:
    return run_verb("reactor", VERBS, parse(LINE, argv), "last")


def _last(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    limit = int(args.limit) if str(args.limit).isdecimal() else 20
    rows = client.reactor.reactions(limit=max(1, min(500, limit)))
    if args.out == "json":
        return _print_json(rows)
    for row in reversed(rows):
        print(safe_line(reaction_line(row)))
    if not rows:
        print("there were no reactions yet")
    return exits.OK


def reaction_line(row: dict[str, Any]) -> str:
    """One reaction: when, its result, its event, and the file and line that asked for it."""
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(clamp_moment(row["at"])))
    what = f"{row['kind']}.{row['function']}" if row["function"] else "-"
    on = f" on {row['target']}" if row["target"] else ""
    came = ": ".join([*([f"job {row['jid']}"] if row["jid"] else []), *([row["why"]] if row["why"] else [])])
    head = f"{at} {row['status']:<7} {row['tag']} (event {row['event']}) -> {what}{on}"
    return f"{head} by {_place(row)}" + (f": {came}" if came else "")


def _place(row: dict[str, Any]) -> str:
    line = f":{row['line']}" if row["line"] else ""
    return f"{row['source']}{line}" + (f" '{row['name']}'" if row.get("name") else "")


def _list(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    rows = client.reactor.list()
    if args.out == "json":
        return _print_json(rows)
    for row in rows:
        print(safe_line(row["tag"]))
        for source in row["sources"]:
            print(safe_line(f"  {source}"))
    if not rows:
        print("the map of the reactor is empty: `reactor` in controller.yaml, or saltern reactor add")
    return exits.OK


def _test(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    found = client.reactor.test(words[0], data_of(words[1:]))
    if args.out == "json":
        _print_json(found)
    else:
        _show(words[0], found)
    bad = found["wrong"] or any(one["refused"] for one in found["reactions"])
    return exits.FAILED if bad else exits.OK


def _show(tag: str, found: dict[str, Any]) -> None:
    if not found["sources"]:
        print(safe_line(f"there is no reaction to {tag}: no row of the map matches it"))
    for one in found["reactions"]:
        print(safe_line(f"{_place(one)}: {one['kind']}.{one['function']}"))
        if one["target"]:
            print(safe_line(f"  on {one['target']}: {_systems(one['systems'])}"))
        for name in ("args", "kwargs"):
            if one[name]:
                print(safe_line(f"  {name}: {dumps(one[name]).decode()}"))
        if one["refused"]:
            print(safe_line(f"  refused: {one['refused']}"))
    for one in found["wrong"]:
        print(safe_line(f"{_place(one)}: {one['why']}"))
    if found["sources"] and not found["reactions"] and not found["wrong"]:
        print("there are no reactions: the files ask for none")


def _systems(systems: list[str]) -> str:
    if not systems:
        return "no system"
    more = len(systems) - SHOWN
    return ", ".join(systems[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _add(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    client.reactor.add(words[0], words[1:])
    print(safe_line(f"{words[0]} now runs {', '.join(words[1:])}"))
    return exits.OK


def _remove(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    client.reactor.remove(words[0])
    print(safe_line(f"{words[0]} is removed"))
    return exits.OK


def _print_json(value: object) -> int:
    print(tame(dumps(value).decode()))
    return exits.OK


VERBS: dict[str, Verb] = {
    "last": Verb(_last),
    "list": Verb(_list),
    "test": Verb(_test, ("TAG",), ("DATA",) * 50),
    "add": Verb(_add, ("TAG", "FILE"), ("FILE",) * 20),
    "remove": Verb(_remove, ("TAG",)),
}
