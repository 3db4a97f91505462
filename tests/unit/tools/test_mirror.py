"""The tests of a folder of the source are found by its name."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src/saltern"
# Folders whose parts are folders of tests, too.
PARTED = ("", "fleet", "modules")
# Folders that are tested only as a whole, by the commands that use them. The list can only get shorter.
ELSEWHERE = {
    "durable": "tests/fault",
    "fleet/client": "tests/fleet/cli",
    "fleet/remote": "tests/fleet/orchestration",
    "modules/states": "tests/modules",
    "planfile": "tests/e2e/test_plans.py",
}


def _folders() -> list[str]:
    return [
        one.relative_to(SOURCE).as_posix()
        for above in PARTED
        for one in sorted((SOURCE / above).iterdir())
        if one.is_dir() and any(one.glob("*.py"))
    ]


def _mirrored(folder: str) -> bool:
    return any((ROOT / "tests" / kind / folder).is_dir() for kind in ("unit", ""))


def test_every_folder_of_the_source_has_a_folder_of_tests() -> None:
    missing = [one for one in _folders() if not _mirrored(one) and one not in ELSEWHERE]
    assert missing == [], "make tests/unit/FOLDER with a test of it"


def test_no_exception_is_left_that_is_not_needed() -> None:
    assert [one for one in ELSEWHERE if one not in _folders() or _mirrored(one)] == []
    assert [where for where in ELSEWHERE.values() if not (ROOT / where).exists()] == []


def test_every_folder_of_unit_tests_is_that_of_a_folder_of_the_source() -> None:
    tests = ROOT / "tests/unit"
    known = [one.relative_to(tests).as_posix() for one in tests.rglob("*") if any(one.glob("test_*.py"))]
    assert [one for one in known if one != "tools" and not (SOURCE / one).is_dir()] == []
