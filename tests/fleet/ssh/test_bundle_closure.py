"""What is sent to a host imports nothing of ours that is not sent."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import saltern
from saltern.fleet.ssh.bundle.contents import is_sent, own_files

ROOT = Path(saltern.__file__).parent
# What runs there: these import all that they name, wherever the import stands. Other commands and files are
# there, too, and need not work.
OF_AGENTS = ("cli/worker", "cli/warm", "fleet/agent/", "fleet/bus/", "fleet/identity/", "fleet/render/")
ON_HOSTS = ("cli/worker", "fleet/ssh/remote/", "engine/", "durable/", "modules/", "render/", "sources/")
COMMANDS = ("apply", "call", "chain", "plan", "report", "resume", "runs", "show", "single")
HERE_ONLY = ("fleet/ssh/remote/command.py",)  # makes the command for ssh, on the caller's side


def statements(body: Sequence[ast.AST], *, inner: bool) -> Iterator[ast.AST]:
    """Those that are executed on import; with ``inner`` also those within functions."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        if inner or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            nested = [
                one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt | ast.ExceptHandler)
            ]
            yield from statements(nested, inner=inner)


def imports(name: str, *, inner: bool) -> Iterator[str]:
    """The files of ours that a file imports."""
    for node in statements(ast.parse((ROOT / name).read_text()).body, inner=inner):
        found: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        elif isinstance(node, ast.Import):
            found = [one.name for one in node.names]
        for module in found:
            path = module.removeprefix("saltern.").replace(".", "/")
            yield from (file for file in (f"{path}.py", f"{path}/__init__.py") if (ROOT / file).is_file())


def reached(roots: list[str], commands: list[str]) -> Iterator[tuple[str, str]]:
    """Each file that is imported, and one that imports it."""
    seen = set(roots)
    todo = [(name, file) for name in roots for file in imports(name, inner=True)]
    todo += [(name, file) for name in commands for file in imports(name, inner=False)]
    while todo:
        name, file = todo.pop()
        if file not in seen:
            seen.add(file)
            yield name, file
            todo += [(file, other) for other in imports(file, inner=False)]


@pytest.mark.parametrize(("starts", "agent"), [(OF_AGENTS, True), (ON_HOSTS, False)])
def test_what_is_sent_has_all_that_it_imports(starts: tuple[str, ...], agent: bool) -> None:
    names = [name.removeprefix("saltern/") for name, _ in own_files(agent=agent)]
    roots = [name for name in names if name.endswith(".py") and name.startswith(starts)]
    assert {start for start in starts if any(name.startswith(start) for name in roots)} == set(starts)
    used = reached([one for one in roots if one not in HERE_ONLY], [f"cli/{one}.py" for one in COMMANDS])
    missing = [f"{name} imports {file}" for name, file in used if not is_sent(file, agent=agent)]
    assert missing == []
