"""``saltern apply``: bring this machine to the state that the SLS files describe."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.options import STATE_OUTPUTS, add_output, add_tree, output_options, parser, session, yaml_value
from saltern.language.diagnostics import SalternError

if TYPE_CHECKING:
    from saltern.engine import Session
    from saltern.language.events import Event, Report
    from saltern.runtime.ports import Recorder

EPILOG = """\
examples:
  saltern apply web --file-root ./states
  saltern apply --test                       the highstate, without changing anything
  saltern apply web --out json | jq .

exit codes: 0 ok, 1 usage or surroundings, 2 a state failed, 3 the states do not compile,
4 something changed (with --detailed-exitcode), 5 the pillar does not compile
"""


def arguments() -> ArgumentParser:
    result = parser("apply", "Apply states to this machine. Without a name: the highstate, by the top file.", epilog=EPILOG)
    result.add_argument("sls", nargs="*", metavar="SLS", help="names of state files, such as web or web.nginx; patterns are fine")
    result.add_argument("--test", action="store_true", default=None, help="say what would change, and change nothing")
    result.add_argument("--only-id", metavar="ID", help="only the states with this ID, and what they need")
    result.add_argument("--template", metavar="FILE", help="a state file outside the roots")
    result.add_argument("--exclude", metavar="YAML", help="SLS names or {id: NAME} to leave out; a list is fine")
    result.add_argument("--failhard", action="store_true", default=None, help="end the run at the first failure")
    result.add_argument("--strict", action="store_true", default=None, help="unknown states and arguments are errors")
    result.add_argument("--detailed-exitcode", action="store_true", help="exit with 4 when something changed or would change")
    add_tree(result)
    add_output(result, "highstate")
    result.add_argument("--state-output", metavar="HOW", help=f"{', '.join(STATE_OUTPUTS)}; with _id: IDs instead of names")
    result.add_argument("--state-verbose", metavar="BOOL", type=_flag, help="false: leave out what is fine and unchanged")
    result.add_argument("--output-diff", dest="state_output_diff", action="store_true", default=None, help="only what changed or failed")
    result.add_argument("--expand", action="store_true", help="show every state that a failure kept from running, and the data of each")
    return result


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    try:
        engine = session(args, test=args.test, failhard=args.failhard, strict=args.strict)
        report = _applied(args, engine)
    except SalternError as problem:
        _problems_as_data(args, problem)
        raise
    return exit_code(report, detailed=args.detailed_exitcode)


def exit_code(report: Report, *, detailed: bool = False) -> int:
    from saltern.report.verdict import changed, failed

    if failed(report):
        return exits.FAILED
    return exits.CHANGED if detailed and changed(report) else exits.OK


def _applied(args: Namespace, engine: Session) -> Report:
    from saltern.engine import Request, apply

    request = Request(
        sls=tuple(name for word in args.sls for name in word.split(",") if name),
        saltenv=args.saltenv,
        exclude=_excluded(args.exclude),
        template=args.template,
        id=args.only_id,
    )
    watchers, close = _watchers(args)
    try:
        report = apply(engine, request, _all(watchers))
    finally:
        for watcher in close:
            watcher.close()
    if report.warnings:
        from saltern.report.colours import wanted
        from saltern.report.diagnostics import show

        show(report.warnings, sys.stderr, colour=wanted(sys.stderr, args.color))
    _write(args, engine, report)
    return report


def _write(args: Namespace, engine: Session, report: Report) -> None:
    from msgspec.structs import replace

    from saltern.report.outputs import write

    if args.out == "jsonl":
        return  # told while it happened
    options = output_options(args, engine.settings)
    write(report, sys.stdout, replace(options, expand=args.expand), args.out)
    if not report.answers and args.out in ("highstate", "quiet"):
        print("saltern: no states to run", file=sys.stderr)


def _watchers(args: Namespace) -> tuple[list[Recorder], list[object]]:
    """Who is told while it happens: the terminal, or whoever reads the lines."""
    if args.out == "jsonl":
        from saltern.report.lines import Lines

        lines = Lines(sys.stdout)
        return [lines], [lines]
    if args.out == "highstate" and sys.stderr is not None and sys.stderr.isatty() and sys.stdout.isatty():
        from saltern.report.colours import wanted
        from saltern.report.live import Live

        live = Live(sys.stderr, colour=wanted(sys.stderr, args.color))
        return [live], [live]
    return [], []


def _all(watchers: list[Recorder]) -> Recorder | None:
    if len(watchers) < 2:
        return watchers[0] if watchers else None

    def tell(event: Event) -> None:
        for watcher in watchers:
            watcher(event)

    return tell


def _problems_as_data(args: Namespace, problem: SalternError) -> None:
    """Scripts read stdout: there a failure to compile is data, as in Salt."""
    from saltern.report.outputs import options_for, problem_writer

    problem_writer(args.out)(problem.diagnostics, sys.stdout, options_for(sys.stdout, colour=args.color))


def _excluded(text: str | None) -> tuple[object, ...]:
    if not text:
        return ()
    value = yaml_value("--exclude", text)
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return tuple(value) if isinstance(value, list) else (value,)


def _flag(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]
