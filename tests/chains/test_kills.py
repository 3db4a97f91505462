"""A leg that is killed goes on, wherever it was: at every named point, and at any moment of a process."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from tests.chains.machine import USUAL, Bench, holds

KILLS = int(os.environ.get("SALTERN_KILLS", "10"))  # moments at which a real process is killed
DEAD = 137


def _points(base: Path, words: tuple[str, ...] = ()) -> int:
    """How many points the first process of a leg passes."""
    bench = Bench(base)
    with open(base / "points", "ab", buffering=0) as out:

        def note(_name: str) -> None:
            out.write(b".")

        bench.chain(*(words or ("run", str(bench.file))), watch=note)
    return (base / "points").stat().st_size


def _dies_at(number: int) -> object:
    left = [number]

    def watch(_name: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            os._exit(DEAD)

    return watch


def test_a_leg_killed_at_every_point_before_its_first_reboot_comes_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "count").mkdir()
    total = _points(tmp_path / "count")
    assert total > 30
    for number in range(total):
        base = tmp_path / str(number)
        base.mkdir()
        bench = Bench(base)
        bench.chain("run", str(bench.file), watch=_dies_at(number))  # type: ignore[arg-type]
        holds(bench)


@pytest.mark.parametrize("after", [1, 2])
def test_a_leg_killed_at_every_fourth_point_behind_a_reboot_comes_to_its_end(
    tmp_path: Path, after: int
) -> None:
    for number in range(after, 400, 4):
        base = tmp_path / str(number)
        base.mkdir()
        bench = Bench(base)
        bench.chain("run", str(bench.file))
        for _ in range(after - 1):
            bench.goes_down()
            bench.chain("resume")
        bench.goes_down()
        done = bench.chain("resume", watch=_dies_at(number))  # type: ignore[arg-type]
        holds(bench)
        if done.code != DEAD:
            return
    raise AssertionError("it passes more points than anybody thought")


def test_a_real_process_killed_at_any_moment_is_followed_by_one_that_ends_the_leg(tmp_path: Path) -> None:
    chance = random.Random(7)
    for number in range(KILLS):
        base = tmp_path / str(number)
        base.mkdir()
        bench = Bench(base)
        process = bench.process("run", str(bench.file))
        time.sleep(chance.uniform(0.05, 0.6))
        process.kill()
        process.wait()
        bench.goes_down()
        if bench.leg() is not None:
            process = bench.process("resume")
            time.sleep(chance.uniform(0.1, 0.6))
            process.kill()
            process.wait()
        holds(bench)


def test_nothing_that_is_done_is_lost_in_between(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    holds(bench)
    assert bench.statuses() == USUAL
