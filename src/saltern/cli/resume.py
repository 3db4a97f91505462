"""``saltern resume``: go on with a run that broke."""

from __future__ import annotations

import sys

from saltern.cli import exits
from saltern.cli.apply import LINE as APPLY
from saltern.cli.apply import exit_code, tell_report, watched
from saltern.cli.arguments import CommandLine, Word, parse
from saltern.cli.options import STATE_ROWS, TREE_ROWS, output_rows, session
from saltern.language.events import Report

OWN = ("--sub-states", "--expand", "--detailed-exitcode")
LINE = CommandLine(
    command="resume",
    about="Go on with a run that broke, at the first state that is not done. Without a name: the last one.",
    epilog="Nothing that is done is done again. A command that was running when the run broke counts as\n"
    "failed, unless its 'resume' says rerun or skip.",
    words=(Word(dest="run", metavar="RUN", many=True, help="its number, as `saltern runs` lists it"),),
    rows=(
        *(row for row in APPLY.rows if row.flag in OWN),
        *TREE_ROWS,
        *output_rows("highstate"),
        *STATE_ROWS,
    ),
)


def main(argv: list[str]) -> int:
    from saltern.durable import resume

    args = parse(LINE, argv)
    if len(args.run) > 1:
        print("saltern resume: name one run", file=sys.stderr)
        return exits.SURROUNDINGS
    engine = session(args)
    found: list[Report] = []

    def work(tell: object) -> Report:
        report = resume(engine.settings, args.run[0] if args.run else None, tell)  # type: ignore[arg-type]
        if report is not None:
            found.append(report)
        return report or Report()

    watched(args, work)
    if not found:
        print("saltern: no run is broken; there is nothing to go on with", file=sys.stderr)
        return exits.OK
    tell_report(args, engine, found[0])
    return exit_code(found[0], detailed=args.detailed_exitcode)
