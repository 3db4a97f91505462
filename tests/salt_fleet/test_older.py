"""The extension with Salt 3006, the oldest that it is for: a master and a minion of that version, once."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from tests.salt_fleet.conftest import running
from tools.salt import OLD_PLACE

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("salt-fleet")]

STATES = """\
made:
  file.managed: [{name: '@/made-{{ pillar.who }}'}, {contents: hello}]
wrong:
  cmd.run: [{name: exit 3}]
late:
  test.nop: [{delayed_render: [{block: then}]}]
#!delayed_block then
rendered late:
  test.nop: []
#!end_delayed_block then
"""
CHAIN = "chain: old\nactions:\n  - {id: a, state: {sls: fine}}\n  - {id: b, command: echo b}\n"


@pytest.mark.skipif(not (OLD_PLACE / "bin").is_dir(), reason="needs Salt 3006: make salt")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_salt_3006_applies_tests_and_chains(tmp_path: Path) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="s6") as short,  # it holds sockets
        running(Path(short), ("web1",), version=OLD_PLACE) as fleet,
    ):
        assert fleet.ask("web1", "test.version")["web1"].startswith("3006.")
        fleet.write("old.sls", STATES.replace("@", str(tmp_path)))
        foreseen = fleet.details("web1", "saltern.apply", "old", "test=True")
        assert foreseen["ret"][f"file_|-made_|-{tmp_path}/made-web1_|-managed"]["result"] is None
        done = fleet.details("web1", "saltern.apply", "old")
        assert (done["retcode"], done["out"]) == (2, "highstate")
        assert {state["__id__"]: state["result"] for state in done["ret"].values()} == {
            "made": True, "wrong": False, "late": True, "rendered late": True,
        }  # fmt: skip
        assert (tmp_path / "made-web1").read_text() == "hello\n"
        fleet.write("fine.sls", "fine:\n  test.nop: []\n")
        (fleet.place / "old.yaml").write_text(CHAIN)
        code, run = fleet.chained("run", "old.yaml", "--on", "web1")
        assert (code, run["status"]) == (0, "succeeded"), run
        assert [row["function"] for row in fleet.runner("saltern.runs", "limit=1")] == ["saltern.chain_start"]
