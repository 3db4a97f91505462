from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.engine import Engine, program

from saltern.modules.states import terraform


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Terraform as it is on this machine, without a configuration of its own: no provider is downloaded."""
    found = program("terraform")
    if found is None:
        pytest.skip("needs Terraform, which Debian does not have")
    env = {"TF_CLI_CONFIG_FILE": "/dev/null", "CHECKPOINT_DISABLE": "1"}
    return Engine(tmp_path, terraform, "apply", bin_dir=os.path.dirname(found), program="terraform", env=env)
