"""Salt's recorded answers against the command line; one process runs them all, each is a test."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SUITE = HERE / "suite"
SEEDS = 100

# Where saltern differs from Salt on purpose: the case, the number of the decision in the table of the
# state language's spec, and our own case that holds our answer.
DEPARTURES: dict[str, tuple[str, str]] = {
    "failhard-watch": ("9", "a_failed_watcher_marked_failhard_ends_the_run"),
    "watch-failing-watcher": ("9", "a_failed_first_run_is_not_hidden_by_the_reaction"),
    "fuzz-30": ("9", "a_failed_watcher_behind_watch_in_stays_failed"),
    "test-mode-prereq-fails": ("10", "a_prereq_owner_that_would_fail_blocks_its_target"),
    "listen-missing": ("12", "listening_to_nobody_does_not_compile"),
    "listen-in-missing": ("12", "listen_in_for_nobody_is_a_warning"),
    "fuzz-32": ("14", "unknown_target_is_a_warning"),
    "fuzz-67": ("14", "unknown_target_is_a_warning"),
    "require-glob-no-match": ("15", "a_glob_that_matches_nothing_is_a_warning"),
    "order-quoted-number": ("30", "a_quoted_order_is_a_number"),
    "fuzz-4": ("33", "show_high_refuses_what_does_not_compile"),
    "fuzz-78": ("spec 4.2", "an_sls_requisite_pulls_what_the_file_includes"),
}

Row = dict[str, object]


def names() -> list[str]:
    cases = sorted(path.parent.name for path in SUITE.glob("cases/*/case.yaml"))
    return [*cases, *(f"fuzz-{seed}" for seed in range(SEEDS))]


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """The whole suite, run once even where several workers test side by side."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    report = shared / "conformance.json"
    with open(shared / "conformance.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not report.exists():
            _run(report)
    return {row["name"]: row for row in json.loads(report.read_text())["rows"]}


def _run(report: Path) -> None:
    command = [sys.executable, "-m", "tests.conformance.forked", "--recorded", "--fuzz", f"0-{SEEDS - 1}"]
    command += ["--json", str(report), "--min", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def _lines(diff: object) -> list[str]:
    return [str(line) for line in diff] if isinstance(diff, list) else []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", names())
def test_saltern_answers_as_salt_does_or_departs_by_decision(name: str, rows: dict[str, Row]) -> None:
    row = rows[name]
    diff = "\n".join(_lines(row.get("diff")))
    assert not row.get("skipped"), row["skipped"]
    assert not diff.startswith("engine:"), diff
    if name in DEPARTURES:
        assert not row["ok"], f"{name} agrees with Salt by now: take it off the list of departures"
    elif not row["disputed"]:
        assert row["ok"], diff


def test_every_departure_is_a_case_that_counts_and_has_a_case_of_our_own() -> None:
    own = {path.stem for path in HERE.glob("cases/**/*.case")}
    for name, (_, case) in DEPARTURES.items():
        assert name in names()
        assert case in own, f"{name} needs cases/departures/{case}.case"
