"""``saltern install-service``: what starts the resume at boot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from saltern.cli.install_service import configuration
from saltern.cli.main import run
from saltern.system import services


def test_it_writes_a_unit_and_an_init_script_below_the_root(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["install-service", "--root", str(tmp_path)]) == 0
    unit = (tmp_path / "etc/systemd/system/saltern-resume.service").read_text()
    assert f"ExecStart={sys.executable} -P -m saltern resume --boot\n" in unit
    assert os.access(tmp_path / "etc/init.d/saltern-resume", os.X_OK)
    assert (tmp_path / "etc/rc2.d/S99saltern-resume").resolve().name == "saltern-resume"
    assert services.is_installed(str(tmp_path))
    assert "wrote /etc/init.d/saltern-resume" in capsys.readouterr().out


def test_a_second_time_it_changes_nothing(tmp_path: Path) -> None:
    assert services.install(str(tmp_path))
    assert services.install(str(tmp_path)) == []


def test_it_can_be_taken_away(tmp_path: Path) -> None:
    services.install(str(tmp_path), slots="/opt/saltern")
    assert run(["install-service", "--root", str(tmp_path), "--slots", "/opt/saltern", "--remove"]) == 0
    assert [name for _, _, names in os.walk(tmp_path) for name in names] == []


def test_a_root_that_is_not_there_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["install-service", "--root", str(tmp_path / "no")]) == 1
    assert "there is no such directory" in capsys.readouterr().err


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    services.install(str(tmp_path))
    unit = str(tmp_path / "etc/systemd/system/saltern-resume.service")
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert "saltern-resume" not in done.stderr, done.stderr


def _slots(place: Path, *, starts: bool) -> Path:
    """Two builds that say which they are; the current one starts or does not."""
    for name, good in (("a", True), ("b", starts)):
        program = place / "slots" / name / "bin" / "python"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\n{"" if good else "exit 1"}\necho "{name} $*"\n')
        program.chmod(0o755)
    (place / "current").symlink_to("slots/b")
    (place / "previous").symlink_to("slots/a")
    (place / "updating").write_text('{"jid": "1", "why": ""}')
    return place


@pytest.mark.parametrize(("starts", "build"), [(True, "b"), (False, "a")])
def test_at_boot_a_new_build_that_does_not_start_is_put_back(
    tmp_path: Path, starts: bool, build: str
) -> None:
    place = _slots(tmp_path / "opt", starts=starts)
    launcher = tmp_path / "launcher"
    launcher.write_text(services.LAUNCHER.format(slots=place, options=""))
    done = subprocess.run(["/bin/sh", str(launcher)], capture_output=True, text=True)
    assert done.stdout == f"{build} -P -m saltern resume --boot\n"
    assert (place / "rolled-back").exists() is not starts
    assert os.readlink(place / "current") == f"slots/{build}"


def test_the_service_uses_the_configuration_that_is_given(tmp_path: Path) -> None:
    config = tmp_path / "my config.yaml"
    config.write_text("id: web1\n")
    root = tmp_path / "root"
    root.mkdir()
    assert run(["install-service", "--root", str(root), "--config", str(config)]) == 0
    unit = (root / "etc/systemd/system/saltern-resume.service").read_text()
    script = (root / "etc/init.d/saltern-resume").read_text()
    assert f'resume --boot --config "{config}"\n' in unit
    assert f"resume --boot --config '{config}' </dev/null" in script


def test_the_launcher_of_slots_uses_it_too(tmp_path: Path) -> None:
    services.install(str(tmp_path), slots="/opt/saltern", config="/srv/saltern.yaml")
    launcher = (tmp_path / "opt/saltern/at-boot").read_text()
    assert launcher.endswith("-m saltern resume --boot --config /srv/saltern.yaml\n")


def test_the_service_uses_the_file_that_commands_use_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "saltern.yaml").write_text("id: web1\n")
    monkeypatch.chdir(tmp_path)
    assert configuration(None, "/") == str(tmp_path / "saltern.yaml")
    assert configuration(None, str(tmp_path)) == ""
