"""Builds are made once for all tests of a process."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.barriers.builds import SPOILT
from tests.barriers.wheels import build, pack_dependencies


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheels")
    for version, spoil in SPOILT.items():
        build(place, version, spoil)
    pack_dependencies(place)
    return place
