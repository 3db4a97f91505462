"""What holds for every test of chains."""

from __future__ import annotations

import pytest

from saltern.modules.lib.boots import reboot_needed


@pytest.fixture(autouse=True)
def no_reboot_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine of these tests has no witnesses: a package that others install meanwhile may ask for a
    reboot of the real one."""
    monkeypatch.setattr(reboot_needed, "WITNESSES", ())
