"""``saltern lsp``: the language server, for editors."""

from __future__ import annotations

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, parse
from saltern.cli.options import TREE_ROWS
from saltern.cli.values import mapping_value, tree_values
from saltern.language.diagnostics import Diagnostic, OperationError

EPILOG = """\
An editor starts this and talks to it; docs/guides/editors.md has the settings for each editor.

examples:
  saltern lsp                            over stdin and stdout
  saltern lsp --file-root states --pillar '{role: web}'
  saltern lsp --tcp 127.0.0.1:2087       for an editor that connects over TCP

It needs pygls: pip install 'saltern[lsp]'

exit codes: 0 ended by the editor, 1 usage or environment, 130 ended by a signal
"""

LINE = CommandLine(
    command="lsp",
    about="Serve an editor: problems as you type, completion, documentation, definitions. Files outside"
    " the configured roots belong to the tree around them.",
    epilog=EPILOG,
    words=(),
    rows=(
        Row(
            flag="--tcp",
            dest="tcp",
            metavar="HOST:PORT",
            help="wait for one connection there instead of using stdin and stdout",
        ),
        Row(
            flag="--stdio",
            dest="stdio",
            kind="on",
            default=False,
            help="the default; some editors give this option",
        ),
        Row(
            flag="--trust",
            dest="trust",
            kind="on",
            default=False,
            help="let templates call programs while checking, as saltern check does; otherwise refuse them",
        ),
        *(row for row in TREE_ROWS if row.dest != "saltenv"),
    ),
)


def main(argv: list[str]) -> int:
    from saltern.lsp.serve import over_stdio, over_tcp
    from saltern.lsp.sites import Given

    args = parse(LINE, argv)
    given = Given(
        config=args.config,
        options={name: value for name, value in tree_values(args).items() if value is not None},
        pillar=mapping_value("--pillar", args.pillar),
        trust=args.trust,
    )
    if args.tcp is None:
        over_stdio(given)
    else:
        over_tcp(given, *_address(args.tcp))
    return exits.OK


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        what = f"--tcp {text!r} is not an address"
        raise OperationError(
            Diagnostic(code="lsp-address", what=what, fix="write HOST:PORT, such as 127.0.0.1:2087")
        )
    return host.strip("[]") or "127.0.0.1", int(port)
