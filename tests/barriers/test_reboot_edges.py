"""Reboots that do not go as planned. Numbers are items of the list of faults in the design of chains."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from tests.barriers.machine import DOWN, Site
from tests.barriers.test_reboot_runs import ALWAYS, ended

from saltern.journal.report import report_of
from saltern.modules.lib.boots import reboot_needed
from saltern.system import boot
from saltern.system.power import Pending

AFTER = """
after:
  cmd.run:
    - name: echo after $(cat @/boot) >> @/log
    - require:
      - system: restart
"""
FIRST = """
first:
  cmd.run:
    - name: echo first $(cat @/boot) >> @/log
    - resume: rerun
    - order: 1
"""


def site(place: Path, *details: str, after: str = AFTER, **more: str) -> Site:
    """A reboot with these details, and a state behind it."""
    text = ALWAYS + "".join(f"    - {detail}\n" for detail in details) + after
    return Site(place, {"top.sls": text, **more})


def comment(of: Site, name: str = "restart") -> str:
    assert of.state is not None
    (found,) = [one.result.comment for one in report_of(of.state).answers if one.chunk.id == name]
    return found


# -- 14 to 20: the way down, and who it was ------------------------------------------------------------


def test_14_a_process_that_starts_before_the_machine_is_down_does_not_go_on(tmp_path: Path) -> None:
    machine = site(tmp_path)
    machine.begin()
    for _ in range(3):
        assert machine.go_on() == DOWN
    assert machine.log == []
    machine.to_the_end()
    assert machine.log == ["after 1"]


def test_15_a_machine_that_does_not_go_down_can_be_forced(tmp_path: Path) -> None:
    machine = Site(tmp_path, {"top.sls": ALWAYS + "    - force: true\n" + AFTER}, stubborn=True)
    machine.begin()
    assert machine.go_on() == DOWN
    machine.to_the_end()
    assert machine.log == ["after 1"]
    assert machine.state is not None
    assert [one["forced"] for one in machine.state.barriers[0]["armed"]][-2:] == [False, True]


def test_16_power_that_is_lost_before_the_machine_was_asked_is_a_boot_as_well(tmp_path: Path) -> None:
    machine = site(tmp_path)
    names = _points(tmp_path / "other")
    machine.begin(kill_at=names.index("reboot.arming"))
    machine.machine.boot()
    machine.to_the_end()
    assert ended(machine) == "succeeded"
    assert machine.machine.boots == 1, "it is not rebooted once more"


def _points(place: Path) -> list[str]:
    place.mkdir()
    other = site(place)
    other.begin()
    return list(other.points)


def test_17_two_boots_instead_of_one_are_one_reboot_and_told(tmp_path: Path) -> None:
    machine = site(tmp_path)
    machine.begin()
    machine.machine.boot()
    machine.machine.boot()
    machine.to_the_end()
    assert ended(machine) == "succeeded"
    assert machine.log == ["after 2"]


def test_17_a_crash_while_the_checks_run_and_another_boot_are_reported(tmp_path: Path) -> None:
    machine = site(tmp_path, "return_deadline: 0", "checks: [test -e @/well]")
    (tmp_path / "well").touch()
    machine.begin()
    machine.machine.boot()
    names = _resumed_points(machine, tmp_path)
    machine.go_on(kill_at=names.index("state.call"))
    machine.machine.boot()
    machine.to_the_end()
    assert ended(machine) == "succeeded"
    assert "booted again" in comment(machine)


def _resumed_points(machine: Site, place: Path) -> list[str]:
    """Of the process that goes on after the boot; the machine is left as it was."""
    shutil.copytree(place, kept := place.parent / "kept")
    machine.go_on()
    names = list(machine.points)
    shutil.rmtree(place)
    shutil.move(kept, place)
    return names


def test_17_a_third_boot_in_the_time_of_stability_fails_the_state(tmp_path: Path) -> None:
    machine = site(tmp_path / "site", "stable: 0.1")
    machine.begin()
    machine.machine.boot()
    names = _resumed_points(machine, tmp_path / "site")
    machine.go_on(kill_at=names.index("state.call"))
    machine.machine.boot()
    machine.to_the_end()
    assert ended(machine) == "failed"
    assert "not stable" in comment(machine)
    assert machine.log == []


def test_17_a_machine_that_stays_up_is_stable(tmp_path: Path) -> None:
    machine = site(tmp_path, "stable: 0.1")
    machine.begin()
    machine.to_the_end()
    assert ended(machine) == "succeeded"


def test_18_a_boot_that_nobody_planned_is_no_reboot_of_the_run(tmp_path: Path) -> None:
    machine = site(tmp_path / "site", after=AFTER + FIRST)
    (tmp_path / "other").mkdir()
    other = site(tmp_path / "other", after=AFTER + FIRST)
    other.begin()
    machine.begin(kill_at=other.points.index("state.called"))
    machine.machine.boot()
    machine.to_the_end()
    assert machine.machine.boots == 2, "the reboot of the run comes after it"
    assert machine.log in (["first 0", "after 2"], ["first 0", "first 1", "after 2"])
    assert ended(machine) == "succeeded"


@pytest.mark.parametrize(
    ("before", "now", "is_another"),
    [
        ({"boot_id": "a"}, {"boot_id": ""}, False),
        ({"boot_id": "a", "pid1": "5", "nonce": "x"}, {"boot_id": "a", "pid1": "7", "nonce": "y"}, True),
        ({"boot_id": "a", "pid1": "5", "nonce": "x"}, {"boot_id": "a", "pid1": "5", "nonce": "x"}, False),
        ({"boot_id": "a", "pid1": "1", "nonce": "x"}, {"boot_id": "b", "pid1": "1", "nonce": "y"}, True),
        ({"boot_id": "a", "pid1": "1", "nonce": ""}, {"boot_id": "", "pid1": "", "nonce": "y"}, False),
    ],
    ids=["unreadable", "soft reboot or container", "suspend and resume", "kexec", "nothing in common"],
)
def test_19_what_a_boot_is_known_by(before: dict[str, str], now: dict[str, str], is_another: bool) -> None:
    assert boot.has_rebooted(before, now) is is_another


def test_19_an_identity_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    assert boot.boot_identity(str(tmp_path)) == {"boot_id": "", "pid1": "", "nonce": ""}
    (tmp_path / "proc/1").mkdir(parents=True)
    (tmp_path / "proc/1/stat").write_text("1 (a) b) S\n")
    assert boot.boot_identity(str(tmp_path))["pid1"] == ""


def test_20_a_boot_at_the_same_time_of_day_is_reported_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = site(tmp_path)
    machine.begin()
    machine.machine.boot()
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)  # no clock has a say
    machine.to_the_end()
    assert ended(machine) == "succeeded"


# -- 21: booted, but not into what was meant ------------------------------------------------------------


@pytest.mark.parametrize("kernels", [["99.0", "99.0"], ["99.0", "99.1"]], ids=["the old", "another"])
def test_21_a_machine_that_boots_the_wrong_kernel_fails_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernels: list[str]
) -> None:
    machine = site(tmp_path)
    monkeypatch.setattr(reboot_needed, "newer_kernel", lambda *_: kernels[machine.machine.boots])
    machine.begin()
    machine.to_the_end()
    assert ended(machine) == "failed"
    assert f"still true after the boot: kernel {kernels[1]} is installed" in comment(machine)
    assert machine.log == []


# -- 22: somebody else's shutdown, and ours that is called off -------------------------------------------


def test_22_a_reboot_that_somebody_has_scheduled_is_replaced_and_told(tmp_path: Path) -> None:
    machine = site(tmp_path)
    machine.machine.schedule("reboot")
    machine.begin()
    machine.to_the_end()
    assert ended(machine) == "succeeded"
    assert "a reboot is scheduled, and was cancelled: this one replaces it" in comment(machine)


@pytest.mark.parametrize(("policy", "mode"), [("auto", "poweroff"), ("fail", "reboot"), ("fail", "halt")])
def test_22_a_shutdown_of_somebody_else_stays(tmp_path: Path, policy: str, mode: str) -> None:
    machine = site(tmp_path, f"pending_shutdown: {policy}")
    machine.machine.schedule(mode)
    machine.begin()
    assert ended(machine) == "failed"
    assert f"a {mode} is scheduled, and not by this run" in comment(machine)
    assert machine.machine.pending_shutdown() == Pending(mode=mode)


def test_22_replace_calls_off_even_a_poweroff(tmp_path: Path) -> None:
    machine = site(tmp_path, "pending_shutdown: replace")
    machine.machine.schedule("poweroff")
    machine.begin()
    machine.to_the_end()
    assert ended(machine) == "succeeded"


def interrupted(machine: Site) -> None:
    """Ctrl-C for whoever waits for the machine to go down."""

    def work() -> None:
        def stop(_seconds: float) -> None:
            os.kill(os.getpid(), signal.SIGINT)

        machine.machine.wait = stop  # type: ignore[method-assign, assignment]
        try:
            machine._resume()
        except KeyboardInterrupt:
            return
        raise AssertionError("it was not interrupted")

    machine._child(work, None)


def test_22_an_interrupt_calls_an_announced_reboot_off(tmp_path: Path) -> None:
    machine = site(tmp_path, "notice: 600")
    machine.begin()
    assert ended(machine) == "rebooting"
    interrupted(machine)
    assert machine.machine.pending_shutdown() is None
    assert ended(machine) == "interrupted"
    machine.go_on()  # asks for it again
    assert ended(machine) == "rebooting"
    machine.to_the_end()
    assert ended(machine) == "succeeded"
    assert machine.log == ["after 1"]


def test_22_an_interrupt_that_comes_too_late_changes_nothing(tmp_path: Path) -> None:
    machine = site(tmp_path)
    machine.begin()
    interrupted(machine)
    assert ended(machine) == "rebooting"
    machine.to_the_end()
    assert machine.log == ["after 1"]


def test_22_a_boot_by_hand_after_that_is_the_reboot(tmp_path: Path) -> None:
    machine = site(tmp_path, "notice: 600")
    machine.begin()
    interrupted(machine)
    machine.machine.boot()
    machine.to_the_end()
    assert machine.machine.boots == 1
    assert ended(machine) == "succeeded"


# -- 23: where a reboot may stand ------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["r", "rr", "ra", "ar", "rar", "arra"], ids=str)
def test_23_first_last_only_and_two_in_a_row(tmp_path: Path, words: str) -> None:
    reboot = "  system.reboot:\n    - only_on_pending_reboot: false\n"
    command = "  cmd.run:\n    - name: echo $(cat @/boot) >> @/log\n"
    text = "".join(
        f"step {at}:\n{reboot if word == 'r' else command}    - order: {at + 1}\n"
        for at, word in enumerate(words)
    )
    machine = Site(tmp_path, {"top.sls": text})
    machine.begin()
    machine.to_the_end()
    assert ended(machine) == "succeeded"
    assert machine.machine.boots == words.count("r")
    assert machine.log == [str(words[:at].count("r")) for at, word in enumerate(words) if word == "a"]


# -- units ------------------------------------------------------------------------------------------------

UNITS = "#!/bin/sh\ncat {place}/units\n"


@pytest.mark.parametrize(
    ("after", "status"),
    [
        ("old.service loaded failed failed Old\n", "succeeded"),
        ("new.service loaded failed failed New\n", "failed"),
    ],
)
def test_a_unit_that_has_failed_since_fails_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str, status: str
) -> None:
    """What systemctl prints is recorded: no systemd runs here."""
    program = tmp_path / "bin/systemctl"
    program.parent.mkdir()
    program.write_text(UNITS.format(place=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "units").write_text("old.service loaded failed failed Old\n")
    machine = site(tmp_path, "failed_units: true")
    machine.begin()
    (tmp_path / "units").write_text(after)
    machine.to_the_end()
    assert ended(machine) == status
    assert ("failed since the boot: new.service" in comment(machine)) is (status == "failed")
