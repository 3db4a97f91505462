"""One server for all tests that do not need one of their own; each has a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.lsp.editor import Editor, editing


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    with editing(tmp_path_factory.mktemp("folder"), {}) as editor:
        yield editor
