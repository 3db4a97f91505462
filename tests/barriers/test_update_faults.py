"""Killed at every point of an update, the run comes to the same end.

Each build is a process of the test that believes to be of that version and slot; which one starts next is
what the link ``current`` says, as at boot. Real builds are in ``test_real_update``.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.barriers.machine import DOWN, KILLED, Site, chosen

import saltern
from saltern.durable.barriers import takeover
from saltern.modules.states import saltern as state
from saltern.system import build_slots

TOP = """
first:
  step.done: []
update:
  saltern.updated:
    - version: "2"
    - slots: @/opt
    - require:
      - step: first
after:
  step.done:
    - require:
      - saltern: update
whatever:
  step.done: []
"""
STEP = """
import saltern

def done(name):
    with open("@/log", "a") as file:
        file.write(f"{name} in build {saltern.__version__}\\n")
    return {"name": name, "result": True, "comment": "", "changes": {name: 1}}
"""
FILES = {"top.sls": TOP, "_states/step.py": STEP}
WHOLE = ["first in build 1", "after in build 2", "whatever in build 2"]
VERSIONS = {"slots/a": "1", "slots/b": "2"}


class Builds(Site):
    """``good``: the new build comes up."""

    good = True

    def prepare(self) -> None:
        (self.place / "opt/slots/a").mkdir(parents=True)
        (self.place / "opt/slots/b").mkdir(parents=True)
        build_slots.point_at(str(self.place / "opt"), "current", "slots/a")

    def _live(self, work: Any, kill_at: int | None, names: Path) -> None:
        root = str(self.place / "opt")
        slot = build_slots.in_use(root)
        sys.prefix = os.path.join(root, slot)
        saltern.__version__ = VERSIONS[slot]
        nothing: Any = lambda *_: None  # noqa: E731
        for name in ("install", "prove"):
            setattr(state, name, nothing)
        takeover._start_watchdog = nothing
        takeover._exec_build = lambda *_: os._exit(DOWN)
        if VERSIONS[slot] == "2" and not self.good:
            os._exit(1)
        super()._live(work, kill_at, names)


@pytest.fixture
def site(tmp_path: Path) -> Builds:
    made = Builds(tmp_path / "site", FILES)
    made.prepare()
    return made


def ended(site: Site) -> str:
    return site.state.status if site.state is not None else "unbegun"


def test_the_new_build_goes_on(site: Builds) -> None:
    site.begin()
    assert ended(site) == "updating"
    site.to_the_end()
    assert ended(site) == "succeeded"
    assert site.log == WHOLE


@pytest.mark.parametrize("process", range(2))
def test_killed_at_every_point_it_comes_to_the_same_end(site: Builds, tmp_path: Path, process: int) -> None:
    if process:
        site.begin()
    shutil.copytree(site.place, tmp_path / "kept", symlinks=True)
    run = site.go_on if process else site.begin
    run()
    points = list(site.points)
    for at in chosen(points):
        shutil.rmtree(site.place)
        shutil.copytree(tmp_path / "kept", site.place, symlinks=True)
        assert run(kill_at=at) == KILLED
        _ = site.begin() if ended(site) == "unbegun" else None
        site.to_the_end()
        assert ended(site) == "succeeded"
        assert list(dict.fromkeys(site.log)) == WHOLE
        assert build_slots.in_use(str(site.place / "opt")) == "slots/b"
    passed = {"update.arming", "update.marked", "update.watched", "update.switched", "barrier.kept"}
    assert ({"update.proven", "update.crossed"} if process else passed) <= set(points)


def test_a_mark_of_the_watchdog_is_believed(site: Builds) -> None:
    site.begin()
    root = str(site.place / "opt")
    assert site.state is not None
    build_slots.mark(root, build_slots.ROLLED_BACK, site.state.head["jid"], "it did not come up")
    build_slots.point_at(root, "current", "slots/a")
    site.to_the_end()
    assert ended(site) == "failed"
    assert site.log == ["first in build 1", "whatever in build 1"]
    assert not os.path.exists(os.path.join(root, build_slots.ROLLED_BACK))


def test_the_old_build_tries_three_times_and_no_more(site: Builds) -> None:
    """Nobody watches, the new build never comes up, and the old one is started each time."""
    site.begin()
    root = str(site.place / "opt")
    for _ in range(5):
        build_slots.point_at(root, "current", "slots/a")
        site.go_on()
        if ended(site) == "failed":
            break
    assert ended(site) == "failed"
    assert build_slots.in_use(root) == "slots/a"
    assert site.log == ["first in build 1", "whatever in build 1"]
