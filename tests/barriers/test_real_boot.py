"""A reboot for real, as far as that goes without another kernel: a PID namespace with a fresh ``/run``.

Process 1 is ours, and when it ends the kernel ends all the others; the next boot has another one, and another
``/run``. The kernel's boot id stays, as in a container. Identity, reboot command and init script are the
real ones; only the command that is asked to reboot is a file that process 1 waits for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from saltern.config.settings import Settings
from saltern.journal.runs import Runs
from saltern.system import services

INIT = """\
#!/bin/sh
mount -t proc proc /proc && mount -t tmpfs tmpfs /run || exit 77
cut -d' ' -f22 /proc/1/stat >> {place}/boots
{work}
n=0
while [ ! -e /run/go-down ] && [ ! -e {place}/done ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done
"""
TREE = """
first:
  cmd.run:
    - name: echo first $(cut -d' ' -f22 /proc/1/stat) >> {place}/log
    - resume: rerun

restart:
  system.reboot:
    - only_on_pending_reboot: false
    - checks:
      - test -d /proc/1
    - require:
      - cmd: first

second:
  cmd.run:
    - name: echo second $(cut -d' ' -f22 /proc/1/stat) >> {place}/log; touch {place}/done
    - require:
      - system: restart
"""


def boot(place: Path, work: str) -> None:
    """One boot, from its process 1 to its end."""
    init = place / "init"
    init.write_text(INIT.format(place=place, work=work))
    command = ["unshare", "--pid", "--fork", "--mount", "--kill-child", "/bin/sh", str(init)]
    env = {**os.environ, "SALTERN_STATE_DIR": str(place / "state")}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
    if done.returncode in (1, 77) and "permitted" in done.stderr:
        pytest.skip(f"no namespaces here: {done.stderr.strip()}")


@pytest.mark.machine
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare")
def test_a_run_goes_on_after_process_1_and_run_are_new(tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    (tmp_path / "states" / "web.sls").write_text(TREE.format(place=tmp_path))
    config = tmp_path / "minion"
    config.write_text(f"file_roots: {{base: [{tmp_path}/states]}}\nreboot_command: [touch, /run/go-down]\n")
    services.install(str(tmp_path / "root"))
    boot(tmp_path, f"{sys.executable} -m saltern apply web --config {config} > {tmp_path}/out 2>&1 &")
    (run,) = Runs(Settings(state_dir=str(tmp_path / "state"))).summaries()
    assert run.status == "rebooting"
    boot(tmp_path, f"/bin/sh {tmp_path}/root/etc/init.d/saltern-resume start")
    one, two = (tmp_path / "boots").read_text().split()
    assert one != two
    assert (tmp_path / "log").read_text().splitlines() == [f"first {one}", f"second {two}"]
