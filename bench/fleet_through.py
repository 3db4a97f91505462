"""saltern through a Salt master: what that costs, beside Salt's own run and beside saltern alone.

One master and one minion; all three are measured in turn, in the same run, with the same states: the time
that a user waits, and the CPU of the command, the master, the minion and all that they start.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import fleet_salt
from bench.fleet_beside import SLS, STATES
from bench.fleet_measure import cpu, median, row, skipped

ROOT = Path(__file__).resolve().parents[1]
BESIDE, CPU_BESIDE = 1.5, 1.3  # times state.apply, which does most of what is left: asks the master
MORE = "saltern: {{program: PROGRAM, options: {{state_dir: PLACE/state}}}}\n"
MINION = "through"


def measure(place: Path, rounds: int) -> list[dict[str, Any]]:
    if not fleet_salt.is_there():
        return [skipped("through Salt", "needs root, and `make salt`")]
    states = place / "through"
    states.mkdir()
    (states / f"{SLS}.sls").write_text(STATES.replace("TARGET", str(place / "files")))
    command = [sys.executable, "-m", "saltext.saltern", str(states)]
    extension = str(ROOT / "saltext" / "src")
    subprocess.run(
        command, env={**os.environ, "PYTHONPATH": extension}, check=True, stdout=subprocess.DEVNULL
    )
    program = Path(sys.executable).parent / "saltern"
    fleet = fleet_salt.SaltFleet(
        place / "salt-through",
        states,
        more=MORE.replace("PROGRAM", str(program)).replace("PLACE", str(place)),
    )
    try:
        fleet.start((MINION,))
        fleet.answers("saltutil.sync_all")
        ways: dict[str, Callable[[], float]] = {
            "salt": lambda: fleet.verb("state.apply", SLS, expect=1),
            "through": lambda: fleet.verb("saltern.apply", SLS, expect=1),
            "alone": lambda: _alone(str(program), states, place),
        }
        return _rows(*_medians(ways, rounds, lambda: _spent(fleet)))
    finally:
        fleet.stop()


def _alone(program: str, states: Path, place: Path) -> float:
    """Seconds of the same states with saltern on this machine, without Salt."""
    before = time.perf_counter()
    command = [program, "apply", SLS, f"--file-root={states}", f"--id={MINION}", "--out=json"]
    env = {**os.environ, "SALTERN_STATE_DIR": str(place / "alone")}
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - before


def _spent(fleet: fleet_salt.SaltFleet) -> float:
    """Seconds of CPU until now: of the master, the minion, and the commands that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return cpu(*fleet.all) + ended.ru_utime + ended.ru_stime


def _medians(
    ways: dict[str, Callable[[], float]], rounds: int, spent: Callable[[], float]
) -> tuple[dict[str, float], dict[str, float]]:
    """The seconds of each way, and those of CPU; in turn, so that what else runs here meets all of them."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    used: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, run in ways.items():
            before = spent()
            taken[name].append(run())
            used[name].append(spent() - before)
    return _of(taken), _of(used)


def _of(found: dict[str, list[float]]) -> dict[str, float]:
    return {name: median(values[1:]) for name, values in found.items()}  # the first is to warm up


def _rows(taken: dict[str, float], used: dict[str, float]) -> list[dict[str, Any]]:
    name = "apply of 100 states through a Salt master"
    return [_ratio(name, taken, BESIDE), _ratio(f"CPU of {name}", used, CPU_BESIDE)]


def _ratio(name: str, found: dict[str, float], most: float) -> dict[str, Any]:
    salt, through, alone = found["salt"], found["through"], found["alone"]
    note = f"{through:.2f} s by saltern.apply, {salt:.2f} s by state.apply, {alone:.2f} s by saltern alone"
    return row(f"{name}: times Salt's own", through / max(salt, 0.001), most, note=note)
