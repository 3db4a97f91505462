"""The harness that measures a fleet runs, and writes its rows; what it measures is not judged here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[3] / "bench" / "fleet.py"


def _bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BENCH), *words], capture_output=True, text=True, timeout=900, check=False
    )


def test_the_bench_of_a_fleet_writes_a_row_for_each_figure(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    done = _bench("--quick", "--agents", "3", "--only", "ping", "--json", str(file))
    assert done.returncode in (0, 1), done.stderr
    rows = json.loads(file.read_text())
    assert [row["name"].partition(",")[0] for row in rows] == [
        "ping of 3 light agents",
        "controller CPU for each stored return",
    ]
    for row in rows:
        assert row["value"] > 0
        assert row["holds"] == (row["value"] <= row["limit"])
    assert len(done.stdout.splitlines()) == len(rows)
    assert done.returncode == (0 if all(row["holds"] for row in rows) else 1)


def test_agents_that_lose_the_broker_at_once_come_back_and_lose_no_return(tmp_path: Path) -> None:
    """A thousand of them with ``make chaos``."""
    file = tmp_path / "rows.json"
    count = "1000" if "CHAOS_SECONDS" in os.environ else "20"
    done = _bench("--quick", "--agents", count, "--only", "herd", "--json", str(file))
    (row,) = json.loads(file.read_text())
    assert (done.returncode, row["value"]) == (0, 0), done.stderr
    print(row)


def test_a_part_that_is_not_there_is_refused_with_those_that_are() -> None:
    done = _bench("--only", "pong")
    assert done.returncode == 2
    assert "no part is called 'pong'" in done.stderr
    assert "ping" in done.stderr
