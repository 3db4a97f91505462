"""The functions that take a machine down, and what it says of a shutdown that is scheduled."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.barriers.machine import Machine
from tests.modules.bench import Bench

from saltern.modules.api.refused import Refused
from saltern.modules.functions.system import power as functions
from saltern.modules.states import system as states
from saltern.system import power, reboot


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    reboot.use(made)
    yield made
    reboot.use(None)


def call(place: Path, function: str, *args: object) -> object:
    return Bench(place, states, functions={"system": functions}).salt[function](*args)


@pytest.mark.parametrize(
    ("function", "args", "asked"),
    [
        ("system.halt", (), "halt None"),
        ("system.init", (3,), "init 3"),
        ("system.poweroff", (), "poweroff None"),
        ("system.reboot", (), "reboot None"),
        ("system.reboot", (5,), "reboot 5"),
        ("system.shutdown", ("23:30",), "shutdown 23:30"),
    ],
)
def test_a_function_presses_the_button(
    machine: Machine, function: str, args: tuple[object, ...], asked: str
) -> None:
    assert call(machine.place, function, *args) == ""
    assert (machine.place / "power").read_text() == asked


@pytest.mark.parametrize("at", ["soon", "-5", "5; reboot", "24:99"])
def test_only_a_time_is_a_time(at: str) -> None:
    with pytest.raises(ValueError, match="a time must be"):
        power.clock_time(at)


def test_a_runlevel_that_is_none_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="a runlevel must be one of"):
        call(tmp_path, "system.init", "--help")


@pytest.mark.parametrize(
    ("word", "at", "command"),
    [
        ("reboot", None, ("shutdown", "-r", "now")),
        ("reboot", 5, ("shutdown", "-r", "+5")),
        ("shutdown", "23:30", ("shutdown", "-h", "23:30")),
        ("halt", None, ("halt",)),
        ("init", 3, ("init", "3")),
    ],
)
def test_the_machines_own_words(
    monkeypatch: pytest.MonkeyPatch, word: str, at: object, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(power, "has", lambda _: True)
    assert power.power_command(word, at) == command


def test_a_machine_without_shutdown_has_other_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(power, "has", lambda _: False)
    assert power.power_command("shutdown") == ("poweroff",)
    assert power.reboot_command(0, str(tmp_path)) == ("reboot",)
    with pytest.raises(OSError, match="no notice can be given"):
        power.reboot_command(60, str(tmp_path))


def test_a_short_notice_is_a_minute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(power, "has", lambda _: True)
    assert power.reboot_command(10, str(tmp_path)) == ("shutdown", "-r", "+1")


def test_what_systemd_has_scheduled_is_known(tmp_path: Path) -> None:
    file = tmp_path / power.SCHEDULED
    file.parent.mkdir(parents=True)
    file.write_text("USEC=1700000000000000\nWARN_WALL=1\nMODE=poweroff\n")
    found = power.pending_shutdown(str(tmp_path))
    assert str(found) == "a poweroff is scheduled for 2023-11-14 22:13:20 UTC"
    assert found is not None
    assert not found.comes_back


def test_what_sysvinit_has_scheduled_is_known_while_its_process_waits(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/shutdown.pid").write_text("77\n")
    assert power.pending_shutdown(str(tmp_path)) is None
    (tmp_path / "proc/77").mkdir(parents=True)
    (tmp_path / "proc/77/cmdline").write_text("/sbin/shutdown\0-r\0+30\0")
    assert power.pending_shutdown(str(tmp_path)) == power.Pending(mode="reboot")


def own(place: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> reboot.MachineRebooter:
    """This machine, with a ``shutdown`` of our own and a scheduled reboot, as systemd has it."""
    program = place / "bin" / "shutdown"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("SALTERN_POWER")  # the only shutdown that it finds is the one above
    file = place / power.SCHEDULED
    file.parent.mkdir(parents=True)
    file.write_text(f"USEC={int(time.time() + 600)}000000\nMODE=reboot\n")
    return reboot.MachineRebooter(root=str(place))


def test_what_is_scheduled_is_called_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = own(tmp_path, monkeypatch, f'[ "$*" = -c ] && rm {tmp_path}/{power.SCHEDULED}')
    assert machine.cancel() == ""
    assert machine.pending_shutdown() is None
    assert machine.cancel() == reboot.GOES_DOWN


def test_what_cannot_be_called_off_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = own(tmp_path, monkeypatch, "echo you are not root >&2; exit 1")
    assert machine.cancel() == "shutdown -c: you are not root"


def test_a_command_that_does_nothing_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert own(tmp_path, monkeypatch, "").cancel() == "it is still scheduled"


def test_a_command_of_the_user_needs_one_to_call_it_off(tmp_path: Path) -> None:
    assert reboot.MachineRebooter(("true",), root=str(tmp_path)).cancel() == reboot.OWN_WAY
    assert reboot.MachineRebooter(("true",), ("true",), root=str(tmp_path)).cancel() == ""
