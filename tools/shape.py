"""``python -m tools.shape``: the size of functions, classes and files; ``--check`` fails if one is too large.

``LIMITS`` has the limits, ``EXCEPTIONS`` the larger ones with their size. An exception may not grow, must be
lowered when its code shrinks, and is removed once it is within the limit: the list can only get shorter. No
body of a few lines may be in two functions. The complexity of functions is checked by ruff (``C901``).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median, quantiles

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "src/saltern"
# Code that is written once and never changed, and code that other engines import by their own rules.
LEFT_OUT = (
    "fleet/store/migrations/versions/",
    "modules/lib/engines/ansible/plugin/",
    "modules/lib/engines/plugins/",
)
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef

# Of a body: the lines after the signature and the docstring, which are the schema and the manual of a state.
LIMITS: Mapping[str, int] = {"lines of a body": 60, "methods": 15, "callbacks": 5, "lines of a file": 400}
TWIN_LINES = 5  # from which on a body may not occur twice
MEDIAN, NINETIETH = 7, 21  # of all functions, with signature and docstring

EXCEPTIONS: Mapping[str, int] = {}


class Measure(Struct, frozen=True):
    """One size: ``methods`` of ``fleet/bus/client.py:NatsBus``."""

    what: str
    where: str
    size: int

    @property
    def key(self) -> str:
        return f"{self.what} of {self.where}"


def measures(file: str, text: str) -> Iterator[Measure]:
    """All sizes in a file that have a limit."""
    yield Measure("lines of a file", file, text.count("\n"))
    for name, node in _named(ast.parse(text)):
        where = f"{file}:{name}"
        if isinstance(node, ast.ClassDef):
            yield Measure("methods", where, len(_methods(node)))
        else:
            yield Measure("lines of a body", where, _body_lines(node))
            yield Measure("callbacks", where, _callbacks(node))


def _named(node: ast.AST, above: str = "") -> Iterator[tuple[str, ast.ClassDef | FUNCTIONS]]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.ClassDef | FUNCTIONS):
            name = f"{above}.{inner.name}" if above else inner.name
            yield name, inner
            yield from _named(inner, name)
        else:
            yield from _named(inner, above)


def _methods(node: ast.ClassDef) -> set[str]:
    """The methods by name: overloads count as one, and so do getter and setter of a property."""
    return {one.name for one in node.body if isinstance(one, FUNCTIONS)}


def _body(node: FUNCTIONS) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def _body_lines(node: FUNCTIONS) -> int:
    body = _body(node)
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


def _callbacks(node: FUNCTIONS) -> int:
    given = node.args
    annotations = [one.annotation for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return sum(one is not None and "Callable[" in ast.unparse(one) for one in annotations)


def lengths(text: str) -> list[int]:
    """The lines of each function, all in all."""
    return [
        (node.end_lineno or 0) - node.lineno + 1
        for _, node in _named(ast.parse(text))
        if isinstance(node, FUNCTIONS)
    ]


def problems(found: Iterable[Measure], exceptions: Mapping[str, int]) -> list[str]:
    """One line for each size over its limit that is not excepted, and for each exception that is wrong."""
    left = dict(exceptions)
    wrong = []
    for one in found:
        limit, allowed = LIMITS[one.what], left.pop(one.key, 0)
        if one.size > max(limit, allowed):
            wrong.append(f"{one.key}: {one.size}; the limit is {max(limit, allowed)}: split it")
        elif allowed and one.size <= limit:
            wrong.append(f"{one.key}: {one.size} is within the limit: remove the exception")
        elif one.size < allowed:
            wrong.append(f"{one.key}: {one.size}, no longer {allowed}: lower the exception")
    return wrong + [f"{key}: it no longer exists: remove the exception" for key in left]


def twins(texts: Iterable[tuple[str, str]]) -> list[str]:
    """One line for each body that several functions have, character by character."""
    found: dict[str, list[str]] = {}
    for file, text in texts:
        for name, node in _named(ast.parse(text)):
            if isinstance(node, FUNCTIONS) and _body_lines(node) >= TWIN_LINES:
                found.setdefault(ast.dump(ast.Module(_body(node), [])), []).append(f"{file}:{name}")
    return [f"{', '.join(some)}: the same body: write it once" for some in found.values() if len(some) > 1]


def typical(sizes: list[int]) -> tuple[float, float]:
    """The median, and the value that nine of ten functions do not exceed."""
    return median(sizes), quantiles(sizes, n=10)[-1]


def sources(root: Path) -> Iterator[tuple[str, str]]:
    """Each file that is measured, by its path in the package, with its text."""
    top = root / SOURCE
    for path in sorted(top.rglob("*.py")):
        file = path.relative_to(top).as_posix()
        if not file.startswith(LEFT_OUT):
            yield file, path.read_text(encoding="utf-8")


def main(argv: list[str]) -> int:
    texts = list(sources(ROOT))
    found = [one for file, text in texts for one in measures(file, text)]
    middle, ninetieth = typical([size for _, text in texts for size in lengths(text)])
    print(f"functions: median {middle:g} lines, nine of ten up to {ninetieth:g}")
    if argv != ["--check"]:
        over = [one for one in found if one.size > LIMITS[one.what]]
        for one in sorted(over, key=lambda one: (one.what, -one.size)):
            print(f"{one.size:6} {one.key}")
        return 0
    wrong = problems(found, EXCEPTIONS) + twins(texts)
    if middle > MEDIAN or ninetieth > NINETIETH:
        wrong.append(f"functions: the median may be {MEDIAN} lines, and nine of ten up to {NINETIETH}")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
