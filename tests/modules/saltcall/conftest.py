from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.engine import Engine, program

from saltern.modules.states import saltcall


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    found = program("salt-call")
    if found is None:
        pytest.skip("needs Salt: make salt")
    roots = {"base": [str(tmp_path / "states")]}
    return Engine(
        tmp_path, saltcall, "apply", bin_dir=os.path.dirname(found), file_roots=roots, pillar_roots={}
    )
