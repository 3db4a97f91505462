"""What holds for every test process: runs of its own, no power switch, no clock that decides."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.groups import lies_on_disk, markers_of, time_by_folder
from tests.large_pages import keep_for_forks
from tests.memory import disk_directory, memory_directory, move_temporary_files, path_for
from tests.power_lock import lock_power

MEMORY = memory_directory()
if MEMORY and (ours := move_temporary_files(MEMORY)):
    atexit.register(shutil.rmtree, ours, ignore_errors=True)

# Before any test module is imported: some of them keep a copy of the environment. One machine has one lock
# for runs, and tests run beside each other.
os.environ["SALTERN_STATE_DIR"] = tempfile.mkdtemp(prefix="saltern-runs-")
atexit.register(shutil.rmtree, os.environ["SALTERN_STATE_DIR"], ignore_errors=True)
if made := lock_power():
    atexit.register(shutil.rmtree, made, ignore_errors=True)

# Whoever starts the tests in the background makes them, and all they start, deaf to an interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes depends on what else the machine does.
settings.register_profile("saltern", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("saltern")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Short paths for what a folder of tests shares: sockets lie there. And nothing that is collected is
    garbage: ``keep_for_forks`` looks for some afterwards."""
    gc.disable()
    if MEMORY and not config.option.basetemp:
        config.option.basetemp = os.path.join(tempfile.gettempdir(), "b")


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A directory that is gone after the test; in memory unless it is in ``ON_DISK``."""
    place = disk_directory() if lies_on_disk(request.node.nodeid) else tempfile.gettempdir()
    with path_for(request.node.name, place) as path:
        yield path


@pytest.fixture(autouse=True)
def temporary_files_on_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of a test in ``ON_DISK`` have their temporary files there, too."""
    if lies_on_disk(request.node.nodeid):
        monkeypatch.setenv("TMPDIR", disk_directory())
        monkeypatch.setattr(tempfile, "tempdir", disk_directory())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> object:
    from tests.units import UnitScheduling

    return UnitScheduling(config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in markers_of(item.nodeid):
            item.add_marker(name)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of collected tests stay to the end: neither the collector of garbage nor a fork need go
    through them each time."""
    keep_for_forks()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where the time goes: seconds of all processes, by folder."""
    reports = [one for some in terminalreporter.stats.values() for one in some]
    for line in time_by_folder(reports):
        terminalreporter.write_line(line)
