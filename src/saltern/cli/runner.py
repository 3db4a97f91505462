"""``saltern runner``: run a runner, as orchestration and reactor files do."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.from_options import output_options
from saltern.cli.options import CONTROLLER_ROW, TREE_ROWS, output_rows
from saltern.cli.orchestrate import DIRECTORY_ROW
from saltern.cli.values import call_arguments, mapping_value
from saltern.language.diagnostics import Diagnostic, OperationError

LINE = CommandLine(
    command="runner",
    about="Run a runner on the controller, as `salt-run` does; with --wheel, a wheel function.",
    epilog="""\
examples:
  saltern runner manage.status
  saltern runner jobs.lookup_jid 20261115T083000.123456-0a1b2c
  saltern runner salt.execute 'web*' cmd.run arg='[uptime]'
  saltern runner --wheel key.accept 'web*'
  saltern runner --list""",
    words=(
        Word(
            dest="words", metavar="NAME", many=True, help="the runner, then its arguments: VALUE or KEY=VALUE"
        ),
    ),
    rows=(
        Row(flag="--list", dest="list", kind="on", default=False, help="list the runners"),
        Row(flag="--wheel", dest="wheel", kind="on", default=False, help="call a wheel function instead"),
        DIRECTORY_ROW,
        CONTROLLER_ROW,
        *TREE_ROWS,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.list:
        return _list(wheel=args.wheel)
    if not args.words:
        what, fix = "no runner is named", "`saltern runner --list` lists them"
        raise OperationError(Diagnostic(code="option-shape", what=what, fix=fix))
    return _run(args)


def _list(*, wheel: bool) -> int:
    from saltern.fleet.runners.table import RUNNERS, WHEEL, about, names

    table = WHEEL if wheel else RUNNERS
    for name in names(table):
        print(f"{name:<28}{about(name, table)}")
    return exits.OK


def _run(args: SimpleNamespace) -> int:
    """Run the runner in a session with the files of the controller; print its answer."""
    from saltern.cli.connect import connect
    from saltern.cli.orchestration_fleet import controller_address, inherited_words, orchestration_settings
    from saltern.engine.nested_engine import make_session
    from saltern.fleet.client.client import Client
    from saltern.fleet.orchestration.local import SessionLocal
    from saltern.fleet.runners.table import run_runner, run_wheel
    from saltern.report.outputs import write_data

    args.roster = None
    where = controller_address(args)

    def connect_client() -> Client:
        return connect(SimpleNamespace(controller=where))

    name, *words = args.words
    given, keywords = call_arguments(words)
    engine = make_session(orchestration_settings(args), mapping_value("--pillar", args.pillar))
    engine.load_pillar()
    with connect_client() as client:
        if args.wheel:
            value = run_wheel(name, given, keywords, client)
        else:
            local = SessionLocal(engine, connect_client, "", ["--controller", where, *inherited_words(args)])
            value = run_runner(name, given, keywords, client, local=local)
    if value is not None:
        write_data(value, sys.stdout, output_options(args, engine.settings), args.out)
    failed = isinstance(value, dict) and (value.get("retcode") or "Error" in value)
    return exits.FAILED if failed else exits.OK
