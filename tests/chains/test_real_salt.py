"""Exported chunks under a real Salt: of ``build/salt``, where ``make test`` puts it, or SALTERN_SALT_SITE."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.command import Place

ROOT = Path(__file__).parent.parent.parent
SITE = Path(os.environ.get("SALTERN_SALT_SITE") or ROOT / "build" / "salt")
CHAIN = """\
chain: small
id: 7
actions:
  - {{id: A, command: {{run: 'echo A >> {base}/log'}}}}
  - {{id: S, state: {{sls: said}}}}
  - {{id: R, reboot: {{}}}}
  - {{id: B, command: {{run: 'echo B >> {base}/log'}}}}
  - {{id: F, command: {{run: 'false'}}}}
  - {{id: C, command: {{run: 'echo C >> {base}/log'}}}}
"""
NO_REBOOT = """\
def reboot(at_time=None):
    with open("{base}/asked", "a") as file:
        file.write("once")
    return True
"""

pytestmark = pytest.mark.skipif(not (SITE / "salt").is_dir(), reason="no Salt here: make salt")


class Minion:
    def __init__(self, base: Path) -> None:
        self.base = base
        self.place = Place(base)
        self.pointer = base / "cache" / "saltern_actionchain.json"
        (base / "etc").mkdir()
        (base / "etc" / "minion").write_text(
            f"id: web.example\nfile_client: local\ncachedir: {base}/cache\npki_dir: {base}/pki\n"
            f"sock_dir: {base}/run\nfile_roots: {{base: [{base}/states]}}\nlog_file: {base}/log.txt\n"
        )

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        code = "import sys; from salt.scripts import salt_call; sys.argv[0] = 'salt-call'; salt_call()"
        argv = [
            sys.executable,
            "-c",
            code,
            "--local",
            "-c",
            str(self.base / "etc"),
            "--out=json",
            "-l",
            "quiet",
        ]
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SITE), "HOME": str(self.base)}
        return subprocess.run([*argv, *words], env=env, text=True, capture_output=True, timeout=120)

    def log(self) -> list[str]:
        return (self.base / "log").read_text().split()


def test_exported_chunks_run_under_a_real_salt(tmp_path: Path) -> None:
    minion = Minion(tmp_path)
    minion.place.write(
        {
            "said.sls": f"echo S >> {tmp_path}/log: {{cmd.run: []}}",
            "_modules/system.py": NO_REBOOT.format(base=tmp_path),
        }
    )
    file = tmp_path / "chain.yaml"
    file.write_text(CHAIN.format(base=tmp_path))
    export = str(tmp_path / "states")
    done = minion.place.run("chain", "render", str(file), "--system", "web.example", "--export", export)
    assert done.code == 0, done.err
    assert minion.call("saltutil.sync_modules").returncode == 0

    first = json.loads(minion.call("actionchains.start", "7").stdout)["local"]
    results = {answer["__id__"]: answer["result"] for answer in first.values()}
    assert results == {
        "action_A": True,
        "action_S": True,
        "next_chunk": True,
        "action_R": True,
        "forget_next_chunk": True,
    }
    assert minion.log() == ["A", "S"]
    assert (tmp_path / "asked").read_text() == "once"

    for module in ("actionchains", "mgractionchain"):  # as after a restart of the service in the same boot
        early = minion.call(f"{module}.resume")
        assert (early.returncode, json.loads(early.stdout)["local"], early.stderr) == (0, None, "")
    assert minion.log() == ["A", "S"]

    kept = json.loads(minion.pointer.read_text())
    minion.pointer.write_text(json.dumps({**kept, "boot": "another boot"}))
    second = json.loads(minion.call("actionchains.resume").stdout)["local"]
    results = {answer["__id__"]: answer["result"] for answer in second.values()}
    assert results == {"action_B": True, "action_F": False, "action_C": False, "finish_action_chain": False}
    assert minion.log() == ["A", "S", "B"]
    assert not minion.pointer.exists(), "a chain that failed is over"
    assert json.loads(minion.call("actionchains.resume").stdout)["local"] is None
