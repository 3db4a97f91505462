"""What is around a run fails at a barrier: it is told, nothing is lost, nothing is repeated."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.e2e.command import Done, is_told_well
from tests.fault import crossing_leg, crossing_run
from tests.fault.crossing_leg import LegBoat
from tests.fault.crossing_machine import DOWN, Boat, Voyage
from tests.fault.crossing_processes import furnish, launch, to_the_end
from tests.fault.crossing_run import RunBoat
from tests.fault.machine import Watch

from saltern.journal.runs import Runs
from saltern.journal.store import Writer
from saltern.system import build_slots

UPDATED = 4  # the process of a run that is of the other build
CROSSING = (1, 3, UPDATED)  # processes that begin on the other side of a barrier
YEAR = 86400.0 * 365
FULL = 64  # KiB: more than the journal has at the first barrier, less than it needs


def runs() -> Voyage[RunBoat]:
    return crossing_run.voyage()[0]


def legs() -> Voyage[LegBoat]:
    return crossing_leg.voyage()[0]


def ends(boat: RunBoat) -> None:
    boat.through()
    crossing_run.holds(boat, times=0, power=False)


def refused(boat: Boat, watch: Watch | None = None) -> Done:
    """The process that comes next cannot go on, and says so."""
    boat.boot_if_asked()
    done = boat.run(*boat.words(), watch=watch)
    is_told_well(done)
    assert done.code == 1, done
    return done


# -- disks -------------------------------------------------------------------------------------------


def failing_commit(number: int) -> Watch:
    left = [number]

    def watch(name: str) -> None:
        left[0] -= name == "journal.commit"
        if left[0] < 0 and name == "journal.commit":
            raise OSError(errno.EIO, "disk I/O error")

    return watch


@pytest.mark.parametrize("process", CROSSING)
@pytest.mark.parametrize("number", [0, 1])
def test_a_sync_that_fails_at_a_barrier_stops_before_anything_is_done(process: int, number: int) -> None:
    """The first commits of these processes are records of barriers."""
    boat = runs().before(process)
    before = boat.steps()
    done = refused(boat, failing_commit(number))
    assert "disk I/O error" in done.err
    assert len(boat.steps()) <= len(before) + 1
    ends(boat)


def test_a_sync_that_fails_before_the_machine_is_asked_to_go_down_keeps_it_up() -> None:
    """The intent is not on disk, so nothing is asked for."""
    boat = runs().before(0)
    asking: list[str] = []

    def watch(name: str) -> None:
        asking.append(name)
        if name == "journal.commit" and "reboot.arming" in asking:
            raise OSError(errno.EIO, "disk I/O error")

    refused(boat, watch)
    assert not (boat.at / "armed").exists()
    ends(boat)


def test_a_sync_that_fails_in_the_journal_of_a_leg_stops_it_and_it_goes_on_later() -> None:
    for process in (0, *CROSSING):
        boat = legs().before(process)
        assert "disk I/O error" in refused(boat, failing_commit(1)).err
        boat.through()
        crossing_leg.holds(boat, power=False)


def fill(path: Path) -> Path:
    """Takes all the room that is left."""
    with open(path, "wb", buffering=0) as out, suppress(OSError):
        while out.write(bytes(4096)):
            pass
    return path


@contextmanager
def small_disk(boat: Boat) -> Iterator[None]:
    """What the machine has written so far is there, and there is room for little more."""
    state = boat.base / "runs"
    shutil.copytree(state, boat.base / "aside")
    size = sum(path.stat().st_size for path in state.rglob("*")) // 1024 + FULL
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(state)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount")
    try:
        shutil.copytree(boat.base / "aside", state, dirs_exist_ok=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(state)], check=True)


def test_a_disk_that_is_full_after_the_boot_is_reported_and_the_run_goes_on_when_there_is_room() -> None:
    boat = runs().before(1)
    with small_disk(boat):
        filler = fill(boat.base / "runs" / "filler")
        assert "free some space" in refused(boat).err
        (summary,) = (
            boat.summaries()
        )  # what is there can be read: its last block may have room for one record
        assert summary.status in ("rebooting", "broken")
        assert boat.steps() == [one for one in runs().steps if one[1] == 0]
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,size=8m", str(boat.base / "runs")], check=True)
        ends(boat)


@pytest.mark.parametrize("process", CROSSING)
def test_a_disk_that_is_read_only_after_a_barrier_is_reported_and_nothing_is_done(process: int) -> None:
    boat = runs().before(process)
    before = boat.steps()
    with small_disk(boat):
        state = str(boat.base / "runs")
        subprocess.run(["mount", "-o", "remount,ro,size=8m", state], check=True)
        refused(boat)
        assert boat.steps() == before
        assert not (boat.at / "armed").exists()
        subprocess.run(["mount", "-o", "remount,rw,size=8m", state], check=True)
        ends(boat)


# -- other processes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("process", CROSSING)
def test_of_two_that_go_on_after_a_barrier_one_does_it(process: int) -> None:
    boat = runs().before(process)
    furnish(boat)
    left = [launch(boat) for _ in range(2)]
    while left:
        if (boat.at / "armed").exists():  # the machine goes down, and takes both with it
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        left = [pid for pid in left if os.waitpid(pid, os.WNOHANG)[0] == 0]
        time.sleep(0.01)
    to_the_end(boat)
    crossing_run.holds(boat, times=0, power=False)


def test_whoever_starts_a_run_while_another_waits_for_its_boot_does_not_disturb_it() -> None:
    """It is asked for, and the machine has not gone down yet."""
    boat = runs().before(0)
    assert boat.next().code == DOWN
    assert (boat.at / "armed").exists()
    boat.place.write({"other.sls": f"other:\n  cmd.run: [{{name: touch {boat.at}/other}}]\n"})
    assert boat.run("apply", "other").code == 0
    assert boat.run("resume", "--boot").code == DOWN  # waits, until the machine takes it down
    assert not [one for one in boat.steps() if one[1] > 0]
    boat.boot_if_asked()
    jid = Runs(boat.settings).jids()[-1]
    for _ in range(UPDATED):
        assert boat.run("resume", jid).code in (DOWN, 2)
        boat.boot_if_asked()
    assert [one[0] for one in boat.steps()] == [one[0] for one in runs().steps]


# -- clocks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("process", "jump"), [(1, -YEAR), (3, YEAR), (UPDATED, -YEAR)])
def test_a_clock_that_jumps_over_a_barrier_changes_nothing(
    process: int, jump: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    boat = runs().before(process)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + jump)
    ends(boat)


def test_a_count_of_the_boot_that_is_lower_than_before_is_no_proof_of_a_boot() -> None:
    """The machine was asked, has not gone down, and its clock tells nonsense: nothing goes on."""
    boat = runs().before(0)
    assert boat.next().code == DOWN
    journal = Runs(boat.settings)
    state = journal.state(journal.jids()[0])
    (barrier,) = state.open_barriers
    barrier["tick"] += 10**9
    writer = journal.writer(journal.jids()[0], resumed_at=state.records)
    writer.add("barrier", {key: barrier[key] for key in ASKED})
    writer.sync()
    writer.close()
    before = boat.steps()
    assert boat.run("resume").code == DOWN
    assert boat.steps() == before


ASKED = ("scope", "place", "number", "started", "kind", "when", "ask", "before", "tick", "result")


# -- journals that are not as they should be -------------------------------------------------------------


@pytest.mark.parametrize("process", CROSSING)
def test_a_journal_that_is_damaged_at_a_barrier_is_put_aside_and_nothing_goes_on(process: int) -> None:
    boat = runs().before(process)
    before = boat.steps()
    (path,) = (boat.base / "runs/runs").glob("*.run")
    data = bytearray(path.read_bytes())
    found = data.rfind(b"barrier") if process < UPDATED else data.rfind(b"armed")
    data[min(found + 40, len(data) - 1)] ^= 0xFF
    path.write_bytes(data)
    done = boat.run("resume", path.stem)
    is_told_well(done)
    assert done.code == 1
    assert "damaged" in done.err
    assert boat.steps() == before
    assert not (boat.at / "armed").exists()
    assert [one.name for one in path.parent.glob("*.damaged")] == [f"{path.name}.damaged"]


@pytest.mark.parametrize("process", CROSSING)
def test_a_leg_whose_journal_is_damaged_is_put_aside_and_nothing_goes_on(process: int) -> None:
    boat = legs().before(process)
    before = boat.steps()
    (path,) = (boat.base / "runs/chains").glob("*.leg")
    data = bytearray(path.read_bytes())
    data[data.rfind(b"left") + 12] ^= 0xFF
    path.write_bytes(data)
    done = boat.run("chain", "resume", path.stem)
    is_told_well(done)
    assert done.code == 1
    assert "damaged" in done.err
    assert boat.steps() == before


@pytest.mark.parametrize(("kind", "body"), [("armed", {}), ("crossed", {"kind": "reboot"}), ("barrier", {})])
def test_a_record_of_a_barrier_that_makes_no_sense_is_damage(kind: str, body: dict[str, object]) -> None:
    boat = runs().before(1)
    (path,) = (boat.base / "runs/runs").glob("*.run")
    known = Runs(boat.settings).state(path.stem)
    _write(path, known.records, kind, body)
    done = boat.run("resume", path.stem)
    is_told_well(done)
    assert (done.code, "damaged" in done.err) == (1, True), done.err


def test_marks_of_an_update_that_make_no_sense_are_no_marks() -> None:
    boat = runs().before(UPDATED)
    for name in (build_slots.UPDATING, build_slots.ROLLED_BACK):
        (boat.opt / name).write_bytes(b"\xff not json")
    ends(boat)


def _write(path: Path, at: int, kind: str, body: dict[str, object]) -> None:
    writer = Writer(str(path), resumed_at=at)
    writer.add(kind, body)
    writer.sync()
    writer.close()
