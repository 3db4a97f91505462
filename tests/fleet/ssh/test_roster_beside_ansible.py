"""Random inventories: hosts, groups and variables are those that ``ansible-inventory`` finds."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.modules.ansible.plays import program

from saltern.fleet.ssh.roster.inventory import REST, TOP
from saltern.fleet.ssh.roster.read import read_roster

GROUPS = ["web", "db", "prod", "eu", "edge", "apps"]
VALUES = ["1", "yes", "'quoted'", "plain", "[1, 2]", "{'a': 1}", "0x10", "3.5", "True", "None"]


def inventory_text(seed: int) -> str:
    """An INI inventory with groups in groups, ranges and variables of every kind."""
    draw = random.Random(seed)
    lines = [f"lone{draw.randrange(9)} v0={draw.choice(VALUES[:4])}"]
    for number, group in enumerate(GROUPS):
        lines.append(f"[{group}]")
        for _ in range(draw.randrange(3)):
            lines.append(
                f"h{draw.randrange(9)}-[{draw.randrange(3)}:4] v{draw.randrange(4)}={draw.choice(VALUES[:4])}"
            )
        lines.append(f"[{group}:vars]")
        lines += [f"v{draw.randrange(6)} = {draw.choice(VALUES)}" for _ in range(3)]
        if draw.random() < 0.3:
            lines.append(f"ansible_group_priority={draw.randrange(1, 5)}")
        later = GROUPS[number + 1 :]
        if later and draw.random() < 0.7:
            lines += [f"[{group}:children]", *draw.sample(later, draw.randrange(1, len(later) + 1))]
    lines += ["[all:vars]", "v1=all", "v9=all"]
    return "\n".join(lines) + "\n"


def as_ansible_sees(path: Path) -> dict[str, Any]:
    found = program()
    if found is None:
        pytest.skip("needs ansible-core: make engines")
    tool = os.path.join(os.path.dirname(found), "ansible-inventory")
    done = subprocess.run(
        [tool, "-i", str(path), "--list"], capture_output=True, text=True, check=True, cwd=path.parent
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def members(listed: dict[str, Any], group: str) -> set[str]:
    body = listed.get(group, {})
    return set(body.get("hosts", ())).union(*(members(listed, child) for child in body.get("children", ())))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_an_ini_inventory_is_what_ansible_sees(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "hosts"
    path.write_text(inventory_text(seed))
    listed = as_ansible_sees(path)
    ours = read_roster([str(path)])
    assert set(ours.hosts) == members(listed, TOP)
    for group in (*GROUPS, REST):
        assert set(ours.groups.get(group, ())) == members(listed, group), group
    variables = listed["_meta"]["hostvars"]
    for name, host in ours.hosts.items():
        theirs = {key: one for key, one in variables.get(name, {}).items() if not key.startswith("ansible_")}
        assert dict(host.variables) == theirs, name
