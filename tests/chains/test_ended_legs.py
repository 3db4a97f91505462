"""Legs that ended so long ago that their journals were removed: an order about one is answered, not run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.chains.machine import MEMORY

from saltern.chains.legs import Legs
from saltern.chains.order_numbers import KEPT, OrderNumbers
from saltern.cli import worker_leg
from saltern.cli.worker_follower import JobFollower
from saltern.config.settings import Settings
from saltern.fleet.agent.task import JobFolder, Task

TEXT = "chain: c\nactions:\n  - {id: a, command: 'echo a >> BASE/log'}\n  - {id: b, command: 'false'}\n"


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Where a sync costs nothing."""
    folder = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="saltern-ended-", dir=folder) as base:
        yield Path(base)


class System:
    """Keeps the journals of two legs."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.settings = Settings(
            id="web1", state_dir=str(base / "state"), cachedir=str(base / "cache"), keep_runs=2
        )

    def order(self, run: str, number: int = 1, verb: str = "run") -> dict[str, Any]:
        """Carry out an order of a controller; the leg as it is reported."""
        text = TEXT.replace("BASE", str(self.base))
        asked = worker_leg.Asked(run=run, order=number, verb=verb, text=text)
        folder = self.base / f"job-{run}-{number}-{verb}"
        folder.mkdir(exist_ok=True)
        follower = JobFollower(JobFolder(str(folder)), Task(jid=run, function="chain.leg"))
        return worker_leg.carry_out(self.settings, asked, follower)

    def log(self) -> list[str]:
        return (self.base / "log").read_text().split()


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path)


def statuses(report: dict[str, Any]) -> tuple[str, list[str]]:
    return report["status"], [row["status"] for row in report["steps"]]


@pytest.mark.parametrize(("number", "verb"), [(1, "run"), (2, "retry"), (2, "cancel")])
def test_36_an_order_about_a_leg_whose_journal_is_gone_is_answered_and_not_run(
    system: System, number: int, verb: str
) -> None:
    first = system.order("r0")
    assert statuses(first) == ("failed", ["succeeded", "failed"])
    for later in range(1, 5):
        system.order(f"r{later}")
    assert len(system.log()) == 5
    assert all(one.head["token"] != "r0.web1" for one in Legs(system.settings).all()), "it is gone"
    again = system.order("r0", number, verb)
    assert statuses(again) == statuses(first) and (again["seq"], again["order"]) == (first["seq"], number)
    assert "its journal was removed" in again["waits_for"]
    assert len(system.log()) == 5, "nothing is run again"


def test_36_ends_are_kept_for_as_many_legs_as_numbers(tmp_path: Path) -> None:
    for number in range(KEPT + 3):
        one = OrderNumbers(str(tmp_path), f"t{number}")
        with one.take(1, "run") as counts:
            assert counts
        one.note_end({"status": "succeeded", "steps": []})
    one.prune()
    assert len(list((tmp_path / "ordered").iterdir())) == 3 * KEPT
    assert one.end() == {"status": "succeeded", "steps": []}
