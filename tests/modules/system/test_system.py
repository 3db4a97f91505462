"""``system``: names and descriptions in a world of its own; the clock is the test machine's and stays."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.modules.apart import apart
from tests.modules.bench import Bench, ScriptedHost, needs_root

from saltern.modules.api.params import BadArgument
from saltern.modules.functions import system as functions
from saltern.modules.lib.tables import machine_info
from saltern.modules.states import system
from saltern.system.process import Ran

NOW = 1_000_000  # of the bench's clock: 1970-01-12 13:46:40 UTC


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, system, functions={"system": functions})


@needs_root("hostname", "ip")
@apart
@pytest.mark.parametrize("fun", ["computer_name", "hostname"])
def test_the_machine_is_renamed_now_and_at_boot(bench: Bench, fun: str) -> None:
    subprocess.run(["hostname", "before"], check=True)
    Path("/etc/hostname").write_text("before\n")
    Path("/etc/hosts").write_text("127.0.1.1\tbefore.example.org before\n::1 localhost\n")
    done = bench.change(fun, "saltern-t")
    expected = {"computer_name": {"old": "before", "new": "saltern-t"}, "hostname": {"hostname": "saltern-t"}}
    assert done.changes == expected[fun]
    assert (os.uname().nodename, Path("/etc/hostname").read_text()) == ("saltern-t", "saltern-t\n")
    assert "before.example.org saltern-t\n" in Path("/etc/hosts").read_text()
    assert bench.salt["system.get_computer_name"]() == "saltern-t"
    assert bench.salt["system.set_computer_name"]("saltern-t2") is True
    assert os.uname().nodename == "saltern-t2"


def test_a_name_no_machine_can_have_is_reported(bench: Bench) -> None:
    assert "cannot be the name of a host" in bench.refusal("computer_name", "two words")
    assert "cannot be the name of a host" in bench.refusal("hostname", "x; reboot")


def test_the_description_is_kept_among_what_else_is_known(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "machine-info"
    file.write_text("CHASSIS=server")
    monkeypatch.setattr(machine_info, "FILE", str(file))
    assert bench.salt["system.get_computer_desc"]() is False
    text = 'a "web" server, $5 \\ year'
    done = bench.change("computer_desc", text)
    assert done.changes == {"old": "", "new": text}
    assert file.read_text() == 'CHASSIS=server\nPRETTY_HOSTNAME="a \\"web\\" server, \\$5 \\\\ year"\n'
    shell = ["sh", "-c", f'. {file}; printf %s "$PRETTY_HOSTNAME"']
    assert subprocess.run(shell, capture_output=True, text=True, check=True).stdout == text
    bench.salt["system.set_computer_desc"]("other")
    assert bench.salt["system.get_computer_desc"]() == "other"
    file.write_text("PRETTY_HOSTNAME='plain $text'\n")
    assert bench.salt["system.get_computer_desc"]() == "plain $text"


def test_the_clock_is_reported_as_salt_tells_it(bench: Bench) -> None:
    salt = bench.salt
    assert salt["system.get_system_date_time"]("+0000") == "1970-01-12 13:46:40"
    assert salt["system.get_system_date_time"]("-0130") == "1970-01-12 12:16:40"
    assert salt["system.get_system_time"]("+0000") == "01:46:40 PM"
    assert salt["system.get_system_date"]("+0000") == "Mon 01/12/1970"
    assert isinstance(salt["system.get_system_date_time"](), str)
    with pytest.raises(BadArgument, match="such as"):
        salt["system.get_system_date"]("one hour")


def test_the_clock_is_set_by_date_and_the_hardware_follows(tmp_path: Path) -> None:
    """Recorded: setting the clock of the test machine would hurt everybody on it."""
    host = ScriptedHost({"date": Ran(0), "hwclock": Ran(0)})
    salt = Bench(tmp_path, system, functions={"system": functions}, host=host).salt
    assert salt["system.set_system_date_time"](hours=14, minutes=0, seconds=0, utc_offset="+0000") is True
    assert f"date --utc --set @{NOW + 13 * 60 + 20}" in host.asked
    assert salt["system.set_system_time"]("02:00 PM", "+0000") is True
    assert salt["system.set_system_date"]("1970-01-13", "+0000") is True
    assert host.asked.count(f"date --utc --set @{NOW + 86400}") == 1
    assert salt["system.set_system_time"]("teatime") is False
    with pytest.raises(BadArgument, match="needs a date"):
        salt["system.set_system_date"]("someday")
    with pytest.raises(BadArgument, match="no such time"):
        salt["system.set_system_date_time"](months=13)


def test_a_reboot_that_is_needed_is_remembered(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "REBOOT", str(tmp_path / "reboot-required"))
    assert bench.salt["system.get_reboot_required_witnessed"]() is False
    assert bench.salt["system.set_reboot_required_witnessed"]() is True
    assert bench.salt["system.get_reboot_required_witnessed"]() is True


def test_a_machine_without_a_clock_to_set_says_so(tmp_path: Path) -> None:
    salt = Bench(tmp_path, system, functions={"system": functions}, host=ScriptedHost({})).salt
    assert salt["system.has_settable_hwclock"]() is False
