"""Reaction files on a fleet: what they leave behind is what they left behind on a real Salt 3008 master.

``runs/`` has the files, ``runs.json`` the marks after each event, as the minions of a master made them. With
CHAOS_SECONDS set (``make chaos``) a real master with three minions is asked again, and must leave the same.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.fleet_salt import SaltFleet, is_there
from tests.fleet.orchestration.kit import Site, site
from tests.fleet.orchestration.test_as_salt import SYSTEMS, TREE, files
from tests.fleet.reactor.run_kit import HERE, RUNS, Marks, after, data_of, reactor_map

from saltern.cli.local_fleet import CONFIG

SALT: dict[str, Marks] = json.loads((Path(__file__).parent / "runs.json").read_text())


@pytest.fixture(scope="module")
def here() -> Iterator[Site]:
    rows = [*reactor_map(), {"runs/round": [str(HERE / "round.sls")]}]
    config = f"{CONFIG}reactor: {json.dumps(rows)}\nreactor_depth: 3\n"
    with site(SYSTEMS, files(), config=config) as found:
        yield found


@pytest.mark.parametrize("name", RUNS)
def test_marks_are_those_of_salt(here: Site, name: str) -> None:
    run, place = RUNS[name], here.base / "marks" / name.replace(" ", "-")

    def begin() -> None:
        words = ["call", run.job, str(place), "--on", "web2"] if run.job else ["events", "send", run.tag]
        done = here.run(*words, *([] if run.job else [json.dumps(data_of(run, place))]))
        assert done.returncode == 0, done

    assert after(place, SALT[name], begin) == SALT[name], here.run("reactor").stdout


def test_a_reaction_that_sends_its_own_event_is_stopped(here: Site) -> None:
    """By a runner, as people do it; with Salt it would continue for ever."""
    assert here.run("events", "send", "runs/round").returncode == 0

    def rows() -> list[dict[str, Any]]:
        with here.fleet.client() as client:
            return [row for row in client.reactor.reactions() if row["tag"] == "runs/round"]

    def statuses() -> list[str]:
        return sorted(row["status"] for row in rows())

    here.fleet.wait(
        "the end of the reactions", lambda: "stopped" in statuses() and "running" not in statuses()
    )
    assert statuses() == ["done", "done", "done", "stopped"]
    assert "it triggers itself" in next(row["why"] for row in rows() if row["status"] == "stopped")


def test_every_file_is_run() -> None:
    assert set(SALT) == set(RUNS)
    assert len({name for run in RUNS.values() for name in run.files}) >= 9


@pytest.mark.skipif("CHAOS_SECONDS" not in os.environ or not is_there(), reason="make chaos, with Salt")
@pytest.mark.timeout(900)
def test_a_real_master_still_leaves_the_same() -> None:
    place = Path(tempfile.mkdtemp(prefix="sr-"))
    shutil.copytree(TREE, place / "states")
    rows = json.dumps(reactor_map()).replace("{", "{{").replace("}", "}}")
    salt = SaltFleet(place, place / "states", more=f"loop_interval: 1\nreactor: {rows}\n")
    try:
        salt.start(SYSTEMS)
        for name, run in RUNS.items():
            marked = place / "marks" / name.replace(" ", "-")
            words = ["salt-run", "event.send", run.tag, f"data={json.dumps(data_of(run, marked))}"]
            ask = ["salt", "web2", run.job, str(marked)] if run.job else words
            assert after(marked, SALT[name], lambda ask=ask: salt.command(*ask)) == SALT[name], name  # type: ignore[misc]
    finally:
        salt.stop()
        shutil.rmtree(place, ignore_errors=True)
