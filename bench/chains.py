"""A run of a chain on many light systems: how long the controller takes, and what it needs.

``python bench/chains.py [--systems N] [--steps N]``: systems live in this process on the bus in memory. One
in ten fails, one in twenty is away. What is measured is the
controller: deciding, writing, sending, hearing, and the matrix as the API reads it.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.fleet.controller.chain_kit import LegAgent, leg_agent, legs, rounds, start, status
from tests.fleet.controller.kit import Bench, running_bench

from saltern.chains.statuses import Step
from saltern.fleet.controller.chains.views import matrix

GOAL = 0.1  # seconds for the matrix


def chain(steps: int) -> str:
    actions = "".join(f"  - {{id: a{number}, command: 'true'}}\n" for number in range(steps))
    return f"chain: bench\nactions:\n{actions}"


async def systems(bench: Bench, number: int, steps: int) -> list[LegAgent]:
    """One in ten fails in the middle; one in twenty is away; the rest succeed."""
    found = []
    for at in range(number):
        bad: dict[str, Step] = {f"a{steps // 2}": Step.FAILED} if at % 10 == 3 else {}
        agent = await leg_agent(bench, f"s{at:05}", **bad)
        agent.deaf = at % 20 == 7
        found.append(agent)
    return found


async def measure(number: int, steps: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        async with running_bench(Path(folder)) as bench:
            bench.board.is_known = True
            await systems(bench, number, steps)
            cpu, begun = time.process_time(), time.monotonic()
            made = await start(bench, text=chain(steps), rollout={"deadline": 100.0, "grace": 1.0})
            await rounds(bench, 8)
            took, used = time.monotonic() - begun, time.process_time() - cpu
            bench.clock.ahead = 200.0  # those that are away are over their time
            await rounds(bench, 3)
            ended = Counter(legs(bench, made.run).values())
            best = min(_read(bench, made.run) for _ in range(5))
            return {
                "systems": number,
                "steps": steps,
                "status": status(bench, made.run),
                "legs": dict(ended),
                "seconds": round(took, 2),
                "cpu_seconds": round(used, 2),
                "matrix_ms": round(best * 1000, 1),  # of this process: a busy machine is not counted
                "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            }


def _read(bench: Bench, run: str) -> float:
    begun = time.process_time()
    with bench.database.read() as connection:
        matrix(connection, run)
    return time.process_time() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    found = asyncio.run(measure(args.systems, args.steps))
    for name, value in found.items():
        print(f"{name:<14}{value}")
    goal = found["matrix_ms"] <= GOAL * 1000
    print(f"matrix in {GOAL * 1000:.0f} ms: {'yes' if goal else 'no'}")
    return 0 if goal and sum(found["legs"].values()) == args.systems else 1


if __name__ == "__main__":
    raise SystemExit(main())
