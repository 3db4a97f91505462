"""Three controllers with a broker each over one PostgreSQL: any process may be killed in the middle of a job.

``make chaos`` kills each of them; otherwise one a day, or the one that ``CHAOS_VICTIM`` names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from tests.fleet.controller.nine import Nine
from tests.fleet.harness import run
from tests.postgres_server import running_server

pytestmark = pytest.mark.slow
SYSTEMS = 60


@pytest.fixture
def nine(tmp_path: Path) -> Iterator[Nine]:
    with running_server() as server:
        made = Nine(tmp_path, server, light=SYSTEMS - 1)
        yield made
        made.clean_up()


def victims(nine: Nine) -> list[str]:
    every = list(nine.victims)
    if named := os.environ.get("CHAOS_VICTIM"):
        return [named]
    return every if os.environ.get("CHAOS_SECONDS") else [every[date.today().toordinal() % len(every)]]


@pytest.mark.timeout(0)
def test_any_process_is_killed_during_a_job_and_nothing_is_lost(nine: Nine) -> None:
    async def scenario() -> None:
        await nine.start()
        for victim in victims(nine):
            gap = await nine.kill_in_a_job(victim)
            print(
                f"killed {gap.victim}: the first of {SYSTEMS} returns was stored after {gap.first:.1f} s, "
                f"the last after {gap.last:.1f} s"
            )
        await nine.ping()
        await nine.stop()

    run(scenario(), timeout=1500)
