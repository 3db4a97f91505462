"""One journal: what is written is read, what is damaged is told, what cannot be written stops the run."""

from __future__ import annotations

import errno
import os
import random
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saltern.journal.form import FORMAT, LOG, PLAIN, Damaged, Unreadable, frames
from saltern.journal.reader import quarantine, read
from saltern.journal.store import Writer
from saltern.language import secrets
from saltern.language.diagnostics import OperationError
from saltern.system import faults


def written(path: Path, records: int = 20) -> Path:
    writer = Writer(str(path))
    for number in range(records):
        writer.add("note", {"number": number, "text": "x" * 300})
        writer.sync()
    writer.close()
    return path


def test_what_was_synced_is_read_in_order(tmp_path: Path) -> None:
    found = read(str(written(tmp_path / "1.run")))
    assert [record.seq for record in found] == list(range(20))
    assert found[7].body == {"number": 7, "text": "x" * 300}


def test_what_was_not_synced_is_not_there(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "1.run"))
    writer.add("a", {})
    writer.sync()
    writer.add("b", {})
    assert [record.kind for record in read(str(tmp_path / "1.run"))] == ["a"]
    writer.close()


def test_short_rows_that_follow_each_other_are_one_record_in_their_place(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "1.run"))
    writer.add_row(("", 0))
    writer.add_row(("", 1))
    writer.add("a", {})
    writer.add_row(("", 2))
    writer.sync()
    assert [record.kind for record in read(writer.path)] == ["rows", "a", "rows"]
    writer.close()


def test_a_run_that_touched_nothing_leaves_a_plain_file(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "deep" / "runs" / "1.run"))
    writer.add("a", {"x": 1})
    writer.finish()
    assert Path(writer.path).read_bytes().startswith(PLAIN)
    assert [record.body for record in read(writer.path)] == [{"x": 1}]


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "runs" / "1.run", 1)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_what_has_no_form_is_written_as_text(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "1.run"))
    endless: list[object] = []
    endless.append(endless)
    bad = {"big": 2**70, "half": "\udc80", "set": {1}, 3.5: "odd key", "none": None, "endless": endless}
    writer.add("odd", bad)
    writer.sync()
    body = read(writer.path)[0].body
    assert isinstance(body, dict)
    assert (body["big"], body["half"], body["set"]) == (str(2**70), "\\udc80", [1])
    writer.close()


def test_what_contains_itself_is_written_while_secrets_are_known(tmp_path: Path) -> None:
    endless: list[object] = ["geheimnis-42"]
    endless.append(endless)
    secrets.add("geheimnis-42")
    try:
        writer = Writer(str(tmp_path / "1.run"))
        writer.add("odd", {"endless": endless})
        writer.sync()
        assert b"geheimnis-42" not in Path(writer.path).read_bytes()
        assert read(writer.path)[-1].kind == "odd"
        writer.close()
    finally:
        secrets.forget()


# -- damage --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_is_found_or_changes_nothing(tmp_path: Path, seed: int) -> None:
    path = written(tmp_path / "1.run")
    before = read(str(path))
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    data[chance.randrange(100, len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    try:
        assert read(str(path)) == before  # in room that nothing uses
    except (Damaged, Unreadable):
        pass


def test_a_flipped_bit_in_a_record_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "1.run")
    data = path.read_bytes()
    path.write_bytes(data.replace(b"xxxxxxxxxx", b"xxxxxxxxxy", 1))
    with pytest.raises(Damaged, match="is not what was written"):
        read(str(path))


def test_a_plain_file_is_checked_as_well(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "1.run"))
    writer.add("a", {"x": "word"})
    writer.finish()
    path = Path(writer.path)
    path.write_bytes(path.read_bytes().replace(b"word", b"ward"))
    with pytest.raises(Damaged):
        read(str(path))


@given(cut=st.integers(0, 200))
@settings(deadline=None, max_examples=50)
def test_a_plain_file_that_was_cut_is_damaged_and_never_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    writer = Writer(str(tmp_path_factory.mktemp("cut") / "1.run"))
    writer.add("a", {"x": "word" * 50})
    writer.finish()
    os.truncate(writer.path, min(cut, os.path.getsize(writer.path) - 1))
    try:
        assert read(writer.path) == []  # less than its first line: an empty file
    except (Damaged, Unreadable):
        pass


def test_a_missing_record_is_damage(tmp_path: Path) -> None:
    path = written(tmp_path / "1.run")
    data = path.read_bytes()
    third, fourth = (frame.end for frame in list(frames(data))[2:4])
    path.write_bytes(data[:third] + data[fourth:])
    with pytest.raises(Damaged, match="ends after 3 records"):
        read(str(path))


def test_a_later_format_is_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "1.run")
    path.write_bytes(path.read_bytes().replace(LOG, b"saltern run %d\n" % (FORMAT + 1), 1))
    with pytest.raises(Unreadable, match=f"format {FORMAT + 1}"):
        read(str(path))


def test_quarantine_moves_the_file_before_what_lies_beside_it(tmp_path: Path) -> None:
    """A file without its mark says that it is damaged; a mark without its file says so, too."""
    path = written(tmp_path / "1.run")
    seen: list[list[str]] = []
    faults.watch(lambda _: seen.append(sorted(os.listdir(tmp_path))))
    try:
        quarantine(str(path))
    finally:
        faults.watch(None)
    assert seen[1] == ["1.run.damaged", "1.run.mark"]
    assert sorted(os.listdir(tmp_path)) == ["1.run.damaged", "1.run.damaged.mark"]


def test_records_that_were_written_together_are_there_together_or_not_at_all(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "1.run"))
    writer.add("a", {})
    writer.sync()
    done = os.path.getsize(writer.path)
    for kind in ("b", "c", "d"):
        writer.add(kind, {"text": "x" * 40})

    def die(name: str) -> None:  # before the mark counts them
        if name == "journal.saved":
            raise KeyboardInterrupt

    faults.watch(die)
    try:
        with pytest.raises(KeyboardInterrupt):
            writer.save()
    finally:
        faults.watch(None)
    whole = os.path.getsize(writer.path)
    assert [record.kind for record in read(writer.path)] == ["a", "b", "c", "d"]
    for size in range(whole - 1, done - 1, -1):
        os.truncate(writer.path, size)
        assert [record.kind for record in read(writer.path)] == ["a"]
    resumed = Writer(writer.path, resumed_at=1)
    resumed.add("e", {})
    resumed.sync()
    resumed.close()
    assert [record.kind for record in read(writer.path)] == ["a", "e"]


@given(batches=st.lists(st.lists(st.binary(max_size=60), min_size=1, max_size=4), max_size=8), data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_run_that_is_resumed_at_any_frame_continues_there(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[bytes]], data: st.DataObject
) -> None:
    path = str(tmp_path_factory.mktemp("log") / "1.run")
    at, bodies = 0, []
    for batch in batches:
        writer = Writer(path, resumed_at=at)
        for body in batch:
            writer.add("note", body)
        (writer.sync if data.draw(st.booleans()) else writer.save)()
        writer.close()
        at += len(batch)
        bodies += batch
    found = read(path) if batches else []
    assert [(record.seq, record.body) for record in found] == list(enumerate(bodies))


# -- what cannot be written ----------------------------------------------------------------------------


def test_an_error_of_the_disk_is_reported_and_never_tried_again(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "1.run"))
    writer.add("a", {})
    writer.sync()
    writer.add("b", {})

    def fail(name: str) -> None:
        if name == "journal.commit":
            raise OSError(errno.EIO, "disk I/O error")

    faults.watch(fail)
    try:
        with pytest.raises(OperationError, match="disk I/O error"):
            writer.sync()
    finally:
        faults.watch(None)
    with pytest.raises(OperationError, match="disk I/O error"):
        writer.sync()
    writer.close()
    assert [record.kind for record in read(writer.path)] == ["a"]


def test_a_full_disk_is_reported_and_what_was_there_stays(tmp_path: Path) -> None:
    path = written(tmp_path / "1.run")
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            import signal

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
            writer = Writer(str(path), resumed_at=20)
            writer.add("big", {"x": "y" * 100_000})
            try:
                writer.sync()
            except OperationError:
                code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert len(read(str(path))) == 20


def test_an_interrupt_right_after_the_write_does_not_write_twice(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "1.run"))
    writer.add("a", {})

    def interrupt(name: str) -> None:
        if name == "journal.synced":
            raise KeyboardInterrupt

    faults.watch(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            writer.sync()
    finally:
        faults.watch(None)
    writer.add("b", {})
    writer.sync()
    assert [record.kind for record in read(writer.path)] == ["a", "b"]
    writer.close()


def test_a_thread_of_a_module_may_be_the_one_that_writes(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "1.run"))
    writer.add("a", {})
    writer.sync()
    writer.add("b", {})
    other = threading.Thread(target=writer.sync)
    other.start()
    other.join()
    assert len(read(writer.path)) == 2
    writer.close()


def test_what_is_being_written_can_be_read_here_and_elsewhere(tmp_path: Path) -> None:
    path = str(tmp_path / "1.run")
    writer = Writer(path)
    writer.add("a", {})
    writer.sync()
    assert len(read(path)) == 1
    assert _read_elsewhere(path) == 1
    writer.add("b", {})
    writer.sync()
    assert _read_elsewhere(path) == 2
    writer.close()
    assert len(read(path)) == 2


def _read_elsewhere(path: str) -> int:
    script = f"from saltern.journal.reader import read; print(len(read({path!r})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return int(done.stdout)
