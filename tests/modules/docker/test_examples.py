"""The examples of the reference pages, applied with a real engine; and a tree as a user would apply it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests import kit

from saltern.language.result import Outcome
from saltern.modules.api.registry import Registry
from saltern.modules.lib.containers.engine import Engine

pytestmark = pytest.mark.machine

STATES = ("docker_container", "docker_image", "docker_network", "docker_volume")
EXAMPLE = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


def examples() -> dict[str, str]:
    registry = Registry()
    found = {}
    for module in STATES:
        for fun in registry.members("states", module):
            state = registry.state(module, fun)
            if state is not None and fun != "mod_watch":
                found[f"{module}.{fun}"] = EXAMPLE.findall(state.doc)[0]
    return found


@pytest.mark.parametrize("name", examples())
def test_an_example_can_be_applied_twice(
    name: str, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", engine.address)
    text = textwrap.dedent(examples()[name]).replace("/srv", str(tmp_path))
    for changed in (not name.endswith((".absent", ".stopped")), False):
        report = kit.run_sls({"main.sls": text})
        for answer in report.answers:
            assert answer.result.outcome is Outcome.OK, answer.result
            assert bool(answer.result.changes) is changed, answer.result
    for network in ("backend",):
        if engine.find(f"/networks/{network}"):
            engine.ask("DELETE", f"/networks/{network}")


TREE = """
saltern-t-net:
  docker_network.present:
    - subnet: 10.231.12.0/24

saltern-t-conf:
  file.managed:
    - name: {place}/conf
    - contents: one

saltern-t-web:
  docker_container.running:
    - image: busybox:1.36
    - command: sleep 600
    - shutdown_timeout: 0
    - environment:
      - MODE: production
    - binds: {place}:/conf:ro
    - networks:
      - saltern-t-net:
        - ipv4_address: 10.231.12.7
    - watch:
      - file: saltern-t-conf
    - require:
      - docker_network: saltern-t-net
"""


def test_a_tree_is_applied_from_the_command_line(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "web.sls").write_text(TREE.replace("{place}", str(tmp_path)))

    def apply(*words: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "saltern", words[0], "--file-root", str(tmp_path), *words[1:]],
            env={**os.environ, "DOCKER_HOST": engine.address},
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout

    apply("apply", "web")
    first = engine.get("/containers/saltern-t-web/json")["Id"]
    apply("apply", "web")
    assert engine.get("/containers/saltern-t-web/json")["Id"] == first
    (tmp_path / "web.sls").write_text(TREE.replace("{place}", str(tmp_path)).replace("one", "two"))
    apply("apply", "web")
    assert engine.get("/containers/saltern-t-web/json")["Id"] != first, "what it watches has changed"
    assert "saltern-t-web" in apply("call", "docker.list_containers")
