"""``saltern orchestrate``: run states that act on many systems, with a journal."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from msgspec import to_builtins

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import (
    CONTROLLER_ROW,
    EXCLUDE_ROW,
    FAILHARD_ROW,
    REPORT_ROWS,
    SSH_ROWS,
    STATE_ROWS,
    STRICT_ROW,
    TEST_ROW,
    TREE_ROWS,
    output_rows,
)
from saltern.language.diagnostics import Diagnostic, OperationError

DIRECTORY_ROW = Row(
    flag="--directory",
    dest="directory",
    metavar="DIR",
    help="the directory of the controller, if it was started with --directory: use its roots",
)
LINE = CommandLine(
    command="orchestrate",
    about="Run an orchestration file: states that act on the systems of a fleet, in the order you give them.",
    epilog="""\
examples:
  saltern orchestrate deploy                          on the controller
  saltern orchestrate deploy --pillar '{version: 7}'
  saltern orchestrate deploy --test                   systems report what would change
  saltern orchestrate deploy --roster hosts.yaml      over SSH, without a controller
  saltern orchestrate --resume                        continue the last broken orchestration

exit codes: as for `saltern apply`""",
    words=(
        Word(dest="sls", metavar="SLS", many=True, help="names of orchestration files; with --resume, a JID"),
    ),
    rows=(
        TEST_ROW,
        Row(
            flag="--resume",
            dest="resume",
            kind="on",
            default=False,
            help="continue a broken orchestration: the last, or the named one. Nothing is sent twice",
        ),
        Row(
            flag="--list",
            dest="list",
            kind="on",
            default=False,
            help="list the orchestrations of this machine",
        ),
        EXCLUDE_ROW,
        FAILHARD_ROW,
        STRICT_ROW,
        Row(
            flag="--detailed-exitcode",
            dest="detailed_exitcode",
            kind="on",
            default=False,
            help="exit with 4 when something changed or would change",
        ),
        Row(
            flag="--jid",
            dest="jid",
            metavar="JID",
            help="for programs: the number for the orchestration. A known one is continued, or shown"
            " if it has ended",
        ),
        DIRECTORY_ROW,
        CONTROLLER_ROW,
        *TREE_ROWS,
        *output_rows("highstate"),
        *STATE_ROWS,
        *REPORT_ROWS,
        *(row for row in SSH_ROWS if row.flag != "--resume"),
    ),
)
WIDTH = "{:<34}{:<13}{:<21}{:>8}{:>9}{:>8}  {}"


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.list:
        return _list(args)
    from saltern.cli.orchestration_run import begin, resume_named

    if args.resume:
        return resume_named(args, args.sls[0] if args.sls else "last")
    if not args.sls:
        what, fix = "no orchestration file is named", "saltern orchestrate SLS"
        raise OperationError(Diagnostic(code="option-shape", what=what, fix=fix))
    return begin(args)


def _list(args: SimpleNamespace) -> int:
    """Print the orchestrations of this machine, the newest first."""
    from saltern.cli.orchestration_fleet import orchestration_settings
    from saltern.fleet.orchestration.folder import Orchestrations
    from saltern.system.clock import stamp

    settings = orchestration_settings(args)
    kept = Orchestrations(settings)
    rows = list(kept.summaries(settings))
    if args.out != "highstate":
        from saltern.cli.from_options import output_options
        from saltern.report.outputs import write_data

        found = [{**(to_builtins(one) if one else {}), "jid": jid} for jid, one in rows]
        write_data(found, sys.stdout, output_options(args, settings), args.out)
        return exits.OK
    print(WIDTH.format("orchestration", "status", "started (UTC)", "states", "changed", "failed", "file"))
    for jid, one in rows:
        known = (one.status, stamp(one.started), one.done, one.changed, one.failed) if one else [""] * 5
        print(WIDTH.format(jid, *known, ", ".join(kept.note(jid).sls)).rstrip())
    return exits.OK
