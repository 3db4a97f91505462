"""What is around a run fails: it is told, nothing is lost, nothing is repeated."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.e2e.command import NOBODY, Done, is_told_well
from tests.fault.machine import DEAD, Machine, check, dies_at, machine, reference
from tests.fault.reference import FILES

from saltern.journal.form import FORMAT, LOG

COUNTING = {
    "main.sls": """
{% for n in range(6) %}
count-{{ n }}:
  cmd.run: [{name: echo {{ n }} >> {{ pillar['at'] }}/log; sleep {{ pillar.get('wait', 0) }}}]
{% endfor %}
"""
}
LOOKING = {"main.sls": "{% for n in range(400) %}\nlook-{{ n }}:\n  test.nop\n{% endfor %}\n"}


def broken_run(one: Machine, at: int = 60) -> Path:
    assert one.apply(dies_at(at)).code == DEAD
    return one.journal()


def words(one: Machine, *more: str) -> list[str]:
    return ["main", "--pillar", f"{{at: {one.at}, wait: 0.3}}", *more]


# -- disks -------------------------------------------------------------------------------------------


def failing_commit(after: int) -> object:
    left = [after]

    def watch(name: str) -> None:
        left[0] -= name == "journal.commit"
        if left[0] < 0 and name == "journal.commit":
            raise OSError(errno.EIO, "disk I/O error")

    return watch


@pytest.mark.parametrize("after", [0, 1, 2, 5, 9])
def test_a_sync_that_fails_stops_the_run_before_the_effect(after: int) -> None:
    with machine(COUNTING) as one:
        done = one.apply(failing_commit(after))  # type: ignore[arg-type]
        is_told_well(done)
        assert done.code == 1
        assert "disk I/O error" in done.err
        assert "nothing more was done" in done.err
        before = one.log()
        assert sum(before.values()) <= (after + 1) // 2
        while one.broken():
            assert one.resume().code in (0, 2)
        assert all(count == 1 for count in one.log().values())
        assert not before - one.log()


def test_a_full_disk_is_reported_and_the_run_goes_on_when_there_is_room() -> None:
    with machine(COUNTING) as one:
        small = one.base / "runs"
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=20k", "tmpfs", str(small)], capture_output=True, check=False
        )
        if mounted.returncode:
            pytest.skip("needs the right to mount")
        try:
            done = one.apply()
            is_told_well(done)
            assert done.code == 1, "20 KiB were enough"
            assert "full" in done.err or "space" in done.err
            before = one.log()
            subprocess.run(["mount", "-o", "remount,size=8m", str(small)], check=True)
            while one.broken():
                one.resume()
            assert not before - one.log()
            assert all(count == 1 for count in one.log().values())
        finally:
            subprocess.run(["umount", str(small)], check=True)


def test_a_directory_that_cannot_be_written_is_reported_before_anything_is_done(tmp_path: Path) -> None:
    with machine(COUNTING) as one:
        os.chmod(one.base, 0o755)
        os.chmod(one.at, 0o777)
        shut = one.base / "runs"
        shut.chmod(0o555)
        argv = ["apply", *words(one)]
        done = one.place.run(*argv, user=NOBODY)
        is_told_well(done)
        assert done.code == 1
        assert "state_dir" in done.err
        assert not one.log()


# -- other processes -----------------------------------------------------------------------------------


def test_of_two_engines_one_works_and_the_other_is_reported_who_does() -> None:
    with machine(COUNTING) as one:
        first = one.place.start("apply", *words(one), stdout=subprocess.DEVNULL)
        while not one.log():
            time.sleep(0.02)
        second = one.place.run("apply", *words(one, "--queue", "0"))
        is_told_well(second)
        assert second.code == 1
        assert f"process {first.pid}" in second.err
        resumed = one.resume()
        assert "nothing to resume" in resumed.err
        first.communicate()
        assert all(count == 1 for count in one.log().values())


def test_of_two_who_resume_at_once_one_does_it() -> None:
    with machine() as one:
        broken_run(one, 100)
        both = [one.place.start("resume") for _ in range(2)]
        for process in both:
            process.communicate()
        check(one, *reference())


def test_one_who_queues_comes_after_the_other() -> None:
    with machine(COUNTING) as one:
        first = one.place.start("apply", *words(one), stdout=subprocess.DEVNULL)
        while not one.log():
            time.sleep(0.02)
        second = one.place.run("apply", *words(one, "--queue", "30"))
        assert second.code == 0
        first.communicate()
        assert all(count == 2 for count in one.log().values())
        assert [run.status for run in one.summaries()] == ["succeeded"] * 2


@pytest.mark.parametrize(("number", "by_user"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_a_run_that_is_asked_to_end_can_be_taken_up_again(number: signal.Signals, by_user: bool) -> None:
    with machine(COUNTING) as one:
        process = one.place.start("apply", *words(one))
        while not one.log():
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=200)
        is_told_well(Done(process.returncode, out.decode(), err.decode()))
        assert process.returncode == 130
        (run,) = one.summaries()
        assert (run.status, run.by_user) == ("interrupted", by_user)
        assert one.place.run("resume", "--boot").code == 0  # what nobody has stopped went on without us
        assert one.broken() is by_user
        done = one.resume()
        assert done.code == (2 if by_user else 0)  # the command that was interrupted is indeterminate
        assert all(count == 1 for count in one.log().values())
        assert len(one.log()) == 6


def test_a_run_that_only_looks_is_interrupted_and_goes_on() -> None:
    with machine(LOOKING) as one:

        def interrupt(name: str) -> None:
            seen.append(name)
            if len(seen) == 900:
                raise KeyboardInterrupt

        seen: list[str] = []
        assert one.apply(interrupt).code == 130
        assert one.broken()
        done = one.resume()
        assert done.code == 0, done.err
        assert len(one.shown()) == 400


# -- journals that are not as they should be -------------------------------------------------------------


def test_a_damaged_journal_is_put_aside_and_that_is_reported() -> None:
    with machine() as one:
        path = broken_run(one)
        path.write_bytes(path.read_bytes()[:200] + bytes(range(256)) * 40)
        before = one.log()
        assert [run.status for run in one.summaries()] == ["damaged"]
        done = one.resume(None, path.stem)
        is_told_well(done)
        assert (done.code, one.log()) == (1, before)
        assert "damaged" in done.err
        assert {each.name for each in one.runs.iterdir()} - {f"{path.name}.damaged.kept"} == {
            f"{path.name}.damaged",
            f"{path.name}.damaged.mark",
        }
        assert [run.status for run in one.summaries()] == ["damaged"]
        assert one.resume().code == 1


def test_a_damaged_journal_does_not_keep_others_from_being_resumed() -> None:
    with machine() as one:
        path = broken_run(one)
        (one.runs / "20200101000000000000.run").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
        assert one.place.run("resume", "--boot").code == 2
        statuses = {run.jid: run.status for run in one.summaries()}
        assert statuses == {path.stem: "failed", "20200101000000000000": "damaged"}


def test_a_journal_of_a_later_version_is_left_as_it_is() -> None:
    with machine() as one:
        path = broken_run(one)
        path.write_bytes(path.read_bytes().replace(LOG, b"saltern run %d\n" % (FORMAT + 1), 1))
        done = one.resume(None, path.stem)
        is_told_well(done)
        assert done.code == 1
        assert f"format {FORMAT + 1}" in done.err
        assert path.exists()
        assert [run.status for run in one.summaries()] == ["unreadable"]


def test_an_empty_file_is_no_run_that_could_be_resumed() -> None:
    with machine(COUNTING) as one:
        one.runs.mkdir(parents=True)
        (one.runs / "20200101000000000000.run").touch()
        assert "nothing to resume" in one.resume().err
        assert one.apply().code == 0


# -- clocks and boots ------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", [-86400 * 400, 86400 * 400])
def test_a_clock_that_jumps_changes_nothing(jump: int) -> None:
    """The number of a run is later than that of the run before it, whatever the clock says."""
    with machine(COUNTING) as one:
        assert one.apply().code == 0
        (first,) = one.summaries()
        path = one.journal()
        number = str(int(first.jid) + (10**13 if jump < 0 else -(10**13)))
        for side in ("", ".mark"):
            shutil.move(f"{path}{side}", path.with_name(f"{number}.run{side}"))
        assert one.apply().code == 0
        assert [run.jid for run in one.summaries()][1] == number


def test_at_boot_all_that_broke_goes_on_and_nothing_is_said_if_nothing_did() -> None:
    with machine({**FILES, "other.sls": "include: [main]"}) as one:
        broken_run(one)
        argv = ["apply", "other", "--pillar", f"{{at: {one.at}}}"]
        assert one._run(dies_at(200), *argv).code == DEAD
        done = one.place.run("resume", "--boot")
        assert done.code == 2
        assert [run.status for run in one.summaries()] == ["failed", "failed"]
        quiet = one.place.run("resume", "--boot")
        assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_what_was_asked_for_once_more_does_not_go_on_at_boot() -> None:
    """The files of the later run are newer: the plan of the earlier one would undo what they say."""
    with machine(COUNTING) as one:
        broken_run(one, 40)
        assert one.apply().code == 0
        quiet = one.place.run("resume", "--boot")
        assert (quiet.code, quiet.out) == (0, "")
        assert [run.status for run in one.summaries()] == ["succeeded", "broken"]


def test_a_run_that_breaks_again_and_again_is_not_resumed_at_boot_for_ever() -> None:
    with machine() as one:
        broken_run(one)
        for _ in range(8):
            one._run(dies_at(20), "resume", "--boot")
        (run,) = one.summaries()
        assert (run.status, run.resumed) == ("broken", 5)
        check(one, *reference())
