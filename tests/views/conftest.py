from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.views import trees
from tests.views.browser import PROGRAM, Page, browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[Page]:
    if PROGRAM is None:
        pytest.skip("chromium is not installed")
    with browser() as page:
        yield page


@pytest.fixture
def page(chromium: Page) -> Iterator[Page]:
    """A page; what its script complains of fails the test."""
    chromium.complaints.clear()
    yield chromium
    assert chromium.complaints == []


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SALTERN_STATE_DIR", str(tmp_path / "state"))
    return trees.site(tmp_path / "states")
