"""A run of a chain on many light systems: how long the controller takes, and what it needs.

``python -m bench.chains [--quick] [--json FILE] [--systems N] [--steps N]``: rows of name, value, limit, and
whether it holds. Systems live in this process on the bus in memory. One in ten fails, one in twenty is away,
one in twenty reboots in the middle. What is measured is the controller: deciding, writing, sending, hearing,
and the matrix as the API reads it; by the CPU of this process, since a busy machine is no fault of it, and by
the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.fleet_measure import line, row
from tests.fleet.controller.chain_kit import LegAgent, leg_agent, legs, rounds, start, status
from tests.fleet.controller.kit import Bench, running_bench

from saltern.chains.statuses import Step
from saltern.fleet.controller.chains.views import matrix

MATRIX = 100.0  # milliseconds
QUICK = 200  # systems
STEP_CPU = 5.0  # milliseconds of the controller for each action on each system
MEMORY = 1024.0  # MiB of this process, with all its systems


def chain(steps: int) -> str:
    """One action in the middle is a reboot for those systems that have an ``r`` in their names."""
    actions = [f"  - {{id: a{number}, command: 'true'}}\n" for number in range(steps - 1)]
    actions.insert(steps // 2 + 1, "  - {id: boot, reboot: {}, targets: ['*r']}\n")
    return f"chain: bench\nactions:\n{''.join(actions)}"


async def systems(bench: Bench, number: int, steps: int) -> list[LegAgent]:
    """One in ten fails in the middle; one in twenty is away; one in twenty reboots; the rest succeed."""
    found = []
    for at in range(number):
        bad: dict[str, Step] = {f"a{steps // 2}": Step.FAILED} if at % 10 == 3 else {}
        agent = await leg_agent(bench, f"s{at:05}{'r' if at % 20 == 11 else ''}", **bad)
        agent.deaf = at % 20 == 7
        found.append(agent)
    return found


async def measure(number: int, steps: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        async with running_bench(Path(folder)) as bench:
            bench.board.is_known = True
            await systems(bench, number, steps)
            cpu, begun = time.process_time(), time.monotonic()
            made = await start(bench, text=chain(steps), rollout={"deadline": 100.0, "grace": 1.0})
            await rounds(bench, 8)
            took, used = time.monotonic() - begun, time.process_time() - cpu
            bench.clock.ahead = 110.0  # those that are away are over their time
            await rounds(bench, 3)
            ended = Counter(legs(bench, made.run).values())
            reads = [_read(bench, made.run) for _ in range(5)]
            note = f"{number} systems by {steps} actions, run {status(bench, made.run)}: {dict(ended)}"
            return rows(number, steps, ended, reads, (used, took), note)


def rows(
    number: int,
    steps: int,
    ended: Counter[str],
    reads: list[tuple[float, float]],
    spent: tuple[float, float],
    note: str,
) -> list[dict[str, Any]]:
    """The figures with their goals. Wall-clock times are printed and not judged: they depend on other
    load.
    """
    used, took = spent
    open_legs = number - sum(ended[one] for one in ("succeeded", "failed", "expired"))
    matrix_cpu, matrix_wall = (min(one[at] for one in reads) * 1000 for at in (0, 1))
    wall = row("matrix, milliseconds by the clock", matrix_wall, MATRIX)
    run_cpu = used / number / steps * 1000
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        row("legs that have not ended", open_legs, 0, note=note),
        row("matrix, milliseconds of CPU", matrix_cpu, MATRIX),
        {**wall, "holds": wall["holds"] or None},
        row("milliseconds of CPU for each action on each system", run_cpu, STEP_CPU, note=f"{took:.1f} s"),
        row("MiB of memory, with all systems", memory, MEMORY),
    ]


def _read(bench: Bench, run: str) -> tuple[float, float]:
    """Seconds of CPU and of the clock for one matrix."""
    used, begun = time.process_time(), time.monotonic()
    with bench.database.read() as connection:
        matrix(connection, run)
    return time.process_time() - used, time.monotonic() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} systems")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    found = asyncio.run(measure(QUICK if args.quick else args.systems, args.steps))
    for one in found:
        print(line(one))
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(one["holds"] is not False for one in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
