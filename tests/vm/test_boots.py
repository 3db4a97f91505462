"""A kernel boots, runs, goes down and boots again: in a virtual machine, all software.

Its runs begin at its console. What goes on with them is the init script that ``saltern install-service``
writes. Their journals are read from the disk afterwards. To cut the power is to kill the emulator: what the
guest had only in memory is gone. What its disk had taken stays, as with a disk that has a battery. Commands
sync what they write: a journal remembers that a state was done, and not what it has written.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.vm.disk import make_disk, make_start, missing, read_out
from tests.vm.machine import VirtualMachine

from saltern.config.settings import Settings
from saltern.journal.runs import Runs

BOOT = "$(cat /proc/sys/kernel/random/boot_id)"
REBOOT = f"""
first:
  cmd.run:
    - name: echo first {BOOT} >> /root/log; sync

restart:
  system.reboot:
    - only_on_pending_reboot: false
    - checks:
      - test -d /proc/1
    - require:
      - cmd: first

second:
  cmd.run:
    - name: echo second {BOOT} >> /root/log; sync
    - require:
      - system: restart
"""
POWER = f"""
third:
  cmd.run:
    - name: echo third {BOOT} >> /root/log; sync

slow:
  cmd.run:
    - name: if grep -qw slow /proc/cmdline; then echo it is slow > /dev/console; sleep 500; fi
    - resume: rerun

last:
  cmd.run:
    - name: echo last {BOOT} >> /root/log; sync
    - require:
      - cmd: slow
"""
FILES = {"srv/salt/reboot.sls": REBOOT, "srv/salt/power.sls": POWER}
NOBODY_RUNS = "while pidof python3.11 python3 python >/dev/null; do sleep 0.2; done"


@pytest.mark.timeout(1800)
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_runs_go_on_after_a_reboot_and_after_the_power_was_cut(tmp_path: Path) -> None:
    disk, start = make_disk(tmp_path, FILES), make_start(tmp_path)
    with VirtualMachine(disk, start, word="slow") as machine:
        one = machine.up()
        machine.enter("saltern apply reboot")
        two = machine.up()
        machine.run(NOBODY_RUNS)
        machine.enter("saltern apply power")
        machine.sees("it is slow")
    with VirtualMachine(disk, start) as machine:
        three = machine.up()
        machine.run(NOBODY_RUNS)
        machine.enter("poweroff")
        machine.is_off()
    assert len({one, two, three}) == 3
    home = read_out(disk, "/root", tmp_path / "out")
    runs = Runs(Settings(state_dir=str(read_out(disk, "/var/lib/saltern", tmp_path / "out"))))
    power, reboot = (runs.state(jid) for jid in runs.jids())
    assert [reboot.status, power.status] == ["succeeded", "succeeded"]
    (barrier,) = reboot.barriers
    assert (barrier["before"]["boot_id"], barrier["now"]["boot_id"]) == (one, two)
    log = [line.split() for line in (home / "log").read_text().splitlines()]
    assert log == [["first", one], ["second", two], ["third", two], ["last", three]]
