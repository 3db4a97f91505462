from __future__ import annotations

import os
import time

import pytest

from saltern.config.settings import Settings
from saltern.facts import boots
from saltern.facts.grains import Grains
from saltern.system import reboot_due
from saltern.system.boot import text_of

STAT = "cpu  1 2 3\nbtime 1794967600\nprocesses 9\n"


def test_a_boot_is_when_process_1_began() -> None:
    assert boots.boot_time(STAT, "805", 100) == 1794967608
    assert boots.boot_time(STAT, "", 100) == 1794967600, "process 1 cannot be seen"
    assert boots.boot_time("", "805", 100) is None


def test_this_machine_has_booted_and_says_when() -> None:
    grains = Grains(Settings())
    uptime = float(text_of("/proc/uptime").split()[0])
    assert time.time() - uptime - 60 <= grains["booted_at"] <= time.time()  # type: ignore[operator]
    assert grains["reboot_due"] is bool(grains["reboot_reasons"])


def test_files_say_that_a_reboot_is_due(monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]) -> None:
    flag, packages = os.path.join(tmp_path, "required"), os.path.join(tmp_path, "pkgs")
    monkeypatch.setattr(reboot_due, "FLAGS", (flag,))
    monkeypatch.setattr(reboot_due, "PACKAGES", packages)
    before = boots.due(Settings())["reboot_reasons"]
    for path, text in ((flag, ""), (packages, "linux-image\nlibc6\nlibc6\n")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    found = boots.due(Settings())
    assert found["reboot_due"] is True
    assert found["reboot_reasons"] == [f"{flag} exists (requested by libc6, linux-image)", *before]  # type: ignore[misc]


def test_libraries_that_were_replaced_are_a_reason() -> None:
    gone = "7f00-7f01 r-xp 0 08:01 12 /usr/lib/libc.so.6 (deleted)\n"
    kept = "7f00-7f01 r-xp 0 08:01 12 /usr/lib/libm.so.6\n"
    assert reboot_due.library_reasons(kept) == []
    assert reboot_due.library_reasons(kept + gone) == [
        "process 1 uses /usr/lib/libc.so.6, replaced since it started"
    ]
