"""``saltern render``: render a file, and print the resulting data."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.from_options import loaded_session, output_options
from saltern.cli.options import SECRETS_ROW, TREE_ROWS, output_rows
from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.outputs import write_data

LINE = CommandLine(
    command="render",
    about="Render a file and print the data it becomes, or with --text the text.",
    words=(Word(dest="file", metavar="FILE", help="a file on disk, or salt://… in the roots"),),
    rows=(
        Row(
            flag="--pipe",
            dest="pipe",
            metavar="PIPE",
            default="",
            help="renderers, such as 'jinja|yaml' or 'jinja'",
        ),
        Row(flag="--text", dest="text", kind="on", help="stop before the data: print the rendered text"),
        *TREE_ROWS,
        *output_rows("yaml"),
        SECRETS_ROW,
    ),
)


def place(path: str, roots: Sequence[str]) -> tuple[str, str]:
    """The path of a file below its root, and its SLS name; outside the roots, the path and no SLS."""
    for root in roots:
        top = os.path.abspath(root).rstrip("/") + "/"
        if path.startswith(top):
            name = path.removeprefix(top)
            dotted = name.removesuffix(".sls").replace("/", ".").removesuffix(".init")
            return name, dotted if name.endswith(".sls") else ""
    return path, ""


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    engine = loaded_session(args)
    env = args.saltenv or "base"
    path = args.file
    if path.startswith("salt://"):
        path = engine.tree.find(path[7:], env) or path
    text = engine.tree.text(os.path.abspath(path)) if not path.startswith("salt://") else None
    if text is None:
        raise OperationError(Diagnostic(code="file-missing", what=f"there is no file {args.file!r}"))
    name, sls = place(os.path.abspath(path), engine.settings.file_roots.get(env, []))
    if args.text:
        shown = engine.renderers.text(text, engine="jinja", env=env, path=name, sls=sls, file=path)
        sys.stdout.write(secrets.mask(shown))
        return exits.OK
    value = engine.renderers.data(text, pipe=args.pipe, env=env, path=name, sls=sls, file=path)
    value = secrets.mask_all(value)
    write_data(value, sys.stdout, output_options(args, engine.settings), args.out)
    return exits.OK
