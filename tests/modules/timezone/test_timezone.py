"""``timezone`` on copies of the files that say it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.bench import Bench

from saltern.modules.functions import timezone as timezone_functions
from saltern.modules.lib.tables import clock
from saltern.modules.states import timezone


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    zones = tmp_path / "usr" / "zoneinfo"
    for name in ("Etc/UTC", "Europe/Berlin"):
        (zones / name).parent.mkdir(parents=True, exist_ok=True)
        (zones / name).write_text("TZif")
    (tmp_path / "localtime").symlink_to(zones / "Etc/UTC")
    (tmp_path / "timezone").write_text("Etc/UTC\n")
    for name in ("LOCALTIME", "TIMEZONE", "ADJTIME"):
        monkeypatch.setattr(clock, name, str(tmp_path / name.lower()))
    monkeypatch.setattr(clock, "ZONES", str(zones))
    return Bench(tmp_path, timezone, functions={"timezone": timezone_functions})


def test_the_zone_is_set_everywhere_it_is_kept(bench: Bench, tmp_path: Path) -> None:
    done = bench.change("system", "Europe/Berlin")
    assert done.changes == {"timezone": "Europe/Berlin"}
    assert done.data == {"timezone": "Europe/Berlin", "utc": True}
    assert os.readlink(tmp_path / "localtime") == f"{tmp_path}/usr/zoneinfo/Europe/Berlin"
    assert (tmp_path / "timezone").read_text() == "Europe/Berlin\n"


def test_the_hardware_clock_keeps_local_time_if_told(bench: Bench, tmp_path: Path) -> None:
    assert bench.change("system", "Etc/UTC", utc=False).changes == {"utc": False}
    assert (tmp_path / "adjtime").read_text() == "0.0 0 0.0\n0\nLOCAL\n"
    bench.change("system", "Etc/UTC", utc=True)


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    for name in ("Mars/Olympus", "../../etc/passwd", "/etc/passwd"):
        assert "no time zone is called" in bench.refusal("system", name)


def test_functions_look_and_set(bench: Bench) -> None:
    salt = bench.salt
    assert salt["timezone.get_zone"]() == "Etc/UTC" and salt["timezone.get_hwclock"]() == "UTC"
    assert salt["timezone.set_zone"]("Europe/Berlin") and salt["timezone.zone_compare"]("Europe/Berlin")
    assert salt["timezone.set_hwclock"]("localtime") and salt["timezone.get_hwclock"]() == "localtime"
