"""A controller that is away in the middle of a run: the run waits, continues, or fails and says why."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.render.fleet_kit import SECRET, Place

from saltern.fleet.agent.task import JobFolder

pytestmark = [pytest.mark.slow]

GATED = f"""#!controller|jinja|yaml
# {SECRET}
first:
  cmd.run:
    - name: touch PLACE/begun; while [ ! -e PLACE/go ]; do sleep 0.05; done; echo through
    - delayed_render: [{{block: later}}]
#!delayed_block later
# {SECRET}
second:
  cmd.run:
    - name: echo {{{{ prev_ret.changes.stdout }}}} >> PLACE/done
    - delayed_render: [{{block: last}}]
#!delayed_block last
third:
  test.show_notification:
    - text: after {{{{ prev_ret.__id__ }}}}
#!end_delayed_block
#!end_delayed_block
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    directory = Path(tempfile.mkdtemp(prefix="sr-")).resolve()  # short: it holds sockets
    here = Place(directory)
    try:
        here.fleet.start(("web1",))
        yield here
    finally:
        (directory / "go").touch()
        here.fleet.stop()
        shutil.rmtree(directory, ignore_errors=True)


def until(true: Callable[[], object], what: str, limit: float = 90.0) -> None:
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def begin(place: Place) -> str:
    """Submit the run, and wait until its first state has begun."""
    for name in ("begun", "go", "done"):
        (place.base / name).unlink(missing_ok=True)
    place.write("gated.sls", GATED.replace("PLACE", str(place.base)))
    with place.fleet.client() as client:
        jid: str = client.jobs.submit(function="state.apply", target="web1", args=["gated"])["jid"]
    until((place.base / "begun").exists, "the first state has not begun")
    return jid


def outcome(place: Place, jid: str) -> dict[str, Any]:
    """The states that the job has returned, by their IDs."""
    with place.fleet.client() as client:
        until(lambda: not client.jobs.get(jid)["open"], "the job has not ended")
    done = place.run("job", jid, "--out", "json")
    found = json.loads(done.stdout)["web1"]
    return {one["__id__"]: one for one in found.values()}


def test_a_run_waits_for_a_controller_that_was_killed(place: Place) -> None:
    jid = begin(place)
    place.fleet.end("controller", how=signal.SIGKILL)
    (place.base / "go").touch()
    until(
        lambda: "waiting for a controller to render" in _said(place, jid),
        "the run does not say that it waits",
    )
    place.fleet.start_controller()
    found = outcome(place, jid)
    assert [one["result"] for one in found.values()] == [True, True, True]
    assert found["third"]["comment"] == "after second"
    assert (place.base / "done").read_text() == "through\n"
    assert place.holders(SECRET, "web1") == []


def test_a_run_whose_worker_and_controller_were_killed_is_resumed_in_the_middle(place: Place) -> None:
    jid = begin(place)
    place.fleet.end("controller", how=signal.SIGKILL)
    (place.base / "go").touch()
    until(
        lambda: "waiting for a controller to render" in _said(place, jid),
        "the run does not say that it waits",
    )
    os.kill(_worker(place, jid), signal.SIGKILL)
    place.fleet.start_controller()
    found = outcome(place, jid)
    assert {name: one["result"] for name, one in found.items()} == {
        "first": True,
        "second": True,
        "third": True,
    }, {name: one["comment"] for name, one in found.items()}
    assert (place.base / "done").read_text() == "through\n", "it was rendered and run once"


def test_after_the_time_that_is_set_the_state_fails_with_that_reason(place: Place) -> None:
    _configure(place, "delayed_callback_timeout: 1\n")
    try:
        jid = begin(place)
        place.fleet.end("controller", how=signal.SIGKILL)
        (place.base / "go").touch()
        until(lambda: not _worker(place, jid), "the run has not ended")
        place.fleet.start_controller()
        found = outcome(place, jid)
    finally:
        _configure(place, "{}\n")  # tests may come in any order
    assert found["first"]["result"] is True
    assert found["later"]["result"] is False
    assert "no controller has answered for 1 seconds" in found["later"]["comment"]
    assert "[controller-away]" in found["later"]["comment"]
    assert "salt://gated.sls" in found["later"]["comment"]


def _configure(place: Place, text: str) -> None:
    """Start the agent anew with another configuration."""
    place.fleet.end("web1")
    place.fleet.write("web1/agent.yaml", text)
    place.fleet.run_agent("web1")


def _folder(place: Place, jid: str) -> Path | None:
    return next(iter(place.base.glob(f"web1/**/jobs/{jid}")), None)


def _said(place: Place, jid: str) -> str:
    folder = _folder(place, jid)
    return (folder / "err").read_text() if folder and (folder / "err").exists() else ""


def _worker(place: Place, jid: str) -> int:
    """The process of a job; 0 if there is none."""
    folder = _folder(place, jid)
    return JobFolder(str(folder)).lock.holder() if folder else 0
