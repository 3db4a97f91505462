"""What holds for every test process: runs of its own, no power switch, no clock that decides."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.groups import lies_in_memory, markers_of, time_by_folder
from tests.memory import memory_directory, memory_path
from tests.power_lock import lock_power

MEMORY = memory_directory()

# Before any test module is imported: some of them keep a copy of the environment. One machine has one lock
# for runs, and tests run beside each other.
os.environ["SALTERN_STATE_DIR"] = tempfile.mkdtemp(prefix="saltern-runs-", dir=MEMORY or None)
atexit.register(shutil.rmtree, os.environ["SALTERN_STATE_DIR"], ignore_errors=True)
if made := lock_power():
    atexit.register(shutil.rmtree, made, ignore_errors=True)

# Whoever starts the tests in the background makes them, and all they start, deaf to an interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes depends on what else the machine does.
settings.register_profile("saltern", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("saltern")


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """pytest's own, or one in memory: ``IN_MEMORY`` in ``tests/groups.py`` says whose."""
    if MEMORY and lies_in_memory(request.node.nodeid):
        with memory_path(MEMORY, request.node.name.partition("[")[0]) as path:
            yield path
    else:
        yield request.getfixturevalue("tmp_path")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in markers_of(item.nodeid):
            item.add_marker(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where the time goes: seconds of all processes, by folder."""
    reports = [one for some in terminalreporter.stats.values() for one in some]
    for line in time_by_folder(reports):
        terminalreporter.write_line(line)
