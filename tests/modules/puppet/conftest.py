from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.engine import Engine, program

from saltern.modules.states import puppet


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Puppet with all it keeps below the test's directory."""
    found = program("puppet")
    if found is None:
        pytest.skip("needs Puppet: the Debian package puppet-agent")
    own = {"confdir": str(tmp_path / "conf"), "vardir": str(tmp_path / "var")}
    return Engine(tmp_path, puppet, "apply", bin_dir=os.path.dirname(found), **own)
