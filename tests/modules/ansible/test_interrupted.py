"""Ctrl-C while a playbook runs: what was done is reported, and nothing runs on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - {{name: quick, debug: {{msg: x}}}}
    - {{name: slow, shell: 'touch {flag}; sleep 31.{mark}'}}
    - {{name: never, debug: {{msg: x}}}}
"""


def test_an_interrupted_run_tells_what_the_playbook_had_done(tmp_path: Path, place: str) -> None:
    mark = f"{os.getpid()}{time.time_ns() % 10**6}"
    flag = tmp_path / "begun"
    (tmp_path / "play.yml").write_text(PLAY.format(flag=flag, mark=mark))
    state = {"it": {"ansible.playbooks": [{"name": str(tmp_path / "play.yml")}, {"connection": "local"}]}}
    (tmp_path / "main.sls").write_text(json.dumps({**state, "after": {"test.nop": []}}))
    process = subprocess.Popen(
        [sys.executable, "-m", "saltern", "apply", "main", "--file-root", str(tmp_path), "--out", "json"],
        env={
            **os.environ,
            "PATH": f"{place}:{os.environ['PATH']}",
            "SALTERN_CACHEDIR": str(tmp_path / "cache"),
            "SALTERN_STATE_DIR": str(tmp_path / "runs"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    end = time.monotonic() + 60
    while not flag.exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=200)
    assert process.returncode == 130
    answers = {one["__id__"]: one for one in json.loads(out)["local"].values()}
    assert answers["it"]["result"] is False
    assert "interrupted while it ran" in answers["it"]["comment"]
    assert answers["localhost: quick"]["result"] is True
    assert answers["localhost: quick"]["__parent__"].startswith("ansible_|-it_|-")
    assert answers["after"]["__state_ran__"] is False
    assert subprocess.run(["pgrep", "-f", f"sleep 31.{mark}"], stdout=subprocess.DEVNULL).returncode == 1
