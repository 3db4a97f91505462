"""Programs that outlive whoever started them, and what is known of them afterwards."""

from __future__ import annotations

import os
import signal
import time
from binascii import crc32
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from msgspec import msgpack

from saltern.system import faults, keeper, keeper_process, ledger, mark
from saltern.system.keeper import ProgramKeeper
from saltern.system.ledger import Entry
from saltern.system.mounts import file_system
from saltern.system.private import remove_private
from saltern.system.process import Ran, run
from saltern.system.scope import in_service, move_out
from saltern.system.tree import kill_tree


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[ProgramKeeper]:
    """Of a run whose programs are kept."""
    place = str(tmp_path / "kept")
    made = ProgramKeeper("7", place)
    made.enter(3)
    yield made
    made.end(forget=True)
    assert not os.path.exists(place), "nothing is left of it"


def _until(true: object, seconds: float = 10.0) -> None:
    assert callable(true)
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)


def _alive(pid: int) -> bool:
    """A zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_kept_program_has_the_result_that_it_would_have(programs: ProgramKeeper) -> None:
    command = "echo out; echo err >&2; cat; pwd; umask; exit 3"
    plain = run(command, stdin="in", cwd="/", umask=0o027, env={"A": "b"})
    kept = programs.run(command, stdin="in", cwd="/", umask=0o027, env={"A": "b"})
    assert (kept.code, kept.out, kept.err) == (plain.code, plain.out, plain.err)


def test_a_program_finds_a_token_that_stays_the_same(programs: ProgramKeeper) -> None:
    told = [programs.run("echo $SALTERN_TOKEN").out for _ in range(2)]
    programs.enter(4)
    assert [*told, programs.run("echo $SALTERN_TOKEN").out] == ["7.3\n", "7.3\n", "7.4\n"]


def test_a_change_of_the_environment_reaches_the_keeper(
    programs: ProgramKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert programs.run("echo $SOMETHING").out == "\n"
    monkeypatch.setenv("SOMETHING", "new")
    assert programs.run("echo $SOMETHING").out == "new\n"


def test_output_of_any_size_comes_through(programs: ProgramKeeper) -> None:
    ran = programs.run("head -c 3000000 /dev/zero | tr '\\0' x")
    assert len(ran.out) == 3_000_000
    assert programs.run("echo on").out == "on\n"


def test_a_program_that_cannot_be_started_is_reported_as_always(programs: ProgramKeeper) -> None:
    assert programs.run(["/nowhere/program"]) == run(["/nowhere/program"])


def test_what_cannot_even_be_tried_is_reported_as_always(programs: ProgramKeeper) -> None:
    for command in ("echo a\0b", ["echo", "a\0b"]):
        with pytest.raises(ValueError, match="null"):
            run(command)
        with pytest.raises(ValueError, match="null"):
            programs.run(command)
    assert programs.run("echo on").out == "on\n"


def test_words_that_are_no_utf_8_and_words_of_other_types_come_through(programs: ProgramKeeper) -> None:
    class Word(str):
        pass

    assert programs.run(["printf", "%s", Word("a"), os.fsdecode(b"\xff")]).out == "a\N{REPLACEMENT CHARACTER}"
    assert programs.run("printf %s $A", env={"A": os.fsdecode(b"\xff")}).out == "\N{REPLACEMENT CHARACTER}"


def _child(tmp_path: Path, command: str, place: str) -> int:
    """A process that runs a kept program, and is killed while it does; its ID."""
    pid = os.fork()
    if pid == 0:
        try:
            programs = ProgramKeeper("7", place)
            programs.enter(1)
            programs.run(command)
        finally:
            os._exit(0)
    _until((tmp_path / "on").exists)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return pid


def test_item_7_a_program_ends_after_whoever_started_it_and_its_result_is_known(tmp_path: Path) -> None:
    place = str(tmp_path / "kept")
    _child(tmp_path, f"touch {tmp_path}/on; sleep 0.3; echo out; exit 4", place)
    assert [entry.name for entry in ledger.at_work(place)] == ["1.1"]
    keeper.wait_for(place)
    kept = ledger.read(place)
    assert (kept.ended["1.1"].code, kept.ended["1.1"].out) == (4, "out\n")
    programs = ProgramKeeper("7", place, ledger.read(place))
    programs.enter(1)
    programs.replay(1)
    assert programs.begun_and_ended(1) == (1, 1)
    assert programs.run("echo never").out == "out\n"
    programs.end(forget=True)
    assert not os.path.exists(place)


def test_item_9_a_keeper_that_is_killed_leaves_no_program_and_no_certainty(tmp_path: Path) -> None:
    place = str(tmp_path / "kept")
    programs = ProgramKeeper("7", place)
    programs.enter(1)
    text = f"echo $$ > {tmp_path}/pid; kill -9 $PPID; sleep 60"
    ran = programs.run(text)
    assert ran.lost
    assert "how it ended is unknown" in ran.err
    _until(lambda: not _alive(int((tmp_path / "pid").read_text())))
    assert programs.run("echo on").out == "on\n", "the next program has another keeper"
    assert "1.1" not in ledger.read(place).ended
    programs.end(forget=True)


def test_item_10_a_daemon_that_keeps_the_output_open_is_not_waited_for(
    programs: ProgramKeeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saltern.system.process.LINGER", 0.3)
    ran = programs.run(f"echo before; sleep 4000 & echo $! > {tmp_path}/pid")
    assert (ran.code, ran.out) == (0, "before\n")
    daemon = int((tmp_path / "pid").read_text())
    assert _alive(daemon)
    os.kill(daemon, signal.SIGKILL)


def test_what_a_child_still_prints_is_not_lost(programs: ProgramKeeper) -> None:
    assert programs.run("{ sleep 0.2; echo late; } & echo soon").out == "soon\nlate\n"


def test_item_11_a_time_limit_ends_the_whole_tree(programs: ProgramKeeper, tmp_path: Path) -> None:
    """Even what has left its session."""
    ran = programs.run(f"setsid sh -c 'echo $$ > {tmp_path}/pid; sleep 60' & sleep 60", timeout=0.5)
    assert ran.timed_out
    _until(lambda: not _alive(int((tmp_path / "pid").read_text())))


@pytest.mark.parametrize("token", ["7.3", "own"])
def test_a_time_limit_ends_nothing_of_another_start_with_the_same_token(
    programs: ProgramKeeper, tmp_path: Path, token: str
) -> None:
    """A run of the same number elsewhere, and what an earlier attempt has left on purpose."""
    left = "setsid sleep 60 >/dev/null 2>&1 & echo $! >"
    run(f"{left} {tmp_path}/other", env={keeper_process.TOKEN: token})
    assert programs.run(f"{left} {tmp_path}/before", env={keeper_process.TOKEN: token}).code == 0
    assert programs.run("sleep 60", timeout=0.3, env={keeper_process.TOKEN: token}).timed_out
    pids = [int((tmp_path / name).read_text()) for name in ("other", "before")]
    assert [_alive(pid) for pid in pids] == [True, True]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def test_item_11_a_time_limit_holds_without_whoever_set_it(tmp_path: Path) -> None:
    place = str(tmp_path / "kept")
    pid = os.fork()
    if pid == 0:
        try:
            programs = ProgramKeeper("7", place)
            programs.enter(1)
            programs.run(f"touch {tmp_path}/on; sleep 60", timeout=0.6)
        finally:
            os._exit(0)
    _until((tmp_path / "on").exists)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    keeper.wait_for(place)
    assert ledger.read(place).ended["1.1"].timed_out
    remove_private(place)


def test_two_runs_in_one_process_share_nothing(programs: ProgramKeeper, tmp_path: Path) -> None:
    other = ProgramKeeper("8", str(tmp_path / "other"))
    other.enter(1)
    tokens = [one.run("echo $SALTERN_TOKEN").out for one in (programs, other, programs)]
    assert tokens == ["7.3\n", "8.1\n", "7.3\n"]
    assert sorted(ledger.read(str(tmp_path / "kept")).ended) == ["3.1", "3.2"]
    assert sorted(ledger.read(str(tmp_path / "other")).ended) == ["1.1"]
    other.end(forget=True)
    assert programs.run("exit 6").code == 6, "the end of one is not the end of the other"


def test_a_child_of_ours_has_a_keeper_of_its_own(programs: ProgramKeeper, tmp_path: Path) -> None:
    assert programs.run("true").code == 0
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(programs.run("exit 5").code)
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
    assert programs.run("exit 6").code == 6
    assert len([name for name in os.listdir(tmp_path / "kept") if not name.endswith(mark.SUFFIX)]) == 2


@pytest.mark.parametrize("moment", ["keeper.ask", "keeper.asked", "later"])
def test_an_interrupt_at_any_moment_ends_the_program_and_does_not_hang(
    programs: ProgramKeeper, tmp_path: Path, moment: str
) -> None:
    """One that is asked to end has its time for it."""
    assert programs.run("true").code == 0
    pid = os.getpid()

    def interrupt(name: str) -> None:
        if name == moment and os.getpid() == pid:
            raise KeyboardInterrupt

    def later() -> None:
        _until((tmp_path / "on").exists)
        os.kill(pid, signal.SIGINT)

    thread = Thread(target=later)
    faults.watch(interrupt)
    try:
        if moment == "later":
            thread.start()
        with pytest.raises(KeyboardInterrupt):
            programs.run(
                f"trap 'sleep 0.3; touch {tmp_path}/bye; exit' TERM; touch {tmp_path}/on; sleep 60 & wait"
            )
    finally:
        faults.watch(None)
    if moment == "later":
        thread.join()
        assert (tmp_path / "bye").exists()
    assert programs.run("echo on").out == "on\n"


# -- the ledger ------------------------------------------------------------------------------------------


def _ledger(folder: Path, *entries: Entry) -> Path:
    book = ledger.create(str(folder))
    for entry in entries:
        ledger.add(book, entry)
    book.close()
    return folder / book.name


def test_item_2_a_ledger_cut_at_any_byte_tells_a_beginning_of_what_it_told(tmp_path: Path) -> None:
    """And proves nothing about the rest."""
    folder = tmp_path / "whole"
    path = _ledger(
        folder, Entry("1.1", 5), Entry("1.1", 5, Ran(0, "a")), Entry("2.1", 5), Entry("2.1", 5, Ran(1))
    )
    data = path.read_bytes()
    told = []
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        kept = ledger.read(str(folder))
        told.append((len(kept.begun), len(kept.ended)))
        assert kept.damaged is (size < len(data))
        assert (path.name in kept.whole) is (size == len(data))
    assert sorted(set(told)) == [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]
    assert told == sorted(told)


@pytest.mark.parametrize("suffix", ["", mark.SUFFIX])
def test_a_ledger_with_a_wrong_bit_is_not_whole(tmp_path: Path, suffix: str) -> None:
    path = Path(f"{_ledger(tmp_path, Entry('1.1', 5), Entry('1.1', 5, Ran(0, 'a' * 50)))}{suffix}")
    data = path.read_bytes()
    for bit in range(len(data) * 8):
        wrong = bytearray(data)
        wrong[bit // 8] ^= 1 << bit % 8
        path.write_bytes(wrong)
        kept = ledger.read(str(tmp_path))
        assert kept.damaged, bit
        assert kept.ended in ({}, {"1.1": Ran(0, "a" * 50)})


@pytest.mark.parametrize("suffix", ["", mark.SUFFIX])
def test_a_ledger_that_is_gone_empty_or_older_is_not_whole(tmp_path: Path, suffix: str) -> None:
    book = ledger.create(str(tmp_path))
    path = tmp_path / f"{book.name}{suffix}"
    ledger.add(book, Entry("1.1", 5))
    older = path.read_bytes()
    ledger.add(book, Entry("1.1", 5, Ran(0)))
    ledger.add(book, Entry("2.1", 5))
    ledger.add(book, Entry("2.1", 5, Ran(0)))
    book.close()
    if not suffix:  # an older mark counts too little, as one does that could not be written
        path.write_bytes(older)
        assert ledger.read(str(tmp_path)).damaged
    for data in (b"", bytes(len(older)), b"\xff" * len(older)):
        path.write_bytes(data)
        assert ledger.read(str(tmp_path)).damaged
    path.unlink()
    kept = ledger.read(str(tmp_path))
    assert kept.damaged
    assert not kept.whole
    assert not ledger.at_work(str(tmp_path))


def test_a_ledger_of_the_version_before_is_read(tmp_path: Path) -> None:
    bodies = [msgpack.encode(one) for one in (Entry("1.1", 5), Entry("1.1", 5, Ran(3)), Entry("2.1", 5))]
    whole = b"".join(len(body).to_bytes(4) + crc32(body).to_bytes(4) + body for body in bodies)
    (tmp_path / "old").write_bytes(whole)
    kept = ledger.read(str(tmp_path))
    assert (kept.begun, list(kept.ended), kept.damaged) == ({"1.1", "2.1"}, ["1.1"], False)
    (tmp_path / "old").write_bytes(whole[:-1])
    assert ledger.read(str(tmp_path)).damaged


def test_a_ledger_does_not_grow_without_end(tmp_path: Path) -> None:
    book = ledger.create(str(tmp_path / "whole"))
    ledger.add(book, Entry("1.1", 5, Ran(0, "a" * ledger.ROOM)))
    ledger.make_room(book)
    assert os.fstat(book.file).st_size < 100
    ledger.add(book, Entry("2.1", 5))
    book.close()
    kept = ledger.read(str(tmp_path / "whole"))
    assert (kept.begun, kept.damaged) == ({"2.1"}, False)


# -- the machine -----------------------------------------------------------------------------------------


def test_item_8_a_keeper_leaves_a_service_of_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no systemd here: what it would be asked is written down by a program in its place."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "busctl"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    own = tmp_path / "cgroup"
    own.write_text("0::/system.slice/saltern-resume.service\n")
    assert in_service(str(own))
    assert move_out(str(tmp_path), str(own))
    asked = (tmp_path / "asked").read_text()
    assert "StartTransientUnit ssa(sv)a(sa(sv)) saltern-keeper-" in asked
    assert f"PIDs au 1 {os.getpid()}" in asked
    own.write_text("0::/user.slice/user-0.slice/session-1.scope\n")
    assert not move_out(str(tmp_path), str(own))


def test_a_tree_is_found_by_its_token_alone(tmp_path: Path) -> None:
    run(f"setsid sleep 60 >/dev/null 2>&1 & echo $! > {tmp_path}/pid", env={"T": "x.1"})
    run(f"setsid sleep 60 >/dev/null 2>&1 & echo $! > {tmp_path}/other", env={"T": "x.11"})
    kill_tree("T=x.1")
    other = int((tmp_path / "other").read_text())
    _until(lambda: not _alive(int((tmp_path / "pid").read_text())))
    assert _alive(other)
    os.kill(other, signal.SIGKILL)


def test_item_5_a_file_system_in_memory_is_known(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 0:5 / /run rw shared:1 - tmpfs tmpfs rw\n"
        "3 1 0:6 / /srv/my\\040data rw - xfs /dev/sdb1 rw\n"
    )
    assert file_system("/run/saltern", str(table)) == "tmpfs"
    assert file_system("/runs", str(table)) == "ext4"
    assert file_system("/srv/my data/x", str(table)) == "xfs"
    assert file_system("/", str(tmp_path / "none")) == ""
