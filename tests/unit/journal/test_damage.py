"""A journal whose writer was killed, damaged in every way: it is read as it was written, or not at all."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.fault.damage import ALL, damages, files_of

from saltern.journal import form
from saltern.journal.folder import remove
from saltern.journal.form import LOG, Damaged, Record, Unreadable, checksum
from saltern.journal.reader import read, read_last
from saltern.journal.store import Writer
from saltern.system import faults, mark, reboot

EACH = 4000 if ALL else 120


def killed(path: Path, records: int = 12, *, older: Path | None = None) -> Path:
    """Written by a process that is gone."""
    pid = os.fork()
    if pid == 0:
        try:
            writer = Writer(str(path))
            for number in range(records):
                writer.add("note", {"number": number, "text": "x" * 50 * number})
                (writer.sync if number % 2 else writer.save)()
                if number == records // 2 and older is not None:
                    shutil.copytree(path.parent, older)
        finally:
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    return path


def _flips(path: Path, chance: random.Random) -> list[int]:
    bits = range(path.stat().st_size * 8)
    return list(bits) if len(bits) <= EACH else chance.sample(bits, EACH)


@pytest.mark.timeout(1800 if ALL else 120)
def test_no_bit_of_any_file_makes_a_journal_shorter(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    path = killed(whole / "1.run")
    chance = random.Random(os.environ.get("SALTERN_FAULT_SEED", "1"))
    expected = read(str(killed(tmp_path / "other" / "1.run")))
    assert len(expected) == 12
    place = tmp_path / "place"
    for name in files_of(whole):
        for bit in _flips(whole / name, chance):
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(whole, place)
            data = bytearray((place / name).read_bytes())
            data[bit // 8] ^= 1 << bit % 8
            (place / name).write_bytes(data)
            _same_or_none(place / path.name, expected, f"{name} bit {bit}")


@pytest.mark.timeout(1800 if ALL else 120)
def test_no_lost_cut_or_older_file_makes_a_journal_shorter(tmp_path: Path) -> None:
    whole, older, place = tmp_path / "whole", tmp_path / "older", tmp_path / "place"
    path = killed(whole / "1.run", older=older)
    chance = random.Random(7)
    expected = read(str(killed(tmp_path / "other" / "1.run")))
    for name in files_of(whole):
        for what, spoil in list(damages(whole / name, older / name, chance)) * (8 if ALL else 1):
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(whole, place)
            spoil(place / name)
            _same_or_none(place / path.name, expected, f"{name} {what}")


def _same_or_none(path: Path, expected: list[Record], what: str) -> None:
    try:
        found = read(str(path))
    except (Damaged, Unreadable):
        return
    assert found == expected, f"{what}: {len(found)} of {len(expected)} records"


def test_in_another_boot_what_was_not_synced_may_be_gone_and_what_was_synced_may_not(tmp_path: Path) -> None:
    path = str(tmp_path / "1.run")
    writer = Writer(path)
    sizes = []
    for number in range(6):
        writer.add("note", {"number": number})
        (writer.sync if number < 3 else writer.save)()
        sizes.append(os.path.getsize(path))
    for number, size in enumerate(sizes):
        place = tmp_path / str(number)
        shutil.copytree(tmp_path, place, ignore=shutil.ignore_patterns("[0-9]"))
        os.truncate(place / "1.run", size)
        reboot.use(_Later())
        try:
            if number < 2:
                with pytest.raises(Damaged, match="ends after"):
                    read(str(place / "1.run"))
            else:
                assert len(read(str(place / "1.run"))) == number + 1
        finally:
            reboot.use(None)
    writer.close()


class _Later(reboot.MachineRebooter):
    def identity(self) -> dict[str, str]:
        return {"boot_id": "another"}


SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE record (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL);
"""
BODIES = [b"\x80", b"\x81\xa1a\x01"]


def database(path: str, version: int) -> sqlite3.Connection:
    """A journal as versions before wrote it, open as its killed writer had it."""
    old = sqlite3.connect(path)
    old.execute("PRAGMA journal_mode=WAL")
    for statement in SCHEMA.split(";"):
        old.execute(statement)
    old.execute("INSERT INTO meta VALUES ('format', ?)", (str(version),))
    crc, rows = 0, []
    for seq, body in enumerate(BODIES):
        crc = checksum(seq, "note", body, crc if version >= 2 else 0)
        rows.append((seq, "note", body, crc))
    old.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", rows)
    old.commit()
    if version >= 2:
        file = mark.create(path)
        mark.write(file, mark.Mark(len(rows), len(rows), crc, reboot.current().identity()))
        os.close(file)
    return old


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("killed", [True, False])
def test_a_journal_of_a_version_before_is_read_and_continued(
    tmp_path: Path, version: int, killed: bool
) -> None:
    there, path = str(tmp_path / "there" / "1.run"), str(tmp_path / "1.run")
    os.mkdir(tmp_path / "there")
    old = database(there, version)
    if not killed:
        old.close()
    for name in os.listdir(tmp_path / "there"):
        shutil.copy(tmp_path / "there" / name, tmp_path / name)
    old.close()
    assert [record.body for record in read(path)] == [{}, {"a": 1}]
    for number in (2, 3):
        writer = Writer(path, resumed_at=number)
        writer.add("note", {"b": number})
        writer.sync()
        writer.close()
    assert Path(path).read_bytes().startswith(LOG)
    assert sorted(os.listdir(tmp_path)) == ["1.run", "1.run.mark", "there"]
    assert [record.body for record in read(path)] == [{}, {"a": 1}, {"b": 2}, {"b": 3}]


def test_a_kill_while_a_journal_is_converted_loses_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "1.run")
    database(path, 2).close()

    def die(name: str) -> None:
        if name == "journal.converted":
            os._exit(0)

    if (pid := os.fork()) == 0:
        faults.watch(die)
        writer = Writer(path, resumed_at=2)
        writer.add("note", {})
        writer.sync()
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    assert [record.body for record in read(path)] == [{}, {"a": 1}]


def test_a_damaged_journal_of_a_version_before_is_damaged(tmp_path: Path) -> None:
    path = str(tmp_path / "1.run")
    old = database(path, 2)
    old.execute("DELETE FROM record WHERE seq = 0")
    old.commit()
    old.close()
    with pytest.raises(Damaged, match="record 0 is missing"):
        read(path)


def test_a_journal_that_is_continued_has_one_chain(tmp_path: Path) -> None:
    path = str(tmp_path / "1.run")
    for number in range(5):
        writer = Writer(path, resumed_at=number)
        writer.add("note", {"number": number})
        writer.sync()
        writer.close()
    assert len(read(path)) == 5
    known = mark.read(path)
    assert known is not None
    assert (known.written, known.synced) == (5, 5)


@pytest.mark.parametrize("kill_at", range(5))
def test_whoever_is_killed_while_a_run_is_removed_leaves_no_damaged_one(tmp_path: Path, kill_at: int) -> None:
    from saltern.system import faults

    path = tmp_path / "1.run"
    killed(path)
    left = [kill_at]

    def stop(_: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise InterruptedError

    faults.watch(stop)
    try:
        remove(str(path))
    except InterruptedError:
        pass
    finally:
        faults.watch(None)
    if form.names_in(str(tmp_path), ".run"):
        last = read_last(str(path))
        assert last is None or last.seq == 11
