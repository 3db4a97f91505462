"""``saltern tree``: versions of the files that the systems of a fleet see."""

from __future__ import annotations

import re
import sys
from itertools import islice
from types import SimpleNamespace

from saltern.cli import exits
from saltern.cli.access_output import Verb, run_verb
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.fleet import show_rows
from saltern.cli.options import CONTROLLER_ROW, output_rows
from saltern.fleet.client.client import Client
from saltern.language.diagnostics import Diagnostic, OperationError

SHORT = 12  # characters of a digest that are printed
LAST = 25
LINE = CommandLine(
    command="tree",
    about="""\
Versions of the files that the systems of a fleet see. Each job sees one version, from its beginning to its
end. ENV is base if it is not given; a version is named by the beginning of its digest. With words:

  list                       the active version of each environment
  log [ENV]                  the versions, the newest first
  diff [ENV] [OLD [NEW]]     what differs between two versions; without them, the last two
  publish                    publish the roots now, including git remotes; each job also does that
  rollback [ENV] [VERSION]   return to an earlier version, and ignore changes of the roots
  follow [ENV]               use the roots again""",
    epilog="""\
examples:
  saltern tree log
  saltern tree diff base 3fa9 81c2
  saltern tree rollback base 3fa9""",
    words=(Word(dest="words", metavar="VERB", many=True, help="what to show or to do; list by default"),),
    rows=(
        Row(flag="--limit", dest="limit", metavar="NUMBER", help=f"log: how many (default: {LAST})"),
        CONTROLLER_ROW,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    return run_verb("tree", VERBS, parse(LINE, argv), "list")


def _list(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    return show_rows(args, "trees", client.trees.list())


def _log(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    limit = args.limit or str(LAST)
    if not limit.isdecimal():
        what = f"--limit needs a whole number, not {args.limit!r}"
        raise OperationError(Diagnostic(code="option-shape", what=what))
    return show_rows(args, "trees", islice(client.trees.log(*words), int(limit)))


def _diff(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    environment, old, new = (*words, *("base", "", "")[len(words) :])
    _check_versions(environment, old, new)
    return show_rows(args, "tree changes", client.trees.diff(environment, old=old, new=new))


def _check_versions(environment: str, *versions: str) -> None:
    for version in versions:
        if not re.fullmatch("[0-9a-f]{0,64}", version):
            what = f"{version!r} is not the beginning of a digest"
            fix = f"`saltern tree log {environment}` lists the versions"
            raise OperationError(Diagnostic(code="tree-version", what=what, fix=fix))


def _publish(_args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    client.trees.publish()
    now = [f"{one['environment']} {one['digest'][:SHORT]}" for one in client.trees.list()]
    print(f"published: {', '.join(now) or 'no environment'}")
    return exits.OK


def _rollback(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    environment, version = (*words, *("base", "")[len(words) :])
    _check_versions(environment, version)
    digest = client.trees.rollback(environment, version=version)
    print(f"{environment}: {digest[:SHORT]} is in force")
    hint = f"changes of the roots are ignored until `saltern tree follow {environment}`"
    print(f"saltern: {hint}", file=sys.stderr)
    return exits.OK


def _follow(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    environment = words[0] if words else "base"
    client.trees.follow(environment)
    now = {one["environment"]: one["digest"][:SHORT] for one in client.trees.list()}
    if environment not in now:
        what = f"the roots have no environment {environment!r}"
        raise OperationError(Diagnostic(code="tree-version", what=what, fix="`saltern tree` lists them"))
    print(f"{environment} follows the roots: {now[environment]} is in force")
    return exits.OK


VERBS: dict[str, Verb] = {
    "list": Verb(_list),
    "log": Verb(_log, may_take=("ENV",)),
    "diff": Verb(_diff, may_take=("ENV", "OLD", "NEW")),
    "publish": Verb(_publish),
    "rollback": Verb(_rollback, may_take=("ENV", "VERSION")),
    "follow": Verb(_follow, may_take=("ENV",)),
}
