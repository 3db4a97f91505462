from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.command import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """With files that other users may read, whatever umask the tests are run with."""
    before = os.umask(0o022)
    yield Place(tmp_path)
    os.umask(before)
