"""A leg that is killed goes on, wherever it was: at every named point, and at any moment of a process.

``SALTERN_KILLS=200`` kills at every point and at 200 moments; without it, at every fifth point and at 8.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from tests.chains.machine import DEAD, USUAL, Bench, Watch, benches, holds

KILLS = int(os.environ.get("SALTERN_KILLS", "8"))
EVERY = 1 if "SALTERN_KILLS" in os.environ else 5
MOST = 1000  # points that one process could pass


def _dies_at(number: int) -> Watch:
    left = [number]

    def watch(_name: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            os._exit(DEAD)

    return watch


@pytest.mark.parametrize("boots", [0, 1, 2])
def test_a_leg_killed_at_a_point_of_any_of_its_processes_comes_to_its_end(boots: int) -> None:
    """``boots``: how many reboots are behind it."""
    with benches() as fresh:
        for number in range(boots, MOST, EVERY):
            bench = fresh()
            words: tuple[str, ...] = ("run", str(bench.file))
            for _ in range(boots):
                bench.chain(*words)
                bench.goes_down()
                words = ("resume",)
            done = bench.chain(*words, watch=_dies_at(number))
            holds(bench)
            if done.code != DEAD:
                assert number > EVERY
                return
    raise AssertionError("it passes more points than anybody thought")


def test_a_leg_killed_twice_comes_to_its_end() -> None:
    chance = random.Random(11)
    with benches() as fresh:
        for _ in range(KILLS):
            bench = fresh()
            bench.chain("run", str(bench.file), watch=_dies_at(chance.randrange(90)))
            bench.goes_down()
            if bench.leg() is not None:
                bench.chain("resume", watch=_dies_at(chance.randrange(90)))
            holds(bench)


def test_a_real_process_killed_at_any_moment_is_followed_by_one_that_ends_the_leg() -> None:
    chance = random.Random(7)
    with benches() as fresh:
        for _ in range(KILLS):
            bench = fresh()
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


def test_a_leg_that_nobody_kills_comes_to_the_usual_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    holds(bench)
    assert bench.statuses() == USUAL
