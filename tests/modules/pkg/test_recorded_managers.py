"""dnf, zypper, pacman and apk, by what the real ones said (``recorded``), where they are not installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules.pkg.recording import RECORDED, Player
from tests.modules.pkg.scenarios import SCENARIOS
from tests.modules.pkg.shops import SHOPS, RecordedShop

from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.choose import Row

BY_NAME = {one.__name__: one for one in SCENARIOS}
RECORDINGS = sorted(RECORDED.glob("*/*.txt"))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_manager_is_understood(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = path.parent.name.partition("-")[0]
    real = next(shop for shop in SHOPS if shop.tool == tool)
    row = next(row for row in choose.MANAGERS if row.name == tool)

    def only_this(*_: object) -> Row:
        return row

    monkeypatch.setattr(choose, "choose", only_this)
    BY_NAME[path.stem](RecordedShop(real, Player(path)))


def test_every_tool_was_recorded() -> None:
    there = {path.parent.name.partition("-")[0] for path in RECORDINGS}
    assert there == {shop.tool for shop in SHOPS}
