"""``saltern drift``: compare this machine with its states"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING

from msgspec import to_builtins

from saltern.cli import exits
from saltern.cli.apply import LINE as APPLY
from saltern.cli.apply import request_of
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.from_options import session
from saltern.cli.options import DISK_ROOT_ROW, HUMAN_OR_JSON_ROW, TREE_ROWS
from saltern.cli.plan import REFRESH_ROW
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.colours import painter
from saltern.report.forecast import FAIL, VERBS
from saltern.report.outputs import options_for, write_data
from saltern.report.text import emit, safe_line

if TYPE_CHECKING:
    from saltern.engine.session import Session
    from saltern.planfile.drift import Drift

EPILOG = """\
examples:
  saltern drift                          compare this machine with its highstate
  saltern drift --last                   what the last comparison found
  saltern drift --install-timer daily    compare once a day

exit codes: 0 the machine is as described, 1 usage or environment, 2 a state would fail, 3 the states do not
compile, 4 something differs, 5 the pillar does not compile
"""
OWN = ("--only-id", "--exclude", "--strict")
LINE = CommandLine(
    command="drift",
    about="Compare this machine with its states; change nothing. Without a name: the highstate.",
    epilog=EPILOG,
    words=(Word(dest="sls", metavar="SLS", many=True, help="names of state files; patterns are allowed"),),
    rows=(
        Row(flag="--last", dest="last", kind="on", default=False, help="show what the last comparison found"),
        REFRESH_ROW,
        Row(
            flag="--install-timer",
            dest="timer",
            metavar="WHEN",
            default="",
            help="compare regularly: hourly, daily, weekly; with systemd any of its calendar expressions",
        ),
        Row(
            flag="--remove-timer",
            dest="remove",
            kind="on",
            default=False,
            help="stop the regular comparison",
        ),
        DISK_ROOT_ROW,
        *(row for row in APPLY.rows if row.flag in OWN),
        *TREE_ROWS,
        HUMAN_OR_JSON_ROW,
        *(row for row in APPLY.rows if row.flag in ("--color", "--no-color")),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.timer or args.remove:
        return _timer(args)
    engine = session(args, test=True, strict=args.strict, refresh_in_test=args.refresh)
    if args.last:
        from saltern.planfile.drift import load

        found = load(engine.settings)
        if found is None:
            what = "no comparison has been made"
            raise OperationError(Diagnostic(code="drift-unknown", what=what, fix="make one: saltern drift"))
    else:
        found = _look(args, engine)
    _write(args, found)
    return code_of(found)


def code_of(found: Drift) -> int:
    if any(one.kind == FAIL for one in found.different):
        return exits.FAILED
    return exits.CHANGED if found.different else exits.OK


def _look(args: SimpleNamespace, engine: Session) -> Drift:
    from saltern.planfile import drift
    from saltern.planfile.make import foresee, prepare_foresight
    from saltern.report.diagnostics import show

    args.template = None
    request = request_of(args)
    with redirect_stdout(sys.stderr):
        seen = foresee(prepare_foresight(engine, request))
    show(seen.report.warnings, sys.stderr, colour=False)
    asked = ", ".join(request.sls) or "the highstate"
    before = drift.known_since(drift.load(engine.settings), asked)
    found = drift.compare(seen.rows, before, asked=asked, now=engine.clock.now())
    drift.save(engine.settings, found)
    return found


def _write(args: SimpleNamespace, found: Drift) -> None:
    options = options_for(sys.stdout, colour=args.color)
    if args.out == "json":
        write_data(to_builtins(found), sys.stdout, options, "json")
    else:
        emit(sys.stdout, "\n".join([*lines(found, colour=options.colour), ""]))


def lines(found: Drift, *, colour: bool) -> Iterator[str]:
    """The report: a line for each state that differs, the oldest difference first, and the total."""
    paint = painter(colour)
    for one in sorted(found.different, key=lambda one: one.since):
        verb = VERBS[one.kind]
        title = f"{verb.sign} {safe_line(one.function)}  {safe_line(one.id)}"
        yield f"{paint(title, verb.colour)}  {safe_line(one.where)}"
        yield f"    {verb.words}; first seen {stamp(one.since)}"
    names = f"{safe_line(found.asked)}, {stamp(found.at)}"
    if found.different:
        total = "1 state" if found.states == 1 else f"{found.states} states"
        yield f"Drift: {len(found.different)} of {total} ({names})."
    else:
        count = "1 state is" if found.states == 1 else f"{found.states} states are"
        yield paint(f"No drift: {count} as described ({names}).", "green")


def stamp(seconds: float) -> str:
    from saltern.system import clock

    return f"{clock.stamp(seconds)} UTC"


def _timer(args: SimpleNamespace) -> int:
    from saltern.cli.install_service import configuration
    from saltern.system import drift_timer

    if args.remove:
        done, nothing = drift_timer.remove(args.root), "no timer is installed"
    else:
        config = configuration(args.config, args.root)
        try:
            done = drift_timer.install(args.root, args.timer, sls=args.sls, config=config)
        except ValueError as problem:
            raise OperationError(Diagnostic(code="option-choice", what=str(problem))) from None
        nothing = "the timer is installed already"
    word = "removed" if args.remove else "wrote"
    for place in done:
        print(f"{word} {place}")
    if not done:
        print(nothing)
    return exits.OK
