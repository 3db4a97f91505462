"""What is sent to a host imports nothing of the fleet that is not sent, wherever the import stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import saltern
from saltern.fleet.ssh.bundle.contents import is_sent, own_files

ROOT = Path(saltern.__file__).parent
# What a host runs. Other commands and files are there, too, and need not work.
OF_AGENTS = ("cli/worker", "cli/warm", "fleet/agent/", "fleet/bus/", "fleet/identity/", "fleet/render/")
ON_HOSTS = ("cli/worker", "fleet/ssh/remote/", "fleet/agent/task.py", "fleet/agent/returns.py")
HERE_ONLY = ("fleet/ssh/remote/command.py",)  # makes the command for ssh, on the caller's side


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def missing(name: str, *, agent: bool) -> list[str]:
    """The modules of the fleet that a file imports, that are there and are not sent."""
    found = []
    for module in imports(ROOT / name):
        inner = module.removeprefix("saltern.").replace(".", "/")
        for file in (f"{inner}.py", f"{inner}/__init__.py"):
            is_fleet = module.startswith("saltern.fleet.")
            if is_fleet and (ROOT / file).is_file() and not is_sent(file, agent=agent):
                found.append(f"{name} imports {module}")
    return found


@pytest.mark.parametrize(("starts", "agent"), [(OF_AGENTS, True), (ON_HOSTS, False)])
def test_what_is_sent_has_all_that_it_imports(starts: tuple[str, ...], agent: bool) -> None:
    names = [name.removeprefix("saltern/") for name, _ in own_files(agent=agent)]
    started = [name for name in names if name.endswith(".py") and name.startswith(starts)]
    assert {start for start in starts if any(name.startswith(start) for name in started)} == set(starts)
    found = [one for name in started if name not in HERE_ONLY for one in missing(name, agent=agent)]
    assert found == []
