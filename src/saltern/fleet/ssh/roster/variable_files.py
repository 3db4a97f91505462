"""``group_vars/`` and ``host_vars/`` beside an inventory: they win over what the inventory itself says."""

from __future__ import annotations

import os
from collections.abc import Iterator

from saltern.fleet.ssh.roster.inventory import Inventory
from saltern.fleet.ssh.roster.problems import Page
from saltern.language.diagnostics import Diagnostics
from saltern.render.yaml_limits import YamlProblem

ENDINGS = ("", ".yaml", ".yml", ".json")
VAULT = "$ANSIBLE_VAULT"


def add_variable_files(inventory: Inventory, directory: str, found: Diagnostics) -> None:
    """Add the variables of the files in this directory to groups and hosts of the inventory."""
    for name, group in inventory.groups.items():
        for variables in _variables(os.path.join(directory, "group_vars", name), found):
            group.variables |= variables
    for name, own in inventory.hosts.items():
        for variables in _variables(os.path.join(directory, "host_vars", name), found):
            own |= variables


def _variables(base: str, found: Diagnostics) -> Iterator[dict[str, object]]:
    if os.path.isdir(base):
        for name in sorted(os.listdir(base)):
            path = os.path.join(base, name)
            if not name.startswith(".") and os.path.splitext(name)[1] in ENDINGS and os.path.isfile(path):
                yield _file(path, found)
    for ending in ENDINGS:
        if os.path.isfile(base + ending):
            yield _file(base + ending, found)


def _file(path: str, found: Diagnostics) -> dict[str, object]:
    from saltern.render.yaml import read

    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as problem:
        Page(path, "", found).wrong(f"it cannot be read: {problem}", Page(path, "", found).line(1))
        return {}
    page = Page(path, text, found)
    if text.startswith(VAULT):
        page.warn("it is encrypted by ansible-vault, and its variables are not used", page.line(1))
        return {}
    try:
        data = read(text)
    except YamlProblem as problem:
        page.wrong(problem.what, page.line(problem.line), problem.fix)
        return {}
    if data is not None and not isinstance(data, dict):
        page.wrong("a file of variables is a mapping", page.line(1))
        return {}
    return {str(key): value for key, value in (data or {}).items()}
