"""The spool: what is written is there after a crash, and a job is known while it could come again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.agent.spool import CONFIRMED, RUNNING, WAITING, Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.agent.unsent import RETURNED, TRIES
from saltern.fleet.protocol.codec import decode
from saltern.fleet.protocol.messages import Job, Records, Return


def spooled(*jids: str) -> Spool:
    spool = Spool(":memory:")
    for jid in jids:
        assert spool.add(Job(jid=jid, function="test.echo"), received=1, due=1, expires=100)
    return spool


def returned(jid: str, parts: int = 1) -> list[Return | Records]:
    return [Return(jid=jid, status="returned", part=n, parts=parts, body=b"%d" % n) for n in range(parts)]


def test_a_job_is_taken_once_and_stays_known(tmp_path: Path) -> None:
    path = str(tmp_path / "a" / "spool.db")
    spool = Spool(path)
    job = Job(jid="j1", function="state.apply", args=["web"], kwargs={"pillar": {"a": [1]}})
    assert spool.add(job, received=1, due=2, expires=3)
    assert not spool.add(job, received=9, due=9, expires=9)
    spool.close()
    again = Spool(path)
    found = again.entry("j1")
    assert found is not None
    assert (found.job, found.state, found.due, found.expires) == (job, WAITING, 2, 3)
    assert (tmp_path / "a" / "spool.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_attempts_are_counted_and_the_first_start_is_kept() -> None:
    spool = spooled("j1")
    assert spool.begin("j1", 5) == 1
    assert spool.begin("j1", 6) == 2
    found = spool.entry("j1")
    assert found is not None
    assert (found.state, found.started, found.attempt) == (RUNNING, 5, 2)


def test_a_return_is_sent_until_it_is_confirmed_and_its_id_stays() -> None:
    spool = spooled("j1", "j2")
    spool.finish(returned("j1", 3), 10)
    assert spool.unsent.due_returns(0.5) == [("j1", 10.0)]
    parts = [spool.unsent.part("j1", number) for number in spool.unsent.part_numbers("j1")]
    assert [decode(Return, part).body for part in parts] == [b"0", b"1", b"2"]
    spool.unsent.mark_sent("j1", 20)
    assert spool.unsent.due_returns(20) == []
    assert spool.unsent.due_returns(21) == [("j1", 10.0)]
    assert spool.unconfirmed_jids() == ["j1"]
    spool.confirm("j1")
    assert (spool.unconfirmed_jids(), spool.unsent.part_numbers("j1"), spool.counts()) == (
        [],
        [],
        {CONFIRMED: 1, WAITING: 1},
    )
    assert spool.is_known("j1")
    assert not spool.add(Job(jid="j1", function="test.echo"), received=1, due=1, expires=100)


def test_records_follow_their_return_and_are_not_sent_for_ever() -> None:
    spool = spooled("j1")
    batches = [
        Records(jid="j1", run="r", first=0, records=[1, 2]),
        Records(jid="j1", run="r", first=2, records=[3]),
    ]
    spool.finish([*returned("j1"), *batches], 10)
    assert spool.unsent.due_batches(1) == []  # the return goes first
    spool.unsent.mark_sent("j1", 11)
    assert spool.unsent.due_batches(1) == [("j1", 0), ("j1", 2)]
    spool.confirm("j1", returned=True, records=2)
    assert spool.unsent.due_batches(1) == [("j1", 2)]
    assert spool.unconfirmed_jids() == ["j1"]
    for _ in range(TRIES):
        spool.unsent.mark_batch("j1", 2, 12)
    assert spool.unsent.due_batches(1000) == []
    spool.confirm("j1", returned=True, records=2)
    assert spool.unconfirmed_jids() == []


def test_prunes_what_has_expired_and_what_was_never_taken() -> None:
    spool = spooled("confirmed", "returned", "waiting")
    for jid in ("confirmed", "returned"):
        spool.finish(returned(jid), 10)
    spool.confirm("confirmed")
    assert spool.prune(expired_before=99, returned_before=9) == []
    assert spool.is_known("confirmed")
    assert spool.prune(expired_before=101, returned_before=11) == ["returned"]
    assert (spool.is_known("confirmed"), spool.is_known("returned"), spool.is_known("waiting")) == (
        False,
        False,
        True,
    )
    assert spool.unsent.part_numbers("returned") == []


def test_a_disk_that_is_full_is_an_error_with_its_place_and_changes_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "spool.db")
    spool = Spool(path)
    spool.add(Job(jid="j1", function="test.echo"), received=1, due=1, expires=100)
    (pages,) = spool._file._database.execute("PRAGMA page_count").fetchone()
    spool._file._database.execute(f"PRAGMA max_page_count={pages}")
    big = [Return(jid="j1", status="returned", body=b"x" * 100_000)]
    with pytest.raises(SpoolFailed, match=path):
        spool.finish(big, 10)
    found = spool.entry("j1")
    assert found is not None
    assert (found.state, spool.unsent.part_numbers("j1")) == (WAITING, [])
    spool._file._database.execute("PRAGMA max_page_count=100000")
    spool.finish(big, 10)
    assert spool.counts() == {RETURNED: 1}


def test_a_file_that_is_no_spool_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "spool.db").write_bytes(b"not a database" * 100)
    with pytest.raises(SpoolFailed, match=r"spool\.db"):
        Spool(str(tmp_path / "spool.db"))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["add", "begin", "finish", "confirm"]))))
def test_a_job_never_goes_back(steps: list[tuple[str, str]]) -> None:
    """Whatever arrives again and in whatever order, a job that returned does not wait or run again."""
    spool = Spool(":memory:")
    order = [WAITING, RUNNING, RETURNED, CONFIRMED]
    last: dict[str, int] = {}
    for jid, step in steps:
        found = spool.entry(jid)
        if step == "add":
            spool.add(Job(jid=jid, function="test.echo"), received=1, due=1, expires=100)
        elif step == "begin" and found and found.state in (WAITING, RUNNING):
            spool.begin(jid, 2)
        elif step == "finish" and found and found.state == RUNNING:
            spool.finish(returned(jid), 3)
        elif step == "confirm":
            spool.confirm(jid)
        now = spool.entry(jid)
        if now is not None:
            assert order.index(now.state) >= last.get(jid, 0)
            last[jid] = order.index(now.state)
