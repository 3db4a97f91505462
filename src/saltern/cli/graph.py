"""``saltern graph``: draw the requisites and the order."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.from_options import session, show_warnings
from saltern.cli.options import OUTPUT_FILE_ROW, OUTPUT_FILE_SHORT_ROW, TREE_ROWS
from saltern.engine.request import Request
from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic, Diagnostics, OperationError

if TYPE_CHECKING:
    from saltern.engine.session import Session
    from saltern.views.picture import Picture

FORMATS = ("html", "svg", "dot", "mermaid")
SUFFIXES = {".html": "html", ".htm": "html", ".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid"}
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".ps")
FORMAT_FIX = f"name it *{', *'.join(SUFFIXES)}, or choose the format: --format FORMAT"
EPILOG = """\
examples:
  saltern graph web -o web.html          an interactive page
  saltern graph -o site.svg              the highstate as a still picture
  saltern graph web --format mermaid     for a README
  saltern graph --run 20261115140000123456 -o run.html
                                         what a run did, coloured by its results; `last` is the newest
"""

LINE = CommandLine(
    command="graph",
    about="Draw what would run: states from left to right, each after what it waits for, with its number in"
    " the order. Without a name: the highstate. Nothing is run.",
    epilog=EPILOG,
    words=(Word(dest="sls", metavar="SLS", many=True, help="names of state files"),),
    rows=(
        OUTPUT_FILE_ROW,
        OUTPUT_FILE_SHORT_ROW,
        Row(
            flag="--format",
            dest="format",
            metavar="FORMAT",
            choices=FORMATS,
            help=f"{', '.join(FORMATS)} (default: by the name of the file, or html)",
        ),
        Row(
            flag="--run",
            dest="run",
            metavar="RUN",
            help="the states of a finished run, coloured by its results",
        ),
        *TREE_ROWS,
        Row(flag="--color", dest="color", kind="on", group="output", help="colours in messages"),
        Row(flag="--no-color", dest="color", kind="off", group="output", help="no colours in messages"),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    kind = args.format or _by_name(args.output or "")
    names = tuple(one for word in args.sls for one in word.split(",") if one)
    engine = session(args)
    title, picture = _run(engine, args, names) if args.run else _plan(engine, args, names)
    put(draw(picture, kind, title), args.output)
    return exits.OK


def _by_name(path: str) -> str:
    """The format for a file name; without a suffix, a page."""
    suffix = os.path.splitext(path)[1].lower()
    if not suffix or suffix in SUFFIXES:
        return SUFFIXES.get(suffix, "html")
    what = f"there is no format for {os.path.basename(path)!r}: a graph is {', '.join(FORMATS)}"
    picture = suffix in PICTURES
    fix = f"write an SVG, and convert it: rsvg-convert FILE.svg -o FILE{suffix}" if picture else FORMAT_FIX
    raise OperationError(Diagnostic(code="graph-format", what=what, fix=fix))


def _plan(engine: Session, args: SimpleNamespace, names: tuple[str, ...]) -> tuple[str, Picture]:
    from saltern.engine.show import show_plan
    from saltern.views.fold import picture_of

    found = Diagnostics()
    plan = show_plan(engine, Request(sls=names, saltenv=args.saltenv), found)
    show_warnings(args, [*engine.warnings, *found.warnings])
    return " ".join(names) or "highstate", picture_of(plan)


def _run(engine: Session, args: SimpleNamespace, names: tuple[str, ...]) -> tuple[str, Picture]:
    from saltern.cli.run_names import run_number
    from saltern.journal.runs import Runs
    from saltern.views.run_picture import of_run

    if names:
        what = "--run takes no SLS names: a run has its own states"
        raise OperationError(
            Diagnostic(code="graph-run-names", what=what, fix=f"leave out {' '.join(names)}")
        )
    runs = Runs(engine.settings)
    jid = run_number(runs, args.run)
    return f"run {jid}", of_run(runs.state(jid))


def draw(picture: Picture, kind: str, title: str) -> str:
    from saltern.views.graph_page import graph_page, graph_svg
    from saltern.views.text_graphs import WRITERS

    if kind in WRITERS:
        return WRITERS[kind](picture)
    return graph_page(picture, title) if kind == "html" else graph_svg(picture, title)


def put(text: str, path: str | None) -> None:
    """Write the text to the file, or print it."""
    text = secrets.mask(text)
    if path in (None, "-"):
        sys.stdout.write(text)
        return
    from saltern.report.output_file import write_output

    assert path is not None
    write_output(path, text.encode("utf-8", "replace"))
    print(f"written to {path}", file=sys.stderr)
