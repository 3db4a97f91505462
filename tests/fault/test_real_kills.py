"""Real processes, killed at random moments.

30 of them here; ``SALTERN_FAULT_KILLS=200`` for all that a release needs.
"""

from __future__ import annotations

import os
import random
import subprocess
import time

import pytest
from tests.fault.machine import Machine, check, machine, reference

KILLS = int(os.environ.get("SALTERN_FAULT_KILLS", "30"))
PARTS = 3
LONGEST = 0.8  # seconds: a little more than a run takes


def started(one: Machine, *words: str) -> subprocess.Popen[bytes]:
    return one.place.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
def test_kill_9_at_any_moment_loses_nothing_and_repeats_nothing(part: int) -> None:
    chance = random.Random(f"{part} {KILLS}")
    for _ in range(-(-KILLS // PARTS)):
        moments = [chance.uniform(0.1, LONGEST) for _ in range(chance.choice((1, 1, 2)))]
        with machine() as one:
            words = ["apply", "main", "--pillar", f"{{at: {one.at}}}"]
            for moment in moments:
                process = started(one, *words)
                time.sleep(moment)
                process.kill()
                process.wait()
                words = ["resume"]
            try:
                check(one, *reference())
            except AssertionError as problem:
                raise AssertionError(f"killed after {moments}: {problem}") from None
