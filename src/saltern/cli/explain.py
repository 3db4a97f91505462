"""``saltern explain``: why a state runs at its position, or what an error code means."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from msgspec import to_builtins

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.from_options import output_options, session
from saltern.cli.options import TREE_ROWS, output_rows
from saltern.engine.request import Request
from saltern.language.diagnostics import (
    Diagnostic,
    Diagnostics,
    OperationError,
    SalternError,
    did_you_mean,
)
from saltern.report.colours import painter, wanted
from saltern.report.outputs import write_data

if TYPE_CHECKING:
    from saltern.views.explain import Explainer, Explanation

EPILOG = """\
examples:
  saltern explain nginx                  a state of the highstate, by its ID or name
  saltern explain nginx web db           the same, in what `saltern apply web db` would run
  saltern explain 'pkg nginx' web        only the state of that type
  saltern explain requisite-unknown      the page of an error code
  saltern explain                        all codes
"""

LINE = CommandLine(
    command="explain",
    about="Explain why a state runs at its position: what pulled it there, what it waits for and what waits"
    " for it. Or print the page of an error code.",
    epilog=EPILOG,
    words=(
        Word(
            dest="words",
            metavar="ID|CODE [SLS …]",
            many=True,
            help="the ID or name of a state and the SLS to look in, or a code such as requisite-unknown",
        ),
    ),
    rows=(
        Row(
            flag="--state",
            dest="is_state",
            kind="on",
            default=False,
            help="treat the word as an ID even if it is also an error code",
        ),
        *TREE_ROWS,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    from saltern.views.codes import CODE_LIST, known_codes, page

    args = parse(LINE, argv)
    if not args.words:
        print(CODE_LIST.format(codes="\n".join(f"  {code}" for code in known_codes())), end="")
        return exits.OK
    word = args.words[0]
    if not args.is_state and len(args.words) == 1 and word.strip("[]") in known_codes():
        print(page(word.strip("[]")))
        return exits.OK
    return _state(word, tuple(args.words[1:]), args)


def _state(word: str, sls: tuple[str, ...], args: SimpleNamespace) -> int:
    from saltern.engine.show import show_plan
    from saltern.views.explain import Explainer

    engine = session(args)
    names = tuple(one for given in sls for one in given.split(",") if one)
    try:
        plan = show_plan(engine, Request(sls=names, saltenv=args.saltenv), Diagnostics())
    except SalternError:
        _perhaps_a_code(word, names)
        raise
    explainer = Explainer(plan)
    places = explainer.find(word)
    if not places:
        raise _unknown(word, explainer)
    _print([explainer.explain(place) for place in places], args, engine.settings)
    return exits.OK


def _perhaps_a_code(word: str, names: tuple[str, ...]) -> None:
    """Raise if a word looks like a misspelled error code, before states are looked for."""
    from saltern.views.codes import known_codes

    fix = did_you_mean(word, known_codes())
    if fix and not names:
        raise OperationError(
            Diagnostic(code="explain-unknown", what=f"no error code is called {word!r}", fix=fix)
        ) from None


def _print(found: list[Explanation], args: SimpleNamespace, settings: object) -> None:
    if args.out == "nested":
        from saltern.views.explain import lines

        paint = painter(wanted(sys.stdout, args.color))
        print("\n\n".join("\n".join(lines(one, paint)) for one in found))
        return
    write_data(to_builtins(found), sys.stdout, output_options(args, settings), args.out)


def _unknown(word: str, explainer: Explainer) -> OperationError:
    from saltern.views.codes import known_codes

    ids = [name for chunk in explainer.plan.chunks for name in (chunk.id, chunk.name)]
    fix = did_you_mean(word, [*ids, *known_codes()])
    return OperationError(
        Diagnostic(
            code="explain-unknown",
            what=f"no state of this run has the ID or name {word!r}, and no error code has that name",
            fix=fix
            or "name the SLS that declares it: saltern explain ID SLS; `saltern show order` lists the states",
        )
    )
