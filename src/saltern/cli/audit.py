"""``saltern audit``: who did what at the controller, and whether the record is complete."""

from __future__ import annotations

import re
import sys
from collections import deque
from types import SimpleNamespace

from saltern.cli import exits
from saltern.cli.access_output import Verb, run_verb, show_list
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import CONTROLLER_ROW, output_rows
from saltern.fleet.client.client import Client
from saltern.language.diagnostics import Diagnostic, OperationError

LAST = 50
LINE = CommandLine(
    command="audit",
    about="""\
Who did what at the controller. Each row holds a digest of all rows before it. With words:

  list       the last rows
  verify     check the chain, and print its head; with --noted, compare it with a head noted earlier""",
    epilog="""\
examples:
  saltern audit --who anna --last 200
  saltern audit verify                          prints e.g. 4711:9f86d081…
  saltern audit verify --noted 4711:9f86d081…   also finds rows that were removed since""",
    words=(Word(dest="words", metavar="VERB", many=True, help="what to do; list by default"),),
    rows=(
        Row(
            flag="--last",
            dest="last",
            metavar="NUMBER",
            help=f"list: how many rows (default: {LAST}; 0: all)",
        ),
        Row(flag="--who", dest="who", metavar="NAME", help="list: only rows of this person"),
        Row(
            flag="--action",
            dest="action",
            metavar="ACTION",
            help="list: only this action, such as job.submit",
        ),
        Row(
            flag="--noted",
            dest="noted",
            metavar="NUMBER:DIGEST",
            help="verify: a head that was printed earlier",
        ),
        CONTROLLER_ROW,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    return run_verb("audit", VERBS, parse(LINE, argv), "list")


def _list(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    last = args.last or str(LAST)
    if not last.isdecimal():
        raise _wrong(f"--last is {last!r}, which is not a number", "give the number of rows")
    rows = (row for row in client.audit.list() if args.who in (None, row["who"]))
    chosen = (row for row in rows if args.action in (None, row["action"]))
    return show_list(args, "audit", deque(chosen, int(last) or None))


def _verify(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    number, digest = _head(args.noted) if args.noted else (0, "")
    found = client.audit.verify(number=number, digest=digest)
    if not found["whole"]:
        what = f"the audit log is not intact: {found['problem']}"
        fix = "compare with a backup of the database: rows were changed without the controller"
        raise OperationError(Diagnostic(code="audit-broken", what=what, fix=fix))
    print("the audit log is intact; its head is", file=sys.stderr)
    print(f"{found['number']}:{found['digest']}")
    return exits.OK


def _head(text: str) -> tuple[int, str]:
    found = re.fullmatch(r"(\d{1,15}):([0-9a-f]{64})", text)
    if found is None:
        raise _wrong(f"--noted is {text!r}, which is not a head", "give what `saltern audit verify` printed")
    return int(found[1]), found[2]


def _wrong(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="option-choice", what=what, fix=fix))


VERBS: dict[str, Verb] = {"list": Verb(_list), "verify": Verb(_verify)}
