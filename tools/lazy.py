"""``python -m tools.lazy``: finds imports within functions of modules that are loaded anyway; ``--check``
fails if there is one.

An import within a function saves time only if the module is not loaded already. It is loaded if the imports
at the top of the file, and those at the top of all imported files, lead to it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from tools.shape import ROOT, sources

PACKAGE = "saltern"
# Modules of other packages that are imported by the name of their package.
OTHERS = frozenset(f"msgspec.{name}" for name in ("inspect", "json", "msgpack", "structs", "toml", "yaml"))
# Modules that start a process, which are always the same file.
LEFT_OUT = frozenset({"saltern.__main__"})
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Import(Struct, frozen=True):
    """A module that a file imports, and where."""

    module: str
    line: int
    within: bool  # a function


def imports(tree: ast.AST, known: frozenset[str], *, within: bool = False) -> Iterator[Import]:
    """The imports of a file; those only for the type checker are left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from imports(ast.Module([other], []), known, within=within)
        elif isinstance(node, ast.Import):
            for one in node.names:
                yield Import(one.name, node.lineno, within)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                is_module = inner in known or inner in OTHERS
                yield Import(inner if is_module else node.module, node.lineno, within)
        else:
            yield from imports(node, known, within=within or isinstance(node, FUNCTIONS))


def closure(module: str, tops: Mapping[str, frozenset[str]]) -> set[str]:
    """All modules that are loaded once this one is."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += [*tops.get(one, ()), *([one.rpartition(".")[0]] if "." in one else [])]
    return found


def needless(files: Mapping[str, ast.Module]) -> Iterator[str]:
    """One line for each import within a function that could stand at the top of its file."""
    known = frozenset(files)
    found = {module: list(imports(tree, known)) for module, tree in files.items()}
    tops = {module: frozenset(one.module for one in some if not one.within) for module, some in found.items()}
    for module, some in found.items():
        if module in LEFT_OUT:
            continue
        loaded: set[str] | None = None
        for one in some:
            if not one.within or one.module == module:
                continue
            loaded = closure(module, tops) - {module} if loaded is None else loaded
            if one.module in loaded:
                yield f"{module}:{one.line}: {one.module} is loaded anyway: import it at the top"


def module_of(file: str) -> str:
    """``fleet/bus/__init__.py`` as the name of its module."""
    parts = [PACKAGE, *file.removesuffix(".py").split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def parsed(texts: Iterable[tuple[str, str]]) -> dict[str, ast.Module]:
    return {module_of(file): ast.parse(text) for file, text in texts}


def main(argv: list[str]) -> int:
    wrong = sorted(needless(parsed(sources(Path(ROOT)))))
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} imports within functions of what is loaded anyway")
    return 1 if wrong and argv == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
