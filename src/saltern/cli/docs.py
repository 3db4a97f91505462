"""``saltern docs``: print the page of a module or function, read from its code."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.modules.api.registry import AnyFunction, AnyState, Registry, schema
from saltern.modules.api.unknown_names import unknown_function, unknown_state

KINDS = {"states": "state", "functions": "execution function"}
LINE = CommandLine(
    command="docs",
    about="Print what a module or a function does and takes. Without a name: all modules.",
    words=(Word(dest="names", metavar="MOD[.FUN]", many=True, help="such as file, or file.managed"),),
    rows=(
        Row(flag="--functions", dest="functions", kind="on", default=False, help="only execution functions"),
        Row(flag="--states", dest="states", kind="on", default=False, help="only states"),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    kinds = [kind for kind in KINDS if getattr(args, kind)] or list(KINDS)
    registry = Registry()
    for name in args.names or [""]:
        pages = [page for kind in kinds for page in _pages(registry, kind, name)]
        if not pages:
            raise OperationError(Diagnostic(code="docs-unknown", what=_unknown_name(registry, kinds, name)))
        print("\n\n".join(pages))
    for problem in registry.plugin_problems():
        print(f"saltern: {problem}", file=sys.stderr)
    return exits.OK


def _pages(registry: Registry, kind: str, name: str) -> Iterator[str]:
    if not name:
        yield f"{KINDS[kind]} modules: {', '.join(registry.names(kind))}"
        return
    module, dot, fun = name.partition(".")
    members = registry.members(kind, module)
    if not dot and members:
        yield f"{KINDS[kind]}s of {module}: {', '.join(members)}"
    elif fun in members:
        found = registry.state(module, fun) if kind == "states" else registry.function(name)
        if found is not None:
            yield _page(kind, name, found)


def _page(kind: str, name: str, found: AnyState | AnyFunction) -> str:
    from inspect import cleandoc

    known = schema(found)
    rows = [
        f"  {param.name}: {param.annotation}" + ("" if param.required else f" = {param.default!r}")
        for param in known.params.values()
    ]
    if known.open or known.lenient:
        rows.append("  …: further arguments" + (" are reported and ignored" if known.lenient else ""))
    takes = ["", "takes:", *rows] if rows else []
    return "\n".join([f"{name} ({KINDS[kind]})", "", cleandoc(found.doc), *takes])


def _unknown_name(registry: Registry, kinds: list[str], name: str) -> str:
    module, _, fun = name.partition(".")
    if "states" in kinds and registry.members("states", module):
        return unknown_state(registry, module, fun)
    return unknown_function(registry, name)
