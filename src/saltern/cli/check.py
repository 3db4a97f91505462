"""``saltern check``: report every problem of the states, without running them."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.from_options import session
from saltern.cli.options import COLOR_ROW, FROM, NO_COLOR_ROW, TREE_ROWS
from saltern.cli.values import mapping_value
from saltern.language.diagnostics import Severity
from saltern.report.colours import wanted

if TYPE_CHECKING:
    from saltern.config.settings import Settings
    from saltern.engine.session import Session
    from saltern.lint.check import Checked

OUTPUTS = ("human", "json", "sarif", "github")
MOST_PASSES = 5  # an edit may uncover another problem
EPILOG = """\
examples:
  saltern check                          the whole tree, and every run of its top file
  saltern check states/web               the state files in a directory
  saltern check web.nginx --fix
  saltern check --machine fixtures       for each machine that a file there describes
  saltern check --rule sls-unused --ignore command-unguarded
  saltern check --out sarif > saltern.sarif
  saltern check --untrusted states       a tree that is not your own

What it runs: templates are rendered, and a template may call any function, cmd.run and http.query among them;
files for a renderer that runs code (py, mako, genshi, cheetah, or one of your own), '_grains', '_modules' and
the like are Python, and run as you. So check only what you would apply, or give --untrusted: then no
the tree's code runs, templates get functions that only compute, and a separate process is kept from
the network, from programs, and from files outside of the roots. Files that need more are reported as
'not-rendered'. For pull requests in CI.

A machine is a file NAME.yaml with 'id', 'grains' and 'pillar', all optional; what it does
not set is as on this machine.

A comment 'saltern: ignore RULE' on a line, or on the one above, disables that rule there.

exit codes: 0 no errors, 1 usage or environment, 3 errors (with --fail-on warning: or warnings),
5 the pillar does not compile
"""

LINE = CommandLine(
    command="check",
    about="Compile everything, run nothing, and report every problem with its location. Without a name: the"
    " whole tree, and every run that its top file gives.",
    epilog=EPILOG,
    words=(Word(dest="words", metavar="PATH|SLS", many=True, help="state files, by name or by path"),),
    rows=(
        Row(
            flag="--untrusted",
            dest="untrusted",
            kind="on",
            default=False,
            help="run no code from the tree, read nothing outside of it, and reach no network",
        ),
        Row(flag="--fix", dest="fix", kind="on", default=False, help="fix what can be fixed automatically"),
        Row(
            flag="--rule",
            dest="rules",
            kind="list",
            metavar="NAME[=LEVEL]",
            help="switch a rule on, or set it to off, warning or error; repeatable",
        ),
        Row(flag="--ignore", dest="ignore", kind="list", metavar="NAME", help="switch a rule off"),
        Row(flag="--list", dest="listing", kind="on", default=False, help="print all rules, and exit"),
        Row(
            flag="--exclude",
            dest="exclude",
            kind="list",
            metavar="PATTERN",
            help="leave out the SLS files whose names match",
        ),
        Row(
            flag="--fail-on",
            dest="fail_on",
            metavar="LEVEL",
            choices=("warning", "error"),
            default="error",
            help="the lowest level that fails the check: warning or error (default: error)",
        ),
        *TREE_ROWS,
        Row(
            flag="--machine",
            dest="machines",
            kind="list",
            metavar="FILE|DIR",
            group=FROM,
            help="check for the machine described by a file, or for all files of a directory; repeatable",
        ),
        Row(
            flag="--out",
            dest="out",
            metavar="FORMAT",
            group="output",
            choices=OUTPUTS,
            default="human",
            help=f"{', '.join(OUTPUTS)} (default: human)",
        ),
        COLOR_ROW,
        NO_COLOR_ROW,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.listing:
        _list()
        return exits.OK
    if args.untrusted:
        from saltern.cli.check_untrusted import checked_apart

        checked = checked_apart(args)
    else:
        checked = _check(args)
    fixed = 0
    for _ in range(MOST_PASSES if args.fix else 0):
        from saltern.lint.edits import apply_edits

        made = apply_edits(checked.edits.values())
        if not made:
            break
        fixed += made
        checked = _check(args)
    _write(args, checked, fixed)
    failing = {Severity.ERROR, Severity(args.fail_on)}
    return exits.COMPILE if any(one.severity in failing for one in checked.problems) else exits.OK


def _check(args: SimpleNamespace) -> Checked:
    from saltern.lint.check import check
    from saltern.lint.choices import choose, excluded_patterns

    with redirect_stdout(sys.stderr):  # stdout is for findings, so templates print to stderr
        engine = _session(args)
        configured = engine.settings.check
        return check(
            engine,
            args.words,
            choose(configured, args.rules or (), args.ignore or ()),
            without=excluded_patterns(configured, args.exclude or ()),
            machines=_machines(args, engine.settings),
        )


def _machines(args: SimpleNamespace, settings: Settings) -> dict[str, Session]:
    """A session for each described machine."""
    from saltern.engine.nested_engine import make_session
    from saltern.lint.machines import read_machines

    base = os.path.dirname(os.path.abspath(settings.files[0])) if settings.files else ""
    typed = mapping_value("--pillar", args.pillar)
    return {
        one.name: make_session(replace(settings, id=one.id), {**one.pillar, **typed}, grains=one.grains)
        for one in read_machines(settings.check, args.machines or (), base)
    }


def _session(args: SimpleNamespace) -> Session:
    from saltern.lint.select import roots_around

    engine = session(args)
    env = args.saltenv or engine.settings.saltenv or "base"
    around = roots_around(args.words, engine, env)
    if args.file_root is None and around:
        args.file_root = around
        engine = session(args)
    return engine


def _write(args: SimpleNamespace, checked: Checked, fixed: int) -> None:
    from saltern.lint.rules import RULES
    from saltern.report.findings import WRITERS, Found

    found = Found(
        problems=checked.problems,
        fixable=checked.edits,
        fixed=fixed,
        files=checked.files,
        machines=checked.machines,
        count=checked.count,
        docs={name: rule.doc for name, rule in RULES.items()},
        colour=wanted(sys.stdout, args.color),
    )
    WRITERS[args.out](found, sys.stdout)


def _list() -> None:
    from saltern.lint.rules import RULES

    for name, rule in RULES.items():
        level = rule.severity.value if rule.on else "off"
        print(f"{name:<26} {level:<8} {'--fix' if rule.fixes else '':<6} {rule.doc}")
