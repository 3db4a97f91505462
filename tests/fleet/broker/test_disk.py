"""When the disk of the broker counts as full, and when the broker is restarted."""

from __future__ import annotations

import itertools
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.broker.disk import AGAIN, FULL, BrokerLog, Disk, Room, judge, look

GIB = 1024**3
sizes = st.integers(1, 100) | st.integers(1, 4).map(lambda n: n * GIB)
looks = st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.floats(0, 2 * AGAIN)), max_size=30)


@given(sizes, looks)
def test_a_broker_is_restarted_only_with_room_and_not_too_often(
    size: int, seen: list[tuple[float, bool, float]]
) -> None:
    disk, now, restarts = Disk(), 0.0, []
    for share, complained, seconds in seen:
        now += seconds
        room = Room(int(size * share), size)
        disk, order = judge(disk, room, complained=complained, now=now)
        assert disk.failed or not disk.is_full
        if order:
            assert room.free >= room.least and not disk.failed
            restarts.append(now)
        elif complained or room.free < room.least:
            assert disk.failed
    assert all(later - earlier >= AGAIN for earlier, later in itertools.pairwise(restarts))


def test_what_was_full_counts_as_free_with_twice_the_room() -> None:
    disk, _ = judge(Disk(), Room(FULL - 1, GIB * 100), complained=False, now=0.0)
    assert disk.is_full
    disk, order = judge(disk, Room(FULL + 1, GIB * 100), complained=False, now=1.0)
    assert disk.is_full and not order
    disk, order = judge(disk, Room(2 * FULL, GIB * 100), complained=False, now=2.0)
    assert order == "restart" and not disk.failed


def test_a_log_is_read_from_where_it_was_read_last_and_a_new_one_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "broker.log"
    path.write_bytes(b"no space left on device, long ago\n")
    log = BrokerLog(str(path))
    assert not log.complained()
    with path.open("ab") as file:
        file.write(b"JetStream failed to store a msg: no space left on device\n")
    assert log.complained() and not log.complained()
    path.write_bytes(b"Critical write error\n")
    assert log.complained()
    path.unlink()
    assert not log.complained()


def test_a_real_disk_has_room(tmp_path: Path) -> None:
    room = look(str(tmp_path))
    assert 0 < room.free <= room.size
