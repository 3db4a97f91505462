"""``pkg`` on this machine, with a package nobody needs. Needs root, a network, and Debian."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench, needs_root

from saltern.modules.states import pkg

NAME = "sl"


@pytest.fixture
def absent() -> Iterator[None]:
    """A package that is to be had, and not here; gone again afterwards."""
    known = subprocess.run(["apt-cache", "policy", NAME], capture_output=True, text=True).stdout
    if "Installed: (none)" not in known or "Candidate: (none)" in known:
        pytest.skip(f"{NAME} is installed, or not to be had")
    yield
    wait = ["-o", "DPkg::Lock::Timeout=300"]
    subprocess.run(["apt-get", "-q", "-y", *wait, "purge", NAME], capture_output=True, check=True)


@pytest.mark.timeout(600)
@needs_root("apt-get", "dpkg-query")
def test_a_package_comes_and_goes(tmp_path: Path, absent: None) -> None:
    bench = Bench(tmp_path, pkg)
    done = bench.change("installed", NAME, refresh=False)
    assert NAME in done.changes
    bench.same("latest", NAME, refresh=False)
    bench.change("held", NAME)
    bench.change("unheld", NAME)
    bench.change("removed", NAME)
    bench.same("removed", NAME)
