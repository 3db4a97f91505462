"""Updates that do not go as planned. Numbers are items of the list of faults in the design of chains."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from tests.barriers.machine import Site
from tests.barriers.test_reboot_edges import AFTER
from tests.barriers.test_reboot_runs import ALWAYS
from tests.barriers.test_update_faults import FILES, WHOLE, Builds, ended
from tests.modules.system.test_reboot_state import called

import saltern
from saltern.chains.legs import Legs
from saltern.durable.barriers.records import append_record
from saltern.durable.barriers.watchdog import Watch, watch
from saltern.journal.runs import Runs
from saltern.language.result import Outcome
from saltern.system import build_slots


@pytest.fixture
def site(tmp_path: Path) -> Builds:
    made = Builds(tmp_path / "site", FILES)
    made.prepare()
    return made


def task(site: Builds, *, deadline: float = 0.2) -> Watch:
    """A watchdog over a process that is gone."""
    assert site.state is not None
    return Watch(
        state_dir=site.settings.state_dir,
        run=site.state.head["jid"],
        pid=2**22 - 1,
        started="0",
        slots=str(site.place / "opt"),
        deadline=deadline,
    )


def test_26_what_runs_is_what_counts_and_not_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk = saltern.__version__
    monkeypatch.setattr(saltern, "__version__", "0.0.1")  # the package was replaced under a process
    result = called(tmp_path, "saltern.updated", {"version": on_disk, "slots": str(tmp_path)}, test=True)
    assert result.outcome is Outcome.WOULD_CHANGE
    assert result.changes == {"saltern": {"old": "0.0.1", "new": on_disk}}


def test_29_a_watchdog_that_fires_after_success_does_nothing(site: Builds) -> None:
    site.begin()
    site.to_the_end()
    for _ in range(2):
        watch(task(site))
    assert build_slots.in_use(str(site.place / "opt")) == "slots/b"
    assert sorted(os.listdir(site.place / "opt")) == ["current", "previous", "slots"]
    assert site.log == WHOLE


def test_29_a_watchdog_that_fires_late_finds_that_it_was_given_up(site: Builds) -> None:
    site.begin()
    root = str(site.place / "opt")
    assert site.state is not None
    build_slots.mark(root, build_slots.ROLLED_BACK, site.state.head["jid"], "it did not come up")
    build_slots.point_at(root, "current", "slots/a")
    site.to_the_end()
    watch(task(site))
    assert ended(site) == "failed"
    assert build_slots.in_use(root) == "slots/a"
    assert not os.path.exists(os.path.join(root, build_slots.ROLLED_BACK))


@pytest.mark.parametrize("is_leg", [False, True])
def test_29_a_watchdog_leaves_the_update_to_another_process_that_continues_it(
    site: Builds, is_leg: bool
) -> None:
    """Two continue it at once: the one that is watched ends, and the other one has the lock and is slow."""
    site.begin()
    assert site.state is not None
    runs, jid = Runs(site.settings), site.state.head["jid"]
    lock = Legs(site.settings).lock.hold("leg") if is_leg else runs.lock.hold(jid, 0.0)
    taken, ready = os.pipe()
    other = os.fork()
    if not other:
        with lock:
            os.write(ready, b".")
            time.sleep(0.5)
            crossed = {"kind": "update", "why": "", "now": {"version": "2", "prefix": ""}}
            append_record(runs, jid, runs.state(jid), "crossed", crossed)
        os._exit(0)
    os.read(taken, 1)
    watch(task(site))
    assert os.waitpid(other, 0)[1] == 0
    assert build_slots.in_use(str(site.place / "opt")) == "slots/b"
    assert not os.path.exists(site.place / "opt" / build_slots.ROLLED_BACK)


def test_31_a_record_that_nobody_knows_is_passed_over(tmp_path: Path) -> None:
    machine = Site(tmp_path, {"top.sls": ALWAYS + AFTER})
    machine.begin()
    assert machine.state is not None
    append_record(
        Runs(machine.settings), machine.state.head["jid"], machine.state, "of-tomorrow", {"what": [1, 2]}
    )
    machine.to_the_end()
    assert ended(machine) == "succeeded"
    assert machine.log == ["after 1"]


def test_31_a_journal_without_the_words_of_today_is_read(tmp_path: Path) -> None:
    """As an older build writes it: a reboot that knows no force and nothing that was called off."""
    machine = Site(tmp_path, {"top.sls": ALWAYS + AFTER})
    machine.begin()
    assert machine.state is not None
    (barrier,) = machine.state.barriers
    for name in ("force", "failed_units", "instead"):
        del barrier["ask"][name]
    runs = Runs(machine.settings)
    body = {name: barrier[name] for name in barrier if name not in ("outcome", "armed", "off", "fresh")}
    jid = machine.state.head["jid"]
    crossed = {"kind": "reboot", "why": "", "now": machine.machine.identity()}
    state = append_record(runs, jid, machine.state, "crossed", crossed)
    append_record(runs, jid, state, "barrier", body)
    machine.to_the_end()
    assert ended(machine) == "succeeded"
    shutil.rmtree(tmp_path / "state")
