"""Builds are made once for all tests of a process."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.barriers.builds import SPOILT
from tests.barriers.wheels import build, pack_dependencies

from saltern.modules.lib.boots import reboot_needed


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheels")
    for version, spoil in SPOILT.items():
        build(place, version, spoil)
    pack_dependencies(place)
    return place


@pytest.fixture(autouse=True)
def only_the_kernel_asks_for_a_reboot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others look at the real machine, which a package that other tests install may ask to reboot."""
    monkeypatch.setattr(reboot_needed, "WITNESSES", (reboot_needed.old_kernel,))
