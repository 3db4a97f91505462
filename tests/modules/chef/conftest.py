from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.chef.runs import Chef
from tests.modules.engine import program


@pytest.fixture(params=["recorded", "real"])
def chef(request: pytest.FixtureRequest, tmp_path: Path) -> Chef:
    """Each test once with what a real Chef has said, and once with the Chef of the machine, if it has one."""
    if request.param == "recorded":
        return Chef(tmp_path, None)
    found = program("chef-client")
    if found is None:
        pytest.skip("needs Chef, which Debian does not have")
    return Chef(tmp_path, os.path.dirname(found))


@pytest.fixture
def real(tmp_path: Path) -> Chef:
    found = program("chef-client")
    if found is None:
        pytest.skip("needs Chef, which Debian does not have")
    return Chef(tmp_path, os.path.dirname(found))


@pytest.fixture
def recorded(tmp_path: Path) -> Chef:
    return Chef(tmp_path, None)
