"""``saltern init``: write a small working tree with a test, as a starting point."""

from __future__ import annotations

import os

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Word, parse
from saltern.language.diagnostics import Diagnostic, OperationError

LINE = CommandLine(
    command="init",
    about="Write a small working tree: configuration, states, pillar and a test. Nothing is overwritten.",
    words=(
        Word(
            dest="folder", metavar="DIR", many=True, help="where to write it (default: the current directory)"
        ),
    ),
    rows=(),
)

FILES = {
    "saltern.yaml": """\
# Commands that are started in this directory use this file. Paths are relative to it.
file_roots:
  base:
    - states
pillar_roots:
  base:
    - pillar
""",
    "states/top.sls": """\
# Which states belong to which machine. A target is a name, a pattern, a grain …
base:
  '*':
    - motd
""",
    "states/motd/init.sls": """\
# The greeting that people see when they log in.
{% set motd = pillar.get('motd', {}) %}

message of the day:
  file.managed:
    - name: {{ motd.get('path', '/etc/motd') }}
    - source: salt://motd/motd.j2
    - template: jinja
    - mode: '0644'
    - context:
        text: {{ motd.get('text', 'Welcome') | tojson }}
""",
    "states/motd/motd.j2": """\
{{ text }}
This is {{ grains['id'] }}. Its configuration is managed: local changes are overwritten.
""",
    "pillar/top.sls": """\
base:
  '*':
    - motd
""",
    "pillar/motd.sls": """\
motd:
  text: Welcome aboard
""",
    "tests/test_states.py": '''\
"""Tests of the states, without a machine: run them with `pytest`."""

from pathlib import Path

import pytest

from saltern.testing import MemoryHost, StateTree

ROOT = Path(__file__).parent.parent


@pytest.fixture
def tree(saltern_tree) -> StateTree:
    return saltern_tree(root=ROOT / "states", pillar_root=ROOT / "pillar", host=MemoryHost())


def test_the_greeting_comes_from_the_pillar(tree: StateTree) -> None:
    tree.apply("motd").check()
    assert "Welcome aboard" in tree.host.read("/etc/motd")


def test_a_second_run_changes_nothing(tree: StateTree) -> None:
    tree.apply("motd").check()
    assert tree.apply("motd").check().changed == []
''',
    ".gitignore": """\
*.plan
__pycache__/
.pytest_cache/
""",
    "README.md": """\
# States

| to | run |
| --- | --- |
| find mistakes | `saltern check` |
| see what would change | `saltern plan` |
| apply | `saltern apply` |
| test the states | `pytest` |
""",
}
NEXT = """\
next:
  saltern check     find mistakes
  saltern plan      see what would change on this machine
  saltern apply     change it
  pytest            test the states without a machine"""


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if len(args.folder) > 1:
        raise OperationError(Diagnostic(code="option-shape", what="saltern init takes one directory"))
    folder = args.folder[0] if args.folder else "."
    written = write(folder)
    for name in FILES:
        print(f"{'wrote' if name in written else 'kept'} {os.path.join(folder, name)}")
    print(NEXT if folder == "." else f"cd {folder}\n{NEXT}")
    return exits.OK


def write(folder: str) -> list[str]:
    """Write the files that do not exist yet, and return their names."""
    written = []
    try:
        for name, text in FILES.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            try:
                with open(path, "x", encoding="utf-8") as file:
                    file.write(text)
            except FileExistsError:
                continue
            written.append(name)
    except OSError as problem:
        what = f"{problem.filename or folder}: {problem.strerror}"
        raise OperationError(Diagnostic(code="init-unwritable", what=what)) from None
    return written
