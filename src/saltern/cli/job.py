"""``saltern job``: show or follow one job of the fleet."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.connect import connect
from saltern.cli.follow import Followed, Shown, follow_job, print_job
from saltern.cli.on import LAYOUT, chosen_format
from saltern.cli.options import CONTROLLER_ROW, REPORT_ROWS, STATE_ROWS, output_rows
from saltern.cli.run_names import LAST
from saltern.fleet.client.client import Client
from saltern.fleet.view.board import new_board
from saltern.fleet.view.job_tree import job_tree, tree_lines
from saltern.fleet.view.tables import job_status, list_lines
from saltern.fleet.view.words import moment
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.colours import terminal_width
from saltern.report.outputs import options_for, write_data
from saltern.report.text import safe_line

LINE = CommandLine(
    command="job",
    about="Show the result of a job of the fleet. Without a number: your last job.",
    epilog="""\
examples:
  saltern job 20261115T083000.123456-0a1b2c
  saltern job last --follow                   works even after the terminal was closed
  saltern job last --out highstate            what each system did
  saltern job JID --tree                      an orchestration, with the jobs that it started

`saltern jobs` lists them.""",
    words=(Word(dest="jids", metavar="JID", many=True, help="the number of a job, or `last`: your newest"),),
    rows=(
        Row(flag="--follow", dest="follow", kind="on", default=False, help="follow it to its end"),
        Row(
            flag="--cancel",
            dest="cancel",
            kind="on",
            default=False,
            help="end it: each system ends before its next state",
        ),
        Row(
            flag="--kill",
            dest="kill",
            kind="on",
            default=False,
            help="end it at once, in the middle of a state",
        ),
        Row(
            flag="--tree",
            dest="tree",
            kind="on",
            default=False,
            help="show the jobs that it started, and the jobs that those started",
        ),
        Row(flag="--system", dest="system", metavar="SYSTEM", help="only this system"),
        CONTROLLER_ROW,
        *output_rows("nested"),
        *STATE_ROWS,
        *REPORT_ROWS,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if len(args.jids) > 1:
        print("saltern job: name one job", file=sys.stderr)
        return exits.SURROUNDINGS
    with connect(args) as client:
        jid = _job_number(client, args.jids[0] if args.jids else LAST)
        if args.cancel or args.kill:
            client.jobs.cancel(jid, hard=args.kill)
            print(f"saltern: job {jid}: asked to end", file=sys.stderr)
            if not args.follow:
                return exits.OK
        return _show_tree(args, client, jid) if args.tree else _show(args, argv, client, jid)


def _job_number(client: Client, word: str) -> str:
    """The number of the named job. ``last`` is the newest job of the person who asks: schedules, reactions
    and other people also send jobs."""
    if word != LAST:
        return word
    newest = next(iter(client.jobs.list(user=client.me()["name"])), None)
    if newest is None:
        fix = "use --on TARGET; `saltern jobs` lists those of others"
        raise OperationError(Diagnostic(code="jobs-none", what="you have not sent a job yet", fix=fix))
    return str(newest["jid"])


def _show(args: SimpleNamespace, argv: list[str], client: Client, jid: str) -> int:
    job = client.jobs.get(jid)
    shown = Shown(
        out=chosen_format(args, argv),
        colour=args.color,
        patient=True,
        layout={name: getattr(args, name, None) for name in LAYOUT},
    )
    targets = [row["system"] for row in client.jobs.targets(jid) if args.system in (None, row["system"])]
    board = new_board(
        jid,
        targets,
        expires=job["expires"],
        started=job["created"],
        test=job["test"] or job["function"] == "saltern.plan",
    )
    followed = Followed(board=board, function=job["function"])
    if args.follow:
        return follow_job(client, followed, shown)
    if shown.out == "grouped":
        _head(client, job)
    return print_job(client.jobs, followed, shown)


def _show_tree(args: SimpleNamespace, client: Client, jid: str) -> int:
    """Print a job and all jobs below it; return the exit code of the job."""
    tree = job_tree(client.jobs, jid)
    if chosen_format(args, ["--out"] if args.out != "nested" else []) == "grouped":
        width = terminal_width(sys.stdout)
        for line in tree_lines(tree, time.time(), width):
            print(line)
        return exits.OK
    write_data(tree, sys.stdout, options_for(sys.stdout, colour=args.color, label=""), args.out)
    return exits.OK


def _head(client: Client, job: dict[str, object]) -> None:
    """Print what the job is, before its result."""
    now = time.time()
    created = moment(float(str(job["created"])), now)
    what = f"{job['function']} {' '.join(map(str, job['args'] or []))}".rstrip()  # type: ignore[call-overload]
    print(safe_line(f"job {job['jid']}: {what} on {job['target']}, by {job['user']} at {created}"))
    print(f"{job_status(job)}")
    if job["ended"] is None:
        for line in list_lines(
            "targets", client.jobs.targets(str(job["jid"])), now, terminal_width(sys.stdout)
        ):
            print(f"  {line}")
