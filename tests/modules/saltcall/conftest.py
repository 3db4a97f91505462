from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.engine import SALT, Engine, program

from saltern.modules.states import saltcall


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Salt of ``make salt``, which has no environment of its own, or else the machine's."""
    own = SALT / "bin" / "salt-call"
    found = str(own) if own.exists() else program("salt-call")
    if found is None:
        pytest.skip("needs Salt: make salt")
    env = {"PYTHONPATH": str(SALT)} if own.exists() else {}
    roots = {"base": [str(tmp_path / "states")]}
    return Engine(
        tmp_path,
        saltcall,
        "apply",
        bin_dir=os.path.dirname(found),
        env=env,
        file_roots=roots,
        pillar_roots={},
    )
