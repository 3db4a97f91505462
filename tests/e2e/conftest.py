from __future__ import annotations

import os
import tempfile
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


@pytest.fixture
def open_place() -> Iterator[Place]:
    """A place that other users can enter. Not below pytest's own directory: each session that starts takes
    that away from them again."""
    before = os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="saltern-") as folder:
        os.chmod(folder, 0o755)
        yield Place(Path(folder))
    os.umask(before)
