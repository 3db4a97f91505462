"""Killed at every point of the run, singly and in pairs, and with what the disk had not yet kept gone:
it ends, as the run does that nobody breaks, and no command starts twice."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from functools import cache

import pytest
from tests.fault.machine import DEAD, Machine, check, dies_at, keeps, lose, machine, points_of, reference

PARTS = 4  # so that they can run beside each other
PAIRS = int(os.environ.get("SALTERN_FAULT_PAIRS", "60"))
FRAME = 24 + 4096  # of a WAL: its head and a page
NEEDED = {
    "lock.take",
    "lock.taken",
    "journal.create",
    "journal.created",
    "journal.schema",
    "journal.write",
    "journal.commit",
    "journal.synced",
    "journal.close",
    "journal.closed",
    "effect",
    "state.call",
    "state.called",
    "state.answered",
    "state.settled",
    "frame.made",
    "frame.entered",
    "frame.left",
    "step.told",
    "rehearsed",
    "listener.called",
    "listener.told",
    "end",
}


@cache
def points() -> list[str]:
    reference()
    return points_of(lambda one, watch: one.apply(watch))


def proven(one: Machine, where: str) -> None:
    try:
        check(one, *reference())
    except AssertionError as problem:
        raise AssertionError(f"broken at {where}: {problem}") from None


def test_the_reference_run_passes_every_kind_of_point() -> None:
    assert set(points()) >= NEEDED


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_any_point_it_ends_as_if_nothing_had_happened(part: int) -> None:
    for number, name in list(enumerate(points()))[part::PARTS]:
        with machine() as one:
            assert one.apply(dies_at(number)).code == DEAD, name
            proven(one, f"{number} {name}")


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_again_while_it_resumes_it_still_ends(part: int) -> None:
    chance = random.Random(part)
    for _ in range(PAIRS // PARTS):
        first = chance.randrange(len(points()))
        second = chance.randrange(len(points()) - first)
        with machine() as one:
            one.apply(dies_at(first))
            one.resume(dies_at(second))
            proven(one, f"{first} {points()[first]}, then {second}")


def test_what_was_not_synced_may_be_lost() -> None:
    """Only between a write and its sync is there anything to lose; there, all is tried."""
    unsure = ("journal.create", "journal.created", "journal.schema", "journal.commit", "journal.closed")
    chosen = [number for number, name in enumerate(points()) if name in unsure]
    for number in chosen[::2]:
        with machine() as one:
            copy = one.base / "synced"
            one.apply(dies_at(number, keeps(one, copy)))
            lose(one, copy)
            proven(one, f"{number} {points()[number]}, power lost")


def cuts(before: int, after: int, chance: random.Random) -> Iterator[int]:
    """Ends of frames and their neighbours, and some bytes by chance."""
    frames = range(32 + (before - 32) // FRAME * FRAME if before else 32, after, FRAME)
    edges = {edge + by for edge in frames for by in (-1, 0, 1)} | {0, 31, 32, after - 1}
    edges |= {chance.randrange(before, after) for _ in range(2)}
    yield from sorted(edge for edge in edges if before <= edge < after)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_write_that_was_cut_at_any_byte_did_not_happen(part: int) -> None:
    """Power fails while records are written: nothing that they guard has happened yet."""
    chance = random.Random(part)
    syncs = [number for number, name in enumerate(points()) if name == "journal.synced"]
    for number in chance.sample(syncs, 3):
        before = _size_before(number)
        for cut in cuts(before, _size_after(number), chance):
            with machine() as one:
                one.apply(dies_at(number))
                wal = f"{one.journal()}-wal"
                os.truncate(wal, min(cut, os.path.getsize(wal)))
                proven(one, f"{number} journal.synced, cut at {cut}")


def _size_before(number: int) -> int:
    """Of the WAL when the write began that ends at this point."""
    start = max(at for at, name in enumerate(points()[:number]) if name == "journal.write")
    return _size_after(start)


def _size_after(number: int) -> int:
    with machine() as one:
        one.apply(dies_at(number))
        found = list(one.runs.glob("*-wal"))
        return found[0].stat().st_size if found else 0
