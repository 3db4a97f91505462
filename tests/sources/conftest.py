from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.command import Place

from saltern.language import secrets


@pytest.fixture(autouse=True)
def _no_secrets() -> Iterator[None]:
    """Those of one test are none of the next."""
    yield
    secrets.forget()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
