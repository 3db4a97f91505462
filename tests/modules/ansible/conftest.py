from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.ansible.plays import Plays, program


@pytest.fixture(scope="session")
def place() -> str:
    """The directory of Ansible's programs."""
    found = program()
    if found is None:
        pytest.skip("needs ansible-core: make engines")
    return os.path.dirname(found)


@pytest.fixture
def plays(tmp_path: Path, place: str) -> Plays:
    return Plays(tmp_path, place)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, place: str) -> Plays:
    """One run for many tests that only look."""
    return Plays(tmp_path_factory.mktemp("ansible"), place)
