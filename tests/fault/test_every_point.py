"""Killed at every point of the run, singly and in pairs, and with what the disk had not yet kept gone:
it ends, as the run does that nobody breaks, and no command starts twice."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from functools import cache

import pytest
from tests.fault.machine import DEAD, Machine, check, die, dies_at, keeps, lose, machine, points_of, reference

from saltern.journal.form import HEAD, LOG

PARTS = 4  # so that they can run beside each other
ALL = bool(os.environ.get("SALTERN_FAULT_ALL"))  # also those between which nothing outside changes
PAIRS = int(os.environ.get("SALTERN_FAULT_PAIRS", "24"))
CHANGING = {
    "effect",
    "journal.commit",
    "journal.create",
    "journal.created",
}
NEEDED = {
    "lock.take",
    "lock.taken",
    "journal.create",
    "journal.created",
    "journal.write",
    "journal.commit",
    "journal.synced",
    "effect",
    "state.call",
    "state.called",
    "state.answered",
    "state.settled",
    "frame.made",
    "frame.entered",
    "frame.left",
    "step.reported",
    "rehearsed",
    "listener.called",
    "listener.reported",
    "end",
}


@cache
def points() -> list[str]:
    reference()
    return points_of(lambda one, watch: one.apply(watch))


def chosen() -> list[tuple[int, str]]:
    """Between two points that nothing outside of the process separates, one kill is as good as the other."""
    every = list(enumerate(points()))
    return [(at, name) for at, name in every if ALL or name in CHANGING or at == len(every) - 1]


def proven(one: Machine, where: str) -> None:
    try:
        check(one, *reference())
    except AssertionError as problem:
        raise AssertionError(f"broken at {where}: {problem}") from None


def test_the_reference_run_passes_every_kind_of_point() -> None:
    assert set(points()) >= NEEDED


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_any_point_it_ends_as_if_nothing_had_happened(part: int) -> None:
    for number, name in chosen()[part::PARTS]:
        with machine() as one:
            assert one.apply(dies_at(number)).code in (DEAD, 2), name  # 2: it had ended by then
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


@pytest.mark.parametrize("part", range(PARTS))
def test_what_was_not_synced_may_be_lost(part: int) -> None:
    """The power fails, and what was done to the machine stays, whatever the journal has lost of it."""
    at_risk = [number for number, _ in chosen()][part::PARTS]
    for number in at_risk if ALL else at_risk[:2] + at_risk[2 + part :: 8]:
        with machine() as one:
            copy = one.base / "synced"
            one.apply(dies_at(number, keeps(one, copy)))
            lose(one, copy)
            proven(one, f"{number} {points()[number]}, power lost")


def cuts(before: int, after: int, chance: random.Random) -> Iterator[int]:
    """The ends of the frame and of its parts, their neighbours, and some bytes by chance."""
    parts = (before, before + 4, before + HEAD, after, len(LOG) if before <= len(LOG) else after)
    edges = {edge + by for edge in parts for by in (-1, 0, 1)}
    edges |= {chance.randrange(before, after) for _ in range(2)}
    yield from sorted(edge for edge in edges if before <= edge < after)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_write_that_was_cut_at_any_byte_did_not_happen(part: int) -> None:
    """Power fails while records are written: nothing that they guard has happened yet."""
    chance = random.Random(part)
    syncs = range(points().count("journal.synced") - 5)  # what runs beside the others may need some less
    for number in [*chance.sample(syncs, 12 if ALL else 1), *range(part == 0)]:
        with machine() as one:
            before = _crash(one, number)
            log = one.journal()
            shutil.copytree(one.runs, one.base / "runs-then")
            shutil.copytree(one.at, one.base / "at-then")
            for cut in cuts(before, os.path.getsize(log), chance):
                for place, then in ((one.runs, "runs-then"), (one.at, "at-then")):
                    shutil.rmtree(place)
                    shutil.copytree(one.base / then, place)
                os.truncate(log, cut)
                one.boots.number += 1
                proven(one, f"sync {number}, cut at {cut}")


def _crash(one: Machine, number: int) -> int:
    """Die after the sync of this number. The size of the journal when its write began."""
    left = [number]
    with open(one.base / "size", "w+b", buffering=0) as size:

        def watch(name: str) -> None:
            if name == "journal.write":
                found = [each.path for each in os.scandir(one.runs)] if one.runs.exists() else []
                sizes = [os.path.getsize(path) for path in found if path.endswith(".run")]
                os.pwrite(size.fileno(), f"{sum(sizes):20}".encode(), 0)
            left[0] -= name == "journal.synced"
            if left[0] < 0:
                die()

        assert one.apply(watch).code == DEAD
        one.quiet()
        return int(size.read())
