"""``saltern sources``: the git repositories among the roots, and the commits that are in use."""

from __future__ import annotations

import sys

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Word, parse
from saltern.cli.from_options import output_options, settings_of, show_warnings
from saltern.cli.options import TREE_ROWS, output_rows
from saltern.config.settings import commits_of, has_repositories
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.outputs import write_data

LINE = CommandLine(
    command="sources",
    about="""\
The git repositories among file_roots, pillar_roots and gitfs_remotes. With words:

  list      the commit of each; fetches those older than git_update_interval first
  update    check all of them now, and fetch changes""",
    words=(Word(dest="words", metavar="VERB", many=True, help="list or update; list by default"),),
    rows=(*TREE_ROWS, *output_rows("nested")),
)
AGES: dict[str, float | None] = {"list": None, "update": 0.0}  # the maximum age for each verb


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    verb = args.words[0] if args.words else "list"
    if verb not in AGES or len(args.words) > 1:
        what = f"saltern sources knows {' and '.join(AGES)}, not {' '.join(args.words)!r}"
        raise OperationError(Diagnostic(code="option-choice", what=what))
    settings = settings_of(args)
    found: dict[str, str] = {}
    if has_repositories(settings):
        from saltern.engine.git_sources import local_settings

        settings, warnings = local_settings(settings, max_age=AGES[verb])
        show_warnings(args, warnings)
        found = commits_of(settings.extra)
    write_data(found, sys.stdout, output_options(args, settings), args.out)
    return exits.OK
