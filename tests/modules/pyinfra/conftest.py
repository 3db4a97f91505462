from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.engine import Engine, program

from saltern.modules.states import pyinfra


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    found = program("pyinfra")
    if found is None:
        pytest.skip("needs pyinfra: make engines")
    return Engine(tmp_path, pyinfra, "deploy", bin_dir=os.path.dirname(found))
