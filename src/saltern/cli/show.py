"""``saltern show``: print the data between the stages of the compiler."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.from_options import output_options, session, show_warnings
from saltern.cli.options import (
    ON_ROWS,
    PROFILE_ROW,
    REPORT_ROWS,
    SECRETS_ROW,
    STATE_ROWS,
    TREE_ROWS,
    output_rows,
)
from saltern.cli.values import mapping_value, yaml_value
from saltern.engine.request import Request
from saltern.language import secrets
from saltern.language.diagnostics import Diagnostics, SalternError
from saltern.report.outputs import options_for, problem_writer, write, write_data
from saltern.report.text import safe_line

if TYPE_CHECKING:
    from saltern.engine.request import Request
    from saltern.engine.session import Session

    View = Callable[[Session, Request, Diagnostics], object]

# What can be shown, and its description.
VIEWS: dict[str, str] = {
    "highstate": "high data: what the files declare",
    "sls": "the same, for the named SLS files",
    "lowstate": "low data: one entry for each call, sorted",
    "low-sls": "the same, for the named SLS files",
    "order": "the actual sequence of states, with the reason for each position",
    "top": "the SLS files that the top file assigns to this machine",
    "pillar": "the compiled pillar",
    "grains": "the grains of this machine",
    "rendered": "the text of each file after its template ran",
    "run": "what a run did, by its number (`saltern runs` lists them); `last`, or none: the last one",
}
NEED_NAMES = frozenset({"sls", "low-sls"})


LINE = CommandLine(
    command="show",
    about="Show what would be applied. Without a name: the highstate.",
    epilog="what can be shown:\n" + "\n".join(f"  {name:<10} {about}" for name, about in VIEWS.items()),
    words=(
        Word(dest="what", metavar="WHAT", choices=tuple(VIEWS), help=", ".join(VIEWS)),
        Word(
            dest="sls",
            metavar="SLS",
            many=True,
            help="names of state files (of keys, for pillar and grains; of a run)",
        ),
    ),
    rows=(
        Row(
            flag="--block",
            dest="block",
            metavar="NAME",
            help="rendered: a delayed block of the SLS, by its name",
        ),
        Row(
            flag="--prev-ret",
            dest="prev_ret",
            metavar="DATA",
            help="the return to render the block after, as YAML; without it, the block's text is shown",
        ),
        Row(
            flag="--context",
            dest="context",
            metavar="DATA",
            help="the 'context' that the calling entry gives to the block, as YAML",
        ),
        *TREE_ROWS,
        *output_rows("nested"),
        *STATE_ROWS,
        *REPORT_ROWS,
        PROFILE_ROW,
        SECRETS_ROW,
        *ON_ROWS,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.what in NEED_NAMES and not args.sls:
        print(f"saltern show {args.what}: name at least one SLS", file=sys.stderr)
        return exits.SURROUNDINGS
    if args.on is not None:
        from saltern.cli.on import run_on

        return run_on(LINE, args, argv)
    return run_here(args)


def run_here(args: SimpleNamespace) -> int:
    """Print what was requested for this machine; return the exit code."""
    if args.what == "run":
        return _run(args)
    if args.show_secrets:
        secrets.show_all()
    found = Diagnostics()
    try:
        engine = session(args)
        value = _profile(args, engine, found) if args.profile else _value(args, engine, found)
        found.check()
    except SalternError as problem:
        problem_writer(args.out)(problem.diagnostics, sys.stdout, options_for(sys.stdout, colour=args.color))
        raise
    show_warnings(args, [*engine.warnings, *found.warnings])
    value = secrets.mask_all(value)
    if args.what in PLAINLY and args.out == "nested":
        PLAINLY[args.what](value)
        return exits.OK
    write_data(value, sys.stdout, output_options(args, engine.settings), args.out)
    return exits.OK


def _run(args: SimpleNamespace) -> int:
    from saltern.cli.run_names import LAST, run_number
    from saltern.journal.report import report_of
    from saltern.journal.runs import Runs

    engine = session(args)
    runs = Runs(engine.settings)
    jid = run_number(runs, args.sls[0] if args.sls else LAST)
    options = replace(
        output_options(args, engine.settings), expand=args.expand, sub_states=args.sub_states, traces=True
    )
    write(report_of(runs.state(jid)), sys.stdout, options, "highstate" if args.out == "nested" else args.out)
    return exits.OK


def _print_rendered(texts: Any) -> None:
    for name, text in texts.items():
        print(f"# {name}\n{text}", end="")


def _print_order(rows: Any) -> None:
    """One line for each state: its position, function and ID, the reason for the position, file and line."""
    cells = [
        [
            str(row["position"] or ""),
            row["state"],
            safe_line(row["id"]),
            safe_line(row["reason"]),
            row["where"],
        ]
        for row in rows
    ]
    widths = [max((len(line[column]) for line in cells), default=0) for column in range(4)]
    for line in cells:
        place, *rest, where = line
        shown = [text.ljust(width) for text, width in zip(rest, widths[1:], strict=True)]
        print(f"{place.rjust(widths[0])}  {'  '.join(shown)}  {safe_line(where)}")


# Views that read better than nested data.
PLAINLY: dict[str, Callable[[Any], None]] = {"rendered": _print_rendered, "order": _print_order}


def _profile(args: SimpleNamespace, engine: Session, found: Diagnostics) -> object:
    from saltern.cli.profile import Profile

    profile = Profile(engine)
    value = _value(args, engine, found)
    profile.write(None, sys.stderr, colour=args.color)
    return value


def _value(args: SimpleNamespace, engine: Session, found: Diagnostics) -> object:
    from saltern.engine import show

    what, names = args.what, tuple(args.sls)
    if what == "grains":
        grains = engine.grains.copy()
        return {name: grains.get(name) for name in names} if names else grains
    if what == "pillar":
        engine.load_pillar()
        return {name: engine.pillar.get(name) for name in names} if names else engine.pillar
    request = Request(
        sls=tuple(one for word in names for one in word.split(",") if one), saltenv=args.saltenv
    )
    if what == "rendered" and args.block is not None:
        given = None if args.prev_ret is None else yaml_value("--prev-ret", args.prev_ret)
        more = mapping_value("--context", args.context)
        return show.show_rendered(engine, request, found, block=args.block, prev_ret=given, context=more)
    views: dict[str, View] = {
        "highstate": show.show_high,
        "sls": show.show_high,
        "lowstate": show.show_low,
        "low-sls": show.show_low,
        "order": show.show_order,
        "top": show.show_top,
        "rendered": show.show_rendered,
    }
    return views[what](engine, request, found)
