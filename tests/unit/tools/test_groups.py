"""The groups of tests: given by folder, and folders that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests import groups

ROOT = Path(groups.__file__).parent.parent
UNITS = {path for paths in groups.UNITS.values() for path in paths}
LOCKED = re.compile(r"^from tests\.modules\.bench import .*\balone\b", re.MULTILINE)
PATHS = {*groups.SLOW, *groups.REAL, *groups.ON_DISK, *groups.LONGEST, *UNITS}


@pytest.mark.parametrize("path", sorted(PATHS))
def test_every_path_of_the_tables_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_a_test_has_the_markers_of_its_folder() -> None:
    assert [*groups.markers_of("tests/vm/test_boot.py::test_it")] == ["slow", "real"]
    assert [*groups.markers_of("tests/unit/plan/test_make.py::test_it")] == []
    assert [*groups.markers_of("tests/fault_free/test_it.py::test_it")] == []


def test_a_long_file_with_few_tests_begins_before_many_short_tests() -> None:
    units = {"tests/unit/plan/test_make.py": 500, "tests/fleet/ssh/test_deploy.py": 1, "salt": 20}
    assert groups.longest_first(units) == [
        "salt",
        "tests/fleet/ssh/test_deploy.py",
        "tests/unit/plan/test_make.py",
    ]


def test_what_changes_the_machine_one_test_at_a_time_is_run_by_one_process() -> None:
    """Else processes would wait for each other's lock."""
    files = (path for path in (ROOT / "tests").rglob("test_*.py") if LOCKED.search(path.read_text()))
    units = {groups.unit_of(f"{path.relative_to(ROOT)}::test_it") for path in files}
    assert units == {"machine"}


def test_the_time_of_a_folder_is_that_of_all_its_tests() -> None:
    class Report:
        def __init__(self, nodeid: str, duration: float) -> None:
            self.nodeid, self.duration = nodeid, duration

    reports = [Report("tests/a/b/test_x.py::one", 40.0), Report("tests/a/b/test_y.py::two", 30.0)]
    assert [*groups.time_by_folder(reports[:1])] == []
    assert [*groups.time_by_folder([*reports, object()])] == [
        "where the time went, 70 s of all processes:",
        "      70 s  tests/a/b",
    ]
