"""``saltern schedule``: chains that a controller runs on a schedule."""

from __future__ import annotations

from types import SimpleNamespace

from saltern.cli import exits, library_output
from saltern.cli.access_output import Verb, run_verb
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import CONTROLLER_ROW, output_rows
from saltern.cli.values import mapping_value
from saltern.fleet.client.client import Client
from saltern.language.diagnostics import Diagnostic, OperationError

LINE = CommandLine(
    command="schedule",
    about="""\
Chains on a schedule. The controller stores when each runs next, so that nothing is lost while it is
down. With words:

  list                    the schedules, and when each runs next
  set NAME CHAIN CRON     store a schedule: '30 2 * * *', @daily …
  enable NAME             let it run again
  disable NAME            stop it until it is enabled
  remove NAME             remove a schedule; its runs continue""",
    epilog="""\
examples:
  saltern schedule set nightly patching '30 2 * * *' --zone Europe/Berlin --target 'web*'
  saltern schedule disable nightly""",
    words=(Word(dest="words", metavar="VERB", many=True, help="what to show or to do; list by default"),),
    rows=(
        Row(flag="--target", dest="target", metavar="TARGET", default="*", help="set: the systems"),
        Row(flag="--zone", dest="zone", metavar="ZONE", default="UTC", help="set: the time zone of CRON"),
        Row(flag="--version", dest="version", metavar="NUMBER", help="set: this version, not the newest"),
        Row(flag="--inputs", dest="inputs", metavar="YAML|FILE", help="set: the inputs of each run"),
        Row(flag="--strategy", dest="strategy", metavar="YAML|FILE", help="set: waves, limits of failures …"),
        Row(
            flag="--overlap",
            dest="overlap",
            metavar="WHAT",
            default="skip",
            choices=("skip", "queue", "allow"),
            help="set: if its last run has not ended: skip this one, wait, or run both",
        ),
        Row(
            flag="--catch-up",
            dest="catch_up",
            metavar="WHAT",
            default="one",
            choices=("none", "one", "all"),
            help="set: what to run for times that passed while no controller was running",
        ),
        CONTROLLER_ROW,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    return run_verb("schedule", VERBS, parse(LINE, argv), "list")


def _list(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    return _show(args, list(client.schedules.list()))


def _show(args: SimpleNamespace, rows: list[dict[str, object]]) -> int:
    if args.out != "nested":
        return library_output.show_data(args, rows)
    print("\n".join(library_output.schedules(rows)))
    return exits.OK


def _set(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    name, chain, cron = words
    options = {
        "target": args.target,
        "zone": args.zone,
        "version": _number(args.version),
        "inputs": mapping_value("--inputs", args.inputs),
        "strategy": mapping_value("--strategy", args.strategy),
        "overlap": args.overlap,
        "catch_up": args.catch_up,
    }
    return _show(args, [client.schedules.set(name, chain, cron, **options)])


def _number(text: str | None) -> int | None:
    if text is not None and not text.isdecimal():
        what = f"--version needs the number of a version, not {text!r}"
        raise OperationError(Diagnostic(code="option-shape", what=what))
    return None if text is None else int(text)


def _enable(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    return _show(args, [client.schedules.enable(words[0])])


def _disable(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    return _show(args, [client.schedules.disable(words[0])])


def _remove(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    client.schedules.remove(words[0])
    print(f"{words[0]} is removed")
    return exits.OK


VERBS: dict[str, Verb] = {
    "list": Verb(_list),
    "set": Verb(_set, takes=("NAME", "CHAIN", "CRON")),
    "enable": Verb(_enable, takes=("NAME",)),
    "disable": Verb(_disable, takes=("NAME",)),
    "remove": Verb(_remove, takes=("NAME",)),
}
