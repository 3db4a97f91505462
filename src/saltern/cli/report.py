"""``saltern report``: write a run as one page that can be shared."""

from __future__ import annotations

from io import StringIO
from types import SimpleNamespace

from msgspec.structs import replace

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word
from saltern.cli.from_options import output_options, session
from saltern.cli.graph import put
from saltern.cli.here_or_on import run_here_or_on
from saltern.cli.options import (
    ON_ROWS,
    OUTPUT_FILE_ROW,
    OUTPUT_FILE_SHORT_ROW,
    REPORT_ROWS,
    STATE_ROWS,
    TREE_ROWS,
    output_rows,
)
from saltern.report.outputs import write

EPILOG = """\
examples:
  saltern report --html -o run.html      the last run
  saltern report 20261115140000123456 --html > run.html
  saltern report last --out junit        the same run in another form

`saltern runs` lists the runs; `saltern graph --run RUN` draws one.
"""

LINE = CommandLine(
    command="report",
    about="Write what a run did: with --html as one self-contained page. Without a name: the last run.",
    epilog=EPILOG,
    words=(Word(dest="runs", metavar="RUN", many=True, help="the number of a run, or `last`"),),
    rows=(
        Row(flag="--html", dest="html", kind="on", default=False, help="one page, with everything in it"),
        OUTPUT_FILE_ROW,
        OUTPUT_FILE_SHORT_ROW,
        *TREE_ROWS,
        *output_rows("highstate"),
        *STATE_ROWS,
        *REPORT_ROWS,
        *ON_ROWS,
    ),
)


def main(argv: list[str]) -> int:
    return run_here_or_on(LINE, argv, run_here)


def run_here(args: SimpleNamespace) -> int:
    """Write what a run of this machine did; return the exit code."""
    from saltern.cli.run_names import LAST, run_number
    from saltern.journal.runs import Runs

    engine = session(args)
    runs = Runs(engine.settings)
    state = runs.state(run_number(runs, args.runs[0] if args.runs else LAST))
    if args.html or (args.output or "").lower().endswith((".html", ".htm")):
        from saltern.views.run_page import run_page

        put(run_page(state), args.output)
        return exits.OK
    from saltern.journal.report import report_of

    text = StringIO()
    options = replace(output_options(args, engine.settings), expand=args.expand, sub_states=args.sub_states)
    write(report_of(state), text, options, args.out)
    put(text.getvalue(), args.output)
    return exits.OK
