"""Builds that go wrong, each in its own way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

OLD, NEW, BROKEN, HANGING, MUTE = "9.0.1", "9.0.2", "9.0.3", "9.0.4", "9.0.5"


def ends(package: Path) -> None:
    """It starts and reads journals, and dies when it is to continue."""
    _spoil_resume(package, "raise SystemExit('no')")


def hangs(package: Path) -> None:
    _spoil_resume(package, "__import__('time').sleep(1000)")


def _spoil_resume(package: Path, line: str) -> None:
    """``saltern resume`` and ``saltern chain resume`` do what the line says; other commands work."""
    (package / "cli" / "resume.py").write_text(f"{line}\n")
    with (package / "cli" / "chain.py").open("a") as file:
        file.write(f"\nif 'resume' in __import__('sys').argv:\n    {line}\n")


def reads_nothing(package: Path) -> None:
    """It starts, and cannot read what the old one has written."""
    (package / "cli" / "show.py").write_text("raise SystemExit('unknown format')\n")


SPOILT: Mapping[str, Callable[[Path], None] | None] = {
    OLD: None,
    NEW: None,
    BROKEN: ends,
    HANGING: hangs,
    MUTE: reads_nothing,
}
