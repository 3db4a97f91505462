"""One zygote for all examples that a worker runs; and ``tools``, which is not installed."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parent.parent.parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from tests.modules.examples.zygote import Client  # noqa: E402


@pytest.fixture(scope="session")
def zygote() -> Iterator[Client]:
    if os.geteuid():
        pytest.skip("a throw-away copy of the machine needs root")
    if shutil.which("dpkg") is None:
        pytest.skip("the examples are for a Debian machine")
    scratch = tempfile.mkdtemp(prefix="saltern-t-examples-")
    client = Client(Path(scratch))
    try:
        if why := client.useless():
            pytest.skip(why)
        yield client
    finally:
        client.close()
        os.rmdir(scratch)
