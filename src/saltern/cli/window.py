"""``saltern window``: when work is allowed on the systems of a fleet."""

from __future__ import annotations

from types import SimpleNamespace

from saltern.cli import exits, library_output
from saltern.cli.access_output import Verb, run_verb
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.chain_file import read_text
from saltern.cli.options import CONTROLLER_ROW, output_rows
from saltern.fleet.client.client import Client
from saltern.language.diagnostics import Diagnostic, OperationError

LINE = CommandLine(
    command="window",
    about="""\
Maintenance windows: calendars (iCalendar) in which work is allowed, or denied, on the systems of a target.
A denial overrides every window; a system without a calendar is open at any time. With words:

  list                   the calendars, and whether each has a window now
  set NAME FILE          store a calendar; --deny: of times when nothing may begin
  remove NAME            remove a calendar
  check [TARGET]         whether work may begin on each system, why not now, and its next windows
  show NAME              print the text of a calendar""",
    epilog="""\
examples:
  saltern window set nights nights.ics --target 'web*' --zone Europe/Berlin
  saltern window set freeze freeze.ics --deny
  saltern window check 'web*' --needs 1800""",
    words=(Word(dest="words", metavar="VERB", many=True, help="what to show or to do; list by default"),),
    rows=(
        Row(
            flag="--target",
            dest="target",
            metavar="TARGET",
            default="*",
            help="set: its systems",
        ),
        Row(
            flag="--zone",
            dest="zone",
            metavar="ZONE",
            default="UTC",
            help="set: the time zone of times without one, such as Europe/Berlin",
        ),
        Row(
            flag="--deny", dest="deny", kind="on", default=False, help="set: nothing may begin at these times"
        ),
        Row(flag="--note", dest="note", metavar="TEXT", default="", help="set: what it is for"),
        Row(flag="--needs", dest="needs", metavar="SECONDS", help="check: how long the work takes"),
        Row(
            flag="--count",
            dest="count",
            metavar="NUMBER",
            help="check: how many of the next windows (default: 5)",
        ),
        CONTROLLER_ROW,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    return run_verb("window", VERBS, parse(LINE, argv), "list")


def _list(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    rows = list(client.windows.list())
    if args.out != "nested":
        return library_output.show_data(args, rows)
    print("\n".join(library_output.windows(rows)))
    return exits.OK


def _show(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    found = next((one for one in client.windows.list() if one["name"] == words[0]), None)
    if found is None:
        what, fix = f"no window is called {words[0]!r}", "saltern window list shows them"
        raise OperationError(Diagnostic(code="window-unknown", what=what, fix=fix))
    print(found["text"], end="")
    return exits.OK


def _set(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    kind = "deny" if args.deny else "allow"
    options = {"kind": kind, "zone": args.zone, "target": args.target, "note": args.note}
    made = client.windows.set(words[0], read_text(words[1]), **options)
    if args.out != "nested":
        return library_output.show_data(args, made)
    print("\n".join(library_output.windows([made])))
    return exits.OK


def _remove(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    client.windows.remove(words[0])
    print(f"{words[0]} is removed")
    return exits.OK


def _check(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    """Print whether work may begin; the exit code is success if it may on all systems."""
    given = {"needs": _number("--needs", args.needs), "count": _number("--count", args.count)}
    rows = list(client.windows.check(words[0] if words else "*", **given))
    if args.out != "nested":
        library_output.show_data(args, rows)
    else:
        print("\n".join(library_output.verdicts(rows)))
    return exits.OK if all(row["open"] for row in rows) else exits.FAILED


def _number(flag: str, text: str | None) -> float | int | None:
    try:
        found = None if text is None else float(text)
    except ValueError:
        raise OperationError(
            Diagnostic(code="option-shape", what=f"{flag} needs a number, not {text!r}")
        ) from None
    return int(found) if found is not None and found.is_integer() else found


VERBS: dict[str, Verb] = {
    "list": Verb(_list),
    "set": Verb(_set, takes=("NAME", "FILE")),
    "remove": Verb(_remove, takes=("NAME",)),
    "check": Verb(_check, may_take=("TARGET",)),
    "show": Verb(_show, takes=("NAME",)),
}
